"""Scores of clipped counts whose mean is zero at the truth: bounded, so that few records need much noise.

The score of a count is w (y - m), w = 1/(1 + dispersion m). A look takes clamp(w min(y, top) - v, -clip, clip) in its
place, with v(eta) such that its mean under the model is zero whatever eta is (Künsch, Stefanski, Carroll 1989). Counts
above `top` and residuals beyond `clip` do not bias the estimate then; they only cost information.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .links import Link

Floats = npt.NDArray[np.float64]
LEAST_LOG_MEAN, BEYOND_TOP = -14.0, 3.0  # of the table: from here to log(top) plus that
PER_UNIT = 32  # rows of the table in a unit of the predictor
RARE, SCORES_PER_UNIT = -4.0, (4, 24)  # of the expected scores, below and above this log mean
HALVINGS = 40
FEWEST = 1e-12  # of a mean


@dataclass(frozen=True)
class Counts:
    """The law of a count: Poisson, or negative binomial with a dispersion."""

    dispersion: float = 0.0

    def weight(self, mean: Floats) -> Floats:
        """Return the score's factor of y - m."""
        return np.asarray(1.0 / (1.0 + self.dispersion * mean))

    def at_most(self, k: Floats, mean: Floats, more: int = 0) -> Floats:
        """Return P(Y <= k), Y with `more` added to its shape 1/dispersion at the same scale; whole k, 0 below 0."""
        from scipy.special import betainc, gammaincc

        above = np.maximum(k, 0.0) + 1.0
        if self.dispersion == 0.0:
            found = gammaincc(above, mean)
        else:
            shape = 1.0 / self.dispersion
            found = betainc(shape + more, above, shape / (shape + mean))
        return np.asarray(np.where(k < 0.0, 0.0, found))

    def lower(self, u: Floats, mean: Floats, top: float) -> Floats:
        """Return E min(Y, top, u)."""

        def whole(k: Floats) -> Floats:
            return np.asarray(mean * self.at_most(k - 2.0, mean, 1) + k * (1.0 - self.at_most(k - 1.0, mean)))

        return np.asarray(np.where(u < 0.0, u, _between(np.clip(u, 0.0, top), whole)))

    def lower_slope(self, u: Floats, mean: Floats, top: float) -> Floats:
        """Return the derivative of E min(Y, top, u) in the log mean."""
        slope = _between(np.clip(u, 0.0, top), lambda k: np.asarray(mean * self.at_most(k - 1.0, mean, 1)))
        return np.asarray(np.where(u < 0.0, 0.0, slope))

    def upper_square(self, u: Floats, mean: Floats, top: float) -> Floats:
        """Return E min(Y, top, u)^2 for u >= 0."""
        u = np.clip(u, 0.0, top)
        k = np.floor(u)
        paired = mean**2 * (1.0 + self.dispersion) * self.at_most(k - 2.0, mean, 2)
        return np.asarray(paired + mean * self.at_most(k - 1.0, mean, 1) + u**2 * (1.0 - self.at_most(k, mean)))


def _between(u: Floats, whole: Callable[[Floats], Floats]) -> Floats:
    """Return a function of whole numbers at u >= 0: linear between them."""
    k = np.floor(u)
    here = whole(k)
    return np.asarray(here + (u - k) * (whole(k + 1.0) - here))


@dataclass(frozen=True, eq=False)
class ClippedScore:
    """The score at some log means: r = clamp(w min(y, top) - v, -clip, clip).

    Attributes
    ----------
    slope
        Its expected derivative in the true log mean.
    variance
        At the truth.
    """

    weight: Floats
    centre: Floats
    slope: Floats
    variance: Floats


def clipped_score(law: Counts, eta: Floats, clip: float | Floats, top: float) -> ClippedScore:
    """Return the score whose mean is zero at each log mean; several clips are a column."""
    mean = np.maximum(np.exp(eta), FEWEST)
    weight = law.weight(mean)
    reach = np.asarray(clip / weight)
    low, high = np.zeros_like(reach), np.full_like(reach, top)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        above = _mean_residual(law, middle, reach, mean, top) > 0.0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    centre = (low + high) / 2.0
    ends = centre + reach, centre - reach
    slope = law.lower_slope(ends[0], mean, top) - law.lower_slope(ends[1], mean, top)
    return ClippedScore(
        weight, weight * centre, np.maximum(weight * slope, 0.0), _variance(law, centre, reach, mean, top) * weight**2
    )


def _mean_residual(law: Counts, centre: Floats, reach: Floats, mean: Floats, top: float) -> Floats:
    """Return E clamp(min(Y, top) - centre, -reach, reach)."""
    return law.lower(centre + reach, mean, top) - law.lower(centre - reach, mean, top) - reach


def _variance(law: Counts, centre: Floats, reach: Floats, mean: Floats, top: float) -> Floats:
    """Return the mean square of the same: with Z = min(Y, top) clamped to centre +- reach, E (Z - centre)^2."""
    low = np.maximum(centre - reach, 0.0)
    # Z = min(Y, high) + (low - min(Y, low)), and the last is zero unless Y < low: then min(Y, high) = min(Y, low).
    first = law.lower(centre + reach, mean, top) - law.lower(low, mean, top) + low
    second = law.upper_square(centre + reach, mean, top) - law.upper_square(low, mean, top) + low**2
    return np.asarray(np.maximum(second - 2.0 * centre * first + centre**2, 0.0))


@dataclass(frozen=True, eq=False)
class CountTable:
    """What the core reads: rows of (w, v, h) from `first` on, `per_unit` of them in a unit of the predictor."""

    rows: Floats
    first: float
    per_unit: float
    link: Link

    @property
    def largest_curvature(self) -> float:
        """The largest h."""
        return float(self.rows[:, 2].max())


@lru_cache(maxsize=64)
def count_table(dispersion: float, clip: float, top: float) -> CountTable:
    """Return the table of a clipped score, and what its looks mean."""
    law, last = Counts(dispersion), math.log(top) + BEYOND_TOP
    eta = LEAST_LOG_MEAN + np.arange(math.ceil((last - LEAST_LOG_MEAN) * PER_UNIT) + 1) / PER_UNIT
    score = clipped_score(law, eta, clip, top)
    rows = np.ascontiguousarray(np.column_stack([score.weight, score.centre, score.slope]))

    def curvature(a: Floats) -> Floats:
        return np.asarray(np.interp(a, eta, score.slope))

    def variance(a: Floats) -> Floats:
        return np.asarray(np.interp(a, eta, score.variance))

    expected = _expected_scores(law, eta, rows, clip, top)
    return CountTable(rows, LEAST_LOG_MEAN, float(PER_UNIT), Link(curvature, score=expected, variance=variance))


def _expected_scores(
    law: Counts, eta: Floats, rows: Floats, clip: float, top: float
) -> Callable[[Floats, Floats], Floats]:
    """Return S(a, t), the mean score at predictor a if t is true: of the core's own interpolation, between nodes."""
    from scipy.interpolate import RectBivariateSpline

    below, above = SCORES_PER_UNIT
    nodes = np.append(np.arange(eta[0], RARE, 1.0 / below), np.arange(RARE, eta[-1], 1.0 / above))
    weight, centre = (np.interp(nodes, eta, rows[:, k])[:, None] for k in (0, 1))
    mean = np.maximum(np.exp(nodes), FEWEST)[None, :]
    scores = weight * _mean_residual(law, centre / weight, clip / weight, mean, top)
    spline = RectBivariateSpline(nodes, nodes, scores)

    def score(a: Floats, t: Floats) -> Floats:
        inside = np.clip(a, nodes[0], nodes[-1]), np.clip(t, nodes[0], nodes[-1])
        return np.asarray(spline.ev(*inside))

    return score
