"""How gradient and curvature change between looks: Gaussian features whose moments are fitted to all looks.

Only differences of the surrogate are used, next to what was released, so that it acts as a control variate: a wrong
surrogate costs precision, which the misfit of the looks shows, and never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...posterior.looks import Look
from .links import Function, Link
from .moments import LEAST, shrunk_moments

Floats = npt.NDArray[np.float64]
ROUNDS, MOST_ROUNDS = 5, 60
SETTLED = 0.02  # of the noise of the moments: a change that ends the fit
STEP = 1e-3  # of the difference that shows a slope
LEAST_SHOWN = 1e-4  # mean curvature of a record at which a look at saturated scores still says something


def _nodes(count: int, far: float) -> tuple[Floats, Floats]:
    """Return the trapezoid rule for a standard normal.

    It is far better than Gauss-Hermite for a step (a logistic function of a predictor with standard deviation 6): its
    error falls exponentially with the number of nodes for every function that is smooth at the scale of their distance.
    """
    z = np.linspace(-far, far, count)
    w = np.exp(-z * z / 2.0)
    return z, np.asarray(w / w.sum())


NODES, WEIGHTS = _nodes(81, 8.0)
_Z, _W = _nodes(31, 6.0)
PLANE = np.stack(np.meshgrid(_Z, _Z, indexing="ij")).reshape(2, -1)
PLANE_WEIGHTS = np.outer(_W, _W).ravel()


class GaussianFeatures:
    """Features x ~ N(q, S) with E x x' = Q; `constant` is the value of column 0 if that is an intercept."""

    def __init__(
        self, n: float, link: Link, constant: float | None, blocks: Sequence[int], even: float | None = None
    ) -> None:
        self.even = even  # what E x_j^2 is expected to be, for looks whose curvatures may show nothing
        self.n, self.link, self.constant = n, link, constant
        of = np.asarray(blocks)
        self.released = of[:, None] == of  # entries of the curvature
        self._known = self.released  # entries of the moments
        self.sd, self.variances = 0.0, np.zeros(self.released.shape)
        self._fitted = False
        self.design = 1.0  # the mean of squared weights over the mean of weights
        self.outer: Look | None = None  # at outer products of weighted gradients

    def fit(self, looks: Sequence[Look]) -> None:
        """Fit Q: the precision-weighted mean of what each curvature implies, off-diagonals shrunk (James, Stein)."""
        dim = len(looks[0].theta)
        if not self._fitted:
            typical = np.mean([np.trace(look.curvature) for look in looks]) / dim / self.n
            self._set((self.even or max(4.0 * float(typical), 1e-300)) * np.eye(dim))
        for turn in range(MOST_ROUNDS):
            total, precision, steep, before = np.zeros((dim, dim)), 0.0, 0.0, self.Q
            for look in looks:
                p, c0, c1, c2 = self._stein(look.theta, self.link.curvature)
                c0 = max(c0, LEAST_SHOWN if self.even is not None else 1e-300)
                mixed = np.outer(self.q, p)
                weight = (c0 / look.tau) ** 2
                rest = look.curvature / self.n - c1 * (mixed + mixed.T) - c2 * np.outer(p, p)
                total += weight / c0 * rest
                precision += weight
                steep += weight * self._overshoot(look.theta)
            self._update(total / precision, 1.0 / math.sqrt(precision) / self.n, 1.0 / (1.0 + steep / precision))
            if turn >= ROUNDS - 1 and np.abs(self.Q - before).max() <= SETTLED * self.sd:
                return

    def misfit(self, look: Look) -> Floats:
        """Return what this misses of a released curvature."""
        return np.asarray(self.released * (look.curvature - self.curvature(look.theta)))

    def curvature(self, theta: Floats) -> Floats:
        """Return n E h(x . theta) x x'."""
        return self._second(theta, self.link.curvature)

    def covariance(self, theta: Floats) -> Floats:
        """Return the covariance of the gradient at the truth theta."""
        return self._second(theta, self.link.variance or self.link.curvature)

    def expected(self, at: Floats, truth: Floats) -> Floats:
        """Return the expected gradient at a point if the truth is another."""
        if self.link.primitive is not None:
            return self._mean_gradient(truth) - self._mean_gradient(at)
        assert self.link.score is not None
        both = np.stack([at, truth])
        p = both @ self.S
        values, vectors = np.linalg.eigh(p @ both.T)
        values = np.maximum(values, 1e-8)
        a, t = (both @ self.q)[:, None] + (vectors * np.sqrt(values)) @ PLANE
        score = self.link.score(a, t) * PLANE_WEIGHTS
        along = p.T @ vectors / np.sqrt(values)
        return np.asarray(self.n * (score.sum() * self.q + along @ (PLANE @ score)))

    def gradient_at(self, theta: Floats) -> Floats:
        """Return n E m(x . theta) x, of a canonical link."""
        return self._mean_gradient(theta)

    def variance(self, theta: Floats) -> Floats:
        """Return the variances of the entries of the curvature at theta (half of them on the diagonal)."""
        return np.asarray((self.n * self._stein(theta, self.link.curvature)[1]) ** 2 * self.variances)

    def _set(self, moments: Floats) -> None:
        self.Q, self.q = moments, np.zeros(len(moments))
        if self.constant is not None:
            self.q = moments[0] / self.constant
            self.q[0] = self.constant
        spread = moments - np.outer(self.q, self.q)
        if self.constant is not None:
            spread[0] = spread[:, 0] = 0.0
        self.S = nonnegative(spread)
        self._means: dict[bytes, Floats] = {}
        self._fitted = True

    def _overshoot(self, theta: Floats) -> float:
        """Return how far a round of the fit answers an error of theta' S theta with the opposite error.

        Counts have curvatures that grow with the predictor's spread, so that moments which are too large make the next
        ones too small: above 1 the rounds would diverge unless they were damped.
        """
        middle, square = float(self.q @ theta), max(float(theta @ self.S @ theta), 1e-4)

        def parts(s: float) -> tuple[float, float]:
            c0, c1, c2 = self._slopes(middle, s, self.link.curvature)
            return max(c0, 1e-300), 2.0 * c1 * middle * s + c2 * s * s

        (c0, more), (then, beyond) = parts(square), parts(square * (1.0 + STEP))
        implied = c0 * (square + middle**2) + more
        return max(0.0, ((implied - more) / c0 - (implied - beyond) / then) / (STEP * square))

    def _update(self, moments: Floats, sd: float, ease: float = 1.0) -> None:
        """Take noised moments over, by a step of length `ease`."""
        self.sd, least = sd, LEAST * (sd if self.even is None else min(sd, self.even))
        found, self.variances = shrunk_moments(moments, sd, self._known, self.constant is not None, self.even)
        if self.constant is not None:
            found[0, 0] = self.constant**2
        found = nonnegative(found, least)
        self._set(found if ease == 1.0 else ease * found + (1.0 - ease) * self.Q)

    def _stein(self, theta: Floats, f: Function) -> tuple[Floats, float, float, float]:
        """Return S theta, and E f, E f', E f'' of the predictor."""
        p = self.S @ theta
        return p, *self._slopes(float(self.q @ theta), float(theta @ p), f)

    def _slopes(self, mean: float, square: float, f: Function) -> tuple[float, float, float]:
        """Return E f, E f', E f'' of a normal predictor."""
        sd = math.sqrt(max(square, 1e-4))
        values = f(mean + sd * NODES) * WEIGHTS
        return float(values.sum()), float(values @ NODES) / sd, float(values @ (NODES**2 - 1.0)) / sd**2

    def _second(self, theta: Floats, f: Function) -> Floats:
        """Return n E f(x . theta) x x', by Stein's identities."""
        p, c0, c1, c2 = self._stein(theta, f)
        mixed = np.outer(self.q, p)
        square = self.S + np.outer(self.q, self.q)
        return np.asarray(self.n * (c0 * square + c1 * (mixed + mixed.T) + c2 * np.outer(p, p)))

    def _mean_gradient(self, theta: Floats) -> Floats:
        key = theta.tobytes()
        if key not in self._means:
            assert self.link.primitive is not None
            p, mean, slope, _ = self._stein(theta, self.link.primitive)
            self._means[key] = self.n * (mean * self.q + slope * p)
        return self._means[key]


def nonnegative(matrix: Floats, least: float = 0.0) -> Floats:
    """Return the symmetric matrix with eigenvalues raised to at least `least`."""
    symmetric = np.asarray((matrix + matrix.T) / 2.0)
    try:  # ten times as fast as eigenvalues, and nearly always enough
        np.linalg.cholesky(symmetric - least * np.eye(len(symmetric)))
    except np.linalg.LinAlgError:
        pass
    else:
        return symmetric
    values, vectors = np.linalg.eigh(symmetric)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)
