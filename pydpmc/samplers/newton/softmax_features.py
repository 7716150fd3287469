"""The surrogate of a softmax: Gaussian features whose second moments the looks release, seen by several predictors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...posterior.looks import Look
from .links import Link
from .surrogate import GaussianFeatures

Floats = npt.NDArray[np.float64]
NODES = 4096


class SoftmaxFeatures(GaussianFeatures):
    """As its base, with `classes` predictors of the same features; integrals are means over fixed nodes."""

    def __init__(self, n: float, link: Link, constant: float | None, blocks: Sequence[int], classes: int) -> None:
        super().__init__(n, link, constant, blocks)
        self.place = places(classes, len(blocks), constant is not None)
        self.released = np.zeros((self.place.size, self.place.size), dtype=bool)  # no entry of its curvature is
        self._nodes = spread_nodes(len(blocks))

    def fit(self, looks: Sequence[Look]) -> None:
        """Take over the precision-weighted mean of the released second moments."""
        weights = np.array([look.tau**-2.0 for look in looks])
        total = np.einsum("k,kij->ij", weights, np.array([look.curvature for look in looks])) / self.n
        self._update(total / weights.sum(), 1.0 / np.sqrt(weights.sum()) / self.n)

    def misfit(self, look: Look) -> Floats:
        """Return zeros: no curvature of the model is released, to compare with."""
        return np.zeros(self.released.shape)

    def curvature(self, theta: Floats) -> Floats:
        """Return n E (diag p - p p') (x) x x'."""
        p = self._shares(theta)
        both = (p[:, :, None] * self._x[:, None, :]).reshape(len(p), -1)
        found = -(both.T @ both)
        width = self._x.shape[1]
        for c in range(p.shape[1]):
            here = slice(c * width, (c + 1) * width)
            found[here, here] += self._x.T @ both[:, here]
        return self._ordered(self.n / len(p) * found)

    def covariance(self, theta: Floats) -> Floats:
        """Return the curvature: the score is that of the likelihood."""
        return self.curvature(theta)

    def expected(self, at: Floats, truth: Floats) -> Floats:
        """Return the expected gradient at a point if the truth is another."""
        residual = self._shares(truth) - self._shares(at)
        out = np.empty(self.place.size)
        out[self.place] = self.n / len(residual) * residual.T @ self._x
        return out

    def variance(self, theta: Floats) -> Floats:
        """Return the variances of the entries of the curvature at theta: those of the moments times the shares'."""
        p = self._shares(theta)
        weight = np.diag(p.mean(axis=0)) - p.T @ p / len(p)
        return self._ordered(np.asarray(np.kron((self.n * weight) ** 2, self.variances), dtype=np.float64))

    def _set(self, moments: Floats) -> None:
        super()._set(moments)
        values, vectors = np.linalg.eigh(self.S)
        self._x = self.q + self._nodes @ (vectors * np.sqrt(np.maximum(values, 0.0))).T

    def _shares(self, theta: Floats) -> Floats:
        """Return the probabilities of the classes at the nodes."""
        from scipy.special import softmax

        return np.asarray(softmax(self._x @ theta[self.place].T, axis=1))

    def _ordered(self, by_class: Floats) -> Floats:
        """Return a matrix of (class, column) pairs in the order of theta."""
        flat = self.place.ravel()
        out = np.empty_like(by_class)
        out[np.ix_(flat, flat)] = by_class
        return out


def places(classes: int, width: int, intercept: bool) -> npt.NDArray[np.intp]:
    """Return where the coefficient of each class and column stands in theta: intercepts first, then class by class."""
    if not intercept:
        return np.arange(classes * width).reshape(classes, width)
    slopes = classes + np.arange(classes * (width - 1)).reshape(classes, width - 1)
    return np.column_stack([np.arange(classes), slopes])


def spread_nodes(width: int) -> Floats:
    """Return nodes of a standard normal, of unit covariance: a lattice of roots of primes, in opposite pairs."""
    from scipy.special import ndtri

    primes = _primes(width)
    lattice = np.outer(np.arange(1, NODES // 2 + 1), np.sqrt(primes)) % 1.0
    half = ndtri(np.clip(lattice, 2.0**-20, 1.0 - 2.0**-20))
    nodes = np.concatenate([half, -half])
    return np.asarray(np.linalg.solve(np.linalg.cholesky(nodes.T @ nodes / NODES), nodes.T).T)


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % p for p in found):
            found.append(candidate)
        candidate += 1
    return found
