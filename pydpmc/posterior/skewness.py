"""How far the mean of skew draws lies from the estimate: third moments of the draws (docs/howto/intervals.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgument

Floats = npt.NDArray[np.float64]
NEGLIGIBLE_BIAS = 0.3  # standard errors: 90 % intervals that are off by so much still cover 88.6 %
DRAWS_PER_PARAMETER = 4  # fewer do not show third moments
FARTHEST = 0.75  # standard deviations of the draws over which their third moments are extrapolated
MOST_GROUPS = 100
AT_ONCE = 1e6  # coordinates of draws in memory
NEWTON_STEPS = 4


@dataclass(frozen=True)
class Skewness:
    """What third moments add to an estimate that takes the draws for Gaussian.

    Attributes
    ----------
    shift
        Is added to the estimate.
    covariance
        Of the error of `shift`.
    scale
        By how much the information at the estimate changes the standard error that comes from the records.
    """

    shift: Floats
    covariance: Floats
    scale: Floats


def no_skewness(dim: int) -> Skewness:
    """Return what a quadratic log-likelihood has."""
    return Skewness(np.zeros(dim), np.zeros((dim, dim)), np.ones(dim))


def largest_shift(spread: Floats, prior: Floats, mean: Floats, concordance: float | None) -> Floats:
    """Return a bound on what third derivatives, bounded by second ones, move.

    The mode lies off the mean, and the information changes over the distance that the prior has pulled the draws.
    """
    if concordance is None:
        return np.full(len(prior), math.inf)
    unpull = np.linalg.inv(np.eye(len(prior)) - spread * prior)
    pull = prior * (unpull @ mean)
    informed = max(len(prior) - float(np.diag(spread) @ prior), 0.0)
    mode = informed * np.linalg.norm(spread, axis=0)
    return np.asarray(0.5 * concordance * (mode + (pull @ spread @ pull) * np.linalg.norm(unpull @ spread, axis=0)))


def skewness(draws: Floats, count: float, prior: Floats, bound: Floats) -> Skewness:
    """Return what the third moments of draws (from the prior mean on) say; refuse where they cannot be known."""
    dim = draws.shape[1]
    if count < DRAWS_PER_PARAMETER * (dim + 2):
        raise InvalidArgument(
            f"the draws may be so skew that their mean is no estimate, and {count:.3g} draws of {dim} parameters do "
            f"not show how skew they are: take at least {DRAWS_PER_PARAMETER * (dim + 2)}, fewer parameters, or "
            "declare smaller bounds (row_norm, x_bounds)"
        )
    gaussian, _ = _estimates(draws[None], prior, skew=False)
    pull = prior * gaussian[0]
    if math.sqrt(pull @ np.cov(draws.T).reshape(dim, dim) @ pull) > FARTHEST:
        raise InvalidArgument(
            "the prior pulls the draws so far from what the records say that skew draws do not reach it; take a prior "
            "that is wider, or centred nearer to the parameters, or a larger epsilon"
        )
    shift, scale = _correction(draws[None], prior)
    if not scale.min() > 0.0:
        raise InvalidArgument(
            "the draws are too skew for an interval: the information they show runs out before the estimate; take "
            "a larger epsilon, more draws or a wider prior"
        )
    shift = shift / (1.0 - (dim + 2.0) / count)  # so much is lost because the spread is that of the same draws
    covariance = _jackknife(_independent(draws, count), prior)
    spread = np.sqrt(np.diag(covariance))
    shrink = np.minimum(1.0, bound / np.maximum(spread, 1e-300))
    covariance = covariance * shrink[:, None] * shrink
    return Skewness(np.clip(shift[0], -bound, bound), covariance, np.sqrt(scale[0]))


def _estimates(batches: Floats, prior: Floats, skew: bool) -> tuple[Floats, Floats]:
    """Return for each batch of draws the maximum of the likelihood, and the inverse of its curvature there.

    The logarithm of the density is taken as a cubic about its mode, with the draws' second and third moments.
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
    """Return the difference that third moments make to each estimate, and the ratio of its variances."""
    skew, skew_inverse = _estimates(batches, prior, skew=True)
    plain, inverse = _estimates(batches, prior, skew=False)
    ratio = np.einsum("bii->bi", skew_inverse) / np.einsum("bii->bi", inverse)
    return skew - plain, ratio


def _jackknife(draws: Floats, prior: Floats) -> Floats:
    """Return the covariance of the correction, one group of draws left out at a time."""
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
    """Return about `count` draws, evenly spaced, which are nearly independent."""
    return draws[:: max(1, round(len(draws) / count))]
