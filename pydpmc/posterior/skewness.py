"""Correction of an estimate for skewed draws, from their third moments (docs/howto/intervals.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgument

Floats = npt.NDArray[np.float64]
NEGLIGIBLE_BIAS = 0.3  # in standard errors: 90 % intervals with this bias still cover 88.6 %
DRAWS_PER_PARAMETER = 4  # fewer draws do not determine third moments
FARTHEST = 0.75  # third moments are extrapolated over at most this many standard deviations of the draws
MOST_GROUPS = 100
AT_ONCE = 1e6  # coordinates of draws in memory at a time
NEWTON_STEPS = 4


@dataclass(frozen=True)
class Skewness:
    """Correction by third moments of an estimate that assumes Gaussian draws.

    Attributes
    ----------
    shift
        Is added to the estimate.
    covariance
        Covariance of the error of `shift`.
    scale
        Factor by which the standard error from the records changes.
    """

    shift: Floats
    covariance: Floats
    scale: Floats


def no_skewness(dim: int) -> Skewness:
    """Return the correction for a quadratic log-likelihood: none."""
    return Skewness(np.zeros(dim), np.zeros((dim, dim)), np.ones(dim))


def largest_shift(spread: Floats, prior: Floats, mean: Floats, concordance: float | None) -> Floats:
    """Return a bound on the shift, from a bound on third derivatives by second ones.

    The shift is the distance of the mode from the mean, plus the change of the information along the way that the prior
    has moved the draws.
    """
    if concordance is None:
        return np.full(len(prior), math.inf)
    unpull = np.linalg.inv(np.eye(len(prior)) - spread * prior)
    pull = prior * (unpull @ mean)
    informed = max(len(prior) - float(np.diag(spread) @ prior), 0.0)
    mode = informed * np.linalg.norm(spread, axis=0)
    return np.asarray(0.5 * concordance * (mode + (pull @ spread @ pull) * np.linalg.norm(unpull @ spread, axis=0)))


def skewness(draws: Floats, count: float, prior: Floats, bound: Floats) -> Skewness:
    """Return the correction for draws relative to the prior mean; refuse if they do not determine it."""
    dim = draws.shape[1]
    if count < DRAWS_PER_PARAMETER * (dim + 2):
        raise InvalidArgument(
            f"the draws may be too skewed for their mean to be an estimate, and {count:.3g} draws of {dim} parameters "
            f"do not determine the skewness: use at least {DRAWS_PER_PARAMETER * (dim + 2)} draws, fewer parameters, "
            "or declare smaller bounds (row_norm, x_bounds)"
        )
    gaussian, _ = _estimates(draws[None], prior, skew=False)
    pull = prior * gaussian[0]
    if math.sqrt(pull @ np.cov(draws.T).reshape(dim, dim) @ pull) > FARTHEST:
        raise InvalidArgument(
            "the prior moves the skewed draws too far from the maximum of the likelihood to extrapolate back to it; "
            "use a prior that is wider or centred nearer to the parameters, or a larger epsilon"
        )
    shift, scale = _correction(draws[None], prior)
    if not scale.min() > 0.0:
        raise InvalidArgument(
            "the draws are too skewed for an interval: their extrapolated curvature vanishes before the estimate is "
            "reached; use a larger epsilon, more draws or a wider prior"
        )
    shift = shift / (1.0 - (dim + 2.0) / count)  # unbiases: spread and third moments share the draws
    covariance = _jackknife(_independent(draws, count), prior)
    spread = np.sqrt(np.diag(covariance))
    shrink = np.minimum(1.0, bound / np.maximum(spread, 1e-300))
    covariance = covariance * shrink[:, None] * shrink
    return Skewness(np.clip(shift[0], -bound, bound), covariance, np.sqrt(scale[0]))


def _estimates(batches: Floats, prior: Floats, skew: bool) -> tuple[Floats, Floats]:
    """Return for each batch of draws the maximum of the likelihood and the inverse of its curvature there.

    The log density is approximated by a cubic around its mode that matches the second and third moments of the draws.
    """
    size, dim = batches.shape[1:]
    mean = batches.mean(axis=1)
    around = batches - mean[:, None]
    spread = np.einsum("bki,bkj->bij", around, around) / (size - 1)
    if not skew:
        unpull = np.linalg.inv(np.eye(dim) - spread * prior)
        return np.einsum("bij,bj->bi", unpull, mean), unpull @ spread
    scores = np.linalg.solve(spread, np.swapaxes(around, 1, 2))
    unbiased = size / ((size - 1.0) * (size - 2.0))
    distances = np.einsum("bki,bik->bk", around, scores)
    mode = mean - 0.5 * unbiased * np.einsum("bki,bk->bi", around, distances)
    own = np.linalg.inv(spread) - np.diag(prior)
    pull = (prior * mode)[..., None]
    move = np.linalg.solve(own, pull)[..., 0]
    for _ in range(NEWTON_STEPS):
        along = np.einsum("bik,bi->bk", scores, move)
        bend = unbiased * (scores * along[:, None]) @ np.swapaxes(scores, 1, 2)
        move = np.linalg.solve(own - 0.5 * bend, pull)[..., 0]
    return mode + move, np.linalg.inv(own - bend)


def _correction(batches: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the change of each estimate by third moments, and the ratio of the variances."""
    skew, skew_inverse = _estimates(batches, prior, skew=True)
    plain, inverse = _estimates(batches, prior, skew=False)
    ratio = np.einsum("bii->bi", skew_inverse) / np.einsum("bii->bi", inverse)
    return skew - plain, ratio


def _jackknife(draws: Floats, prior: Floats) -> Floats:
    """Return the jackknife covariance of the correction, leaving out one group of draws at a time."""
    groups = min(len(draws), MOST_GROUPS)
    kept = len(draws) // groups * groups
    numbers = np.arange(kept) % groups
    step = max(1, int(AT_ONCE / draws[:kept].size))
    shifts = np.concatenate(
        [
            _correction(np.stack([draws[:kept][numbers != g] for g in range(first, min(first + step, groups))]), prior)[
                0
            ]
            for first in range(0, groups, step)
        ]
    )
    away = shifts - shifts.mean(axis=0)
    return np.asarray(away.T @ away * (groups - 1.0) / groups)


def _independent(draws: Floats, count: float) -> Floats:
    """Thin to about `count` evenly spaced draws, which are nearly independent."""
    return draws[:: max(1, round(len(draws) / count))]
