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
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...posterior.looks import Look
from .curved import FLAT_ENOUGH, Curved, weight_of
from .denoise import BY_CHANCE, MANY, denoised, hidden_share, shrink
from .mixtures import MixturePrior
from .spread import covariance_of_scores
from .surrogate import GaussianFeatures, nonnegative

if TYPE_CHECKING:
    from .public_prior import PublicPrior

Floats = npt.NDArray[np.float64]
FAR = (0.05, 0.5)  # relative error of the surrogate's gradient difference per unit of the predictor: least, largest
LARGEST_MISFIT = 0.25
ADAPTING = 15  # rounds in which FAR follows the disagreement of the looks
LEAST = 1e-6  # eigenvalue of a curvature, over the mean one
ROUNDS = 60
LONGEST_STEP = 1.5  # in units of the predictor
FARTHEST_STEP = 30.0  # of any record's predictor
TINY = 1e-200


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
    curvature, covariance_of_scores, noise
        The pooled curvature at the mean, the sampling covariance of the gradient, and the covariance that privacy adds.
    curved
        How far the posterior is from its normal approximation; None where that does not show.
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
    noise: Floats
    curved: Curved | None = None


class _Stack:
    """The looks as arrays, with the surrogate fitted to them."""

    def __init__(self, looks: Sequence[Look], surrogate: GaussianFeatures, radius: float) -> None:
        self.at = np.array([look.theta for look in looks])
        self.gradient = np.array([look.gradient for look in looks])
        self.sigma2 = np.array([look.sigma**2 for look in looks])
        self.tau2 = np.array([look.tau**2 for look in looks])
        self.surrogate, self.radius = surrogate, radius
        surrogate.fit(looks)
        self.misfits = np.array([surrogate.misfit(look) for look in looks])
        self.count, self.dim = self.at.shape

    def squared_predictor(self, v: Floats, curvature: Floats) -> Floats:
        """Squared distances in units of the predictor, of a typical record."""
        size = max(float(np.trace(curvature)), TINY)
        return np.asarray(self.radius**2 * np.einsum("ki,ij,kj->k", v, curvature, v) / size)

    def beyond_chance(self, chi_square: float) -> float:
        """Return chi^2 per degree of freedom over what chance often gives."""
        return chi_square / (1.0 + BY_CHANCE * math.sqrt(2.0 / (self.dim * (self.count - 1))))

    def misfit(self, weights: Floats, typical: Floats) -> tuple[Floats, Floats]:
        """Return what the surrogate misses of the curvature, pooled and shrunk, and the variances it brings along."""
        if self.count == 1:
            return np.zeros_like(typical), np.zeros_like(typical)
        total = np.einsum("k,kij->ij", weights, self.misfits)
        if self.dim >= MANY and self.surrogate.released.all():
            noise = float((weights**2 * self.tau2).sum())
            found, remains = denoised(total, noise)
            return found, np.maximum(remains, hidden_share(self.dim) * noise / 2.0)
        size = np.maximum(np.diag(typical), LEAST * np.trace(typical) / self.dim)
        keep, remains = shrink(total, size, float((weights**2 * self.tau2).sum()) / 2.0)
        return keep * total, self.surrogate.released * remains * (1.0 - 0.5 * np.eye(self.dim))


def felt(spread: Floats, curvature: Floats, edge_square: float) -> Floats:
    """Return the covariance of theta as the noise of H meets it: H is nonnegative, where it is 0 so is its error."""
    values, vectors = np.linalg.eigh(curvature)
    root = (vectors * np.sqrt(values**2 / np.maximum(values**2 + edge_square, TINY))) @ vectors.T
    return np.asarray(root @ spread @ root)


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
    misfit: Floats
    weight: Floats  # of each look


def pool(
    looks: Sequence[Look], prior: MixturePrior | PublicPrior, surrogate: GaussianFeatures, radius: float
) -> Pooled:
    """Return the posterior of theta given all looks; `radius` bounds the norm of a record's features."""
    stack = _Stack(looks, surrogate, radius)
    m, covariance, last, damping, far = stack.at[-1].copy(), None, None, 1.0, FAR[0] ** 2
    for turn in range(ROUNDS):
        precision, pull = prior.local(m, 0.0 if covariance is None else np.diag(covariance))
        local = _around(stack, m, covariance, precision, far)
        if turn < ADAPTING and stack.count > 1:
            far = min(max(far * min(max(stack.beyond_chance(local.chi_square), 0.5), 3.0), FAR[0] ** 2), FAR[1] ** 2)
        total = local.information + np.diag(precision) + 1e-12 * local.size / stack.dim * np.eye(stack.dim)
        new = np.linalg.inv(total)
        step = new @ (local.pull + pull)
        length = math.sqrt(max(float(stack.squared_predictor(step[None], local.typical)[0]), 0.0))
        if last is not None and step @ last < 0:
            damping = max(0.3, 0.7 * damping)
        farthest = radius * float(np.linalg.norm(step))
        last = step = step * min(damping, LONGEST_STEP / (length + 1e-12), FARTHEST_STEP / (farthest + 1e-12))
        shift = local.information @ m + local.pull
        m = m + step
        covariance = new if covariance is None else 0.5 * (covariance + new)
        if turn > 3 and (np.abs(step) / np.sqrt(np.diag(new))).max() < 1e-3:
            break
    moved = float(stack.squared_predictor((m - stack.at[-1])[None], local.curvature)[0])
    reach = radius**2 * float(np.trace(new @ local.curvature)) / max(float(np.trace(local.curvature)), TINY)
    curved = _curved(stack, prior, local, m, new) if reach * surrogate.link.bend**2 > FLAT_ENOUGH else None
    return Pooled(
        m,
        new,
        local.information,
        shift,
        local.chi_square,
        moved,
        reach,
        local.curvature,
        local.scores,
        local.noise,
        curved,
    )


def _around(stack: _Stack, m: Floats, covariance: Floats | None, prior_precision: Floats, far: float) -> _Local:
    """Pool the looks as measurements of xi + H (theta - m); `far` as FAR, squared."""
    dim, surrogate, v, eye = stack.dim, stack.surrogate, m - stack.at, np.eye(stack.dim)
    typical = surrogate.curvature(m)
    size = max(float(np.trace(typical)), TINY)
    error = far * surrogate.link.bend**2 * stack.squared_predictor(v, typical)
    weights = 1.0 / (stack.tau2 + error * (size / dim) ** 2)
    misfit, remains = stack.misfit(weights / weights.sum(), typical)
    variances = surrogate.variance(m) + remains
    curvature = nonnegative(typical + misfit, LEAST * size / dim)
    own = stack.sigma2 + np.minimum(error, LARGEST_MISFIT) * ((v @ curvature) ** 2).sum(axis=1)
    weight = 1.0 / (own + (v**2 @ variances).mean(axis=1))
    each = stack.gradient - np.array([surrogate.expected(at, m) for at in stack.at]) - v @ misfit
    u = weight @ each / weight.sum()
    variance = float((weight**2 * own).sum() / weight.sum() ** 2)
    chi_square = 1.0
    if stack.count > 1:
        chi_square = float((((each - u) ** 2).sum(axis=1) * weight).sum() / (dim * (stack.count - 1)))
        variance *= max(1.0, stack.beyond_chance(chi_square))
    r = weight @ v / weight.sum()
    scores = covariance_of_scores(surrogate, m, misfit, LEAST * size / dim)
    if covariance is None:
        rough = curvature @ np.linalg.solve(scores + variance * eye, curvature)
        covariance = np.linalg.inv(rough + np.diag(prior_precision) + 1e-12 * size / dim * eye)
    edge = dim * float(variances.mean())
    spread = felt(covariance + np.outer(r, r), curvature, edge)
    noise = variance * eye + np.diag(variances @ np.diag(spread)) + variances * spread
    solved = np.linalg.solve(scores + noise, np.column_stack([curvature, u]))
    information = curvature @ solved[:, :dim]
    symmetric = (information + information.T) / 2.0
    pull = curvature @ solved[:, dim]
    return _Local(symmetric, pull, curvature, scores, noise, chi_square, size, typical, misfit, weight / weight.sum())


def _curved(
    stack: _Stack, prior: MixturePrior | PublicPrior, local: _Local, mean: Floats, covariance: Floats
) -> Curved | None:
    """Return how the posterior differs from a normal one, if it does: normal priors and canonical links only."""
    surrogate = stack.surrogate
    if surrogate.link.primitive is None or not isinstance(prior, MixturePrior) or not prior.is_normal:
        return None
    square = (mean - prior.mean) ** 2 + np.diag(covariance)
    precision = prior.precision(square)
    weight = weight_of(square, precision, surrogate.constant is not None)
    if weight == 0.0:
        return None
    each = stack.gradient + np.array([surrogate.gradient_at(at) for at in stack.at]) + stack.at @ local.misfit
    # The mean rests on a curvature without its negative eigenvalues, which are noise; so must the curve.
    misfit = local.curvature - local.typical
    measured = local.weight @ each + mean @ (misfit - local.misfit)
    whitening = np.linalg.inv(np.linalg.cholesky(local.scores + local.noise))
    root = np.asarray(np.linalg.cholesky((covariance + covariance.T) / 2.0), dtype=np.float64)
    return Curved(surrogate, mean, root, measured, misfit, whitening, prior.mean, precision, weight)
