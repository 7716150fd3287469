"""The posterior of theta given all looks: post-processing, whatever it assumes.

At any point m, u_k(m) = g_k - (expected gradient at theta_k if m is true) estimates the same vector for every look k:
xi + H (theta - m), xi the sampling error that all looks share. The looks are pooled by their noise; what the surrogate
misses of the curvature is estimated from the looks themselves and shrunk (James, Stein); the noise of the curvature
and the disagreement of the looks (chi^2) widen the result. m is moved to the posterior's mean until it stays there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .look import Look
from .mixtures import MixturePrior
from .surrogate import GaussianFeatures, nonnegative

Floats = npt.NDArray[np.float64]
FAR = 0.06  # relative error of the surrogate's gradient difference per unit of squared distance in the predictor
LARGEST_MISFIT = 0.5
LEAST = 1e-6  # eigenvalue of a curvature, over the mean one
ROUNDS = 60
LONGEST_STEP = 1.5  # in units of the predictor


@dataclass(frozen=True, eq=False)
class Pooled:
    """A normal likelihood of theta, exp(-theta' P theta / 2 + theta' shift), and the posterior with the prior.

    Attributes
    ----------
    mean, covariance
        Of the posterior (of its normal approximation, unless the prior is normal or flat).
    precision, shift
        Of the likelihood.
    chi_square
        The disagreement of the looks per degree of freedom; about 1 if their noise explains it.
    moved_square
        Squared distance of the mean from the last look, in units of the predictor.
    reach_square
        Posterior variance of the predictor, averaged over records.
    curvature, covariance_of_scores, noise_square
        The pooled curvature at the mean, the sampling covariance of its gradient, and the privacy noise on that.
    """

    mean: Floats
    covariance: Floats
    precision: Floats
    shift: Floats
    chi_square: float
    moved_square: float
    reach_square: float
    curvature: Floats
    covariance_of_scores: Floats
    noise: Floats  # covariance that privacy adds to the gradient


class _Stack:
    """The looks as arrays, with the surrogate fitted to them."""

    def __init__(self, looks: Sequence[Look], surrogate: GaussianFeatures, radius: float) -> None:
        self.at = np.array([look.theta for look in looks])
        self.gradient = np.array([look.gradient for look in looks])
        self.sigma2 = np.array([look.sigma**2 for look in looks])
        self.tau2 = np.array([look.tau**2 for look in looks])
        self.surrogate, self.radius = surrogate, radius
        surrogate.fit(looks)
        kept = looks[0].curvature != 0.0  # entries between blocks were not released
        self.misfits = np.array([kept * (look.curvature - surrogate.curvature(look.theta)) for look in looks])
        self.count, self.dim = self.at.shape

    def squared_predictor(self, v: Floats, curvature: Floats) -> Floats:
        """Squared distances in units of the predictor, of a typical record."""
        return np.asarray(self.radius**2 * np.einsum("ki,ij,kj->k", v, curvature, v) / np.trace(curvature))

    def misfit(self, weights: Floats) -> tuple[Floats, float]:
        """Return the pooled and shrunk misfit of the surrogate's curvature, and the variance it brings along."""
        total = np.einsum("k,kij->ij", weights, self.misfits)
        noise = float((weights**2 * self.tau2).sum())
        free = self.dim * (self.dim + 1) / 2.0
        keep = max(0.0, 1.0 - noise * free / max(float((total**2).sum()), 1e-300)) if self.count > 1 else 0.0
        return keep * total, keep * noise


@dataclass(frozen=True, eq=False)
class _Local:
    """The pooled looks around one point."""

    information: Floats
    pull: Floats
    curvature: Floats
    scores: Floats
    noise: Floats
    chi_square: float
    size: float
    typical: Floats


def pool(looks: Sequence[Look], prior: MixturePrior, surrogate: GaussianFeatures, radius: float) -> Pooled:
    """Return the posterior of theta given all looks; `radius` bounds the norm of a record's features."""
    stack = _Stack(looks, surrogate, radius)
    m, covariance, last, damping = stack.at[-1].copy(), None, None, 1.0
    for turn in range(ROUNDS):
        square = (m - prior.mean) ** 2 + (0.0 if covariance is None else np.diag(covariance))
        precision = prior.precision(square)
        local = _around(stack, m, covariance, precision)
        total = local.information + np.diag(precision) + 1e-12 * local.size / stack.dim * np.eye(stack.dim)
        new = np.linalg.inv(total)
        step = new @ (local.pull + precision * (prior.mean - m))
        length = math.sqrt(max(float(stack.squared_predictor(step[None], local.typical)[0]), 0.0))
        if last is not None and step @ last < 0:
            damping = max(0.3, 0.7 * damping)
        last = step = step * min(damping, LONGEST_STEP / (length + 1e-12))
        shift = local.information @ m + local.pull
        m = m + step
        covariance = new if covariance is None else 0.5 * (covariance + new)
        if turn > 3 and (np.abs(step) / np.sqrt(np.diag(new))).max() < 1e-3:
            break
    moved = float(stack.squared_predictor((m - stack.at[-1])[None], local.curvature)[0])
    reach = radius**2 * float(np.trace(new @ local.curvature) / np.trace(local.curvature))
    return Pooled(
        m, new, local.information, shift, local.chi_square, moved, reach, local.curvature, local.scores, local.noise
    )


def _around(stack: _Stack, m: Floats, covariance: Floats | None, prior_precision: Floats) -> _Local:
    """Pool the looks as measurements of xi + H (theta - m)."""
    dim, surrogate, v, eye = stack.dim, stack.surrogate, m - stack.at, np.eye(stack.dim)
    typical = surrogate.curvature(m)
    size = float(np.trace(typical))
    distance = stack.squared_predictor(v, typical)
    weights = 1.0 / (stack.tau2 * (1.0 + distance))
    misfit, misfit_noise = stack.misfit(weights / weights.sum())
    curvature = nonnegative(typical + misfit, LEAST * size / dim)
    noise_square = surrogate.noise_square(m) + misfit_noise
    relative = np.minimum(surrogate.link.bend**2 * distance * FAR, LARGEST_MISFIT)
    own = stack.sigma2 + relative**2 * ((v @ curvature) ** 2).sum(axis=1)
    weight = 1.0 / (own + noise_square / 2.0 * (v**2).sum(axis=1) * (1.0 + 1.0 / dim))
    each = stack.gradient - np.array([surrogate.expected(at, m) for at in stack.at]) - v @ misfit
    u = weight @ each / weight.sum()
    variance = float((weight**2 * own).sum() / weight.sum() ** 2)
    chi_square = 1.0
    if stack.count > 1:
        chi_square = float((((each - u) ** 2).sum(axis=1) * weight).sum() / (dim * (stack.count - 1)))
        variance *= max(1.0, chi_square)
    r = weight @ v / weight.sum()
    scores = nonnegative(surrogate.covariance(m) + misfit, LEAST * size / dim)
    if covariance is None:
        rough = curvature @ np.linalg.solve(scores + variance * eye, curvature)
        covariance = np.linalg.inv(rough + np.diag(prior_precision) + 1e-12 * size / dim * eye)
    spread = (np.trace(covariance) + r @ r) * eye + covariance + np.outer(r, r)
    noise = variance * eye + noise_square / 2.0 * spread
    solved = np.linalg.solve(scores + noise, np.column_stack([curvature, u]))
    information = curvature @ solved[:, :dim]
    return _Local(
        (information + information.T) / 2.0,
        curvature @ solved[:, dim],
        curvature,
        scores,
        noise,
        chi_square,
        size,
        typical,
    )
