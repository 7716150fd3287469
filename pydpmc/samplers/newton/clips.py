"""Where counts and their residuals are clipped: from public facts before the first look, then from what looks show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .counts import Counts, clipped_score

if TYPE_CHECKING:
    from .surrogate import GaussianFeatures

Floats = npt.NDArray[np.float64]
FINER = 1.12  # clips that are tried differ by this factor
LEAST_CLIP = 0.6
WIDE, SURE = 2.5, 3.0  # standard deviations of predictors, and of counts, below the largest count that matters
TYPICAL_SPREAD = 0.5  # of predictors, before a record was seen
WORTH_IT = 0.9  # of the variance: a new clip must fall below it, because looks with the old one are given up
_Z = np.linspace(-2.5, 2.5, 11)
_W = np.exp(-(_Z**2) / 2.0) / np.exp(-(_Z**2) / 2.0).sum()


@dataclass(frozen=True)
class Clip:
    """Bounds on what a look takes of a record.

    Attributes
    ----------
    residual
        Of linear models, over sigma; of counts, on the score.
    top
        The largest count; inf for models of other outcomes.
    sigma
        Of linear models that do not know it: what is taken for it.
    curvature
        Of models of the user's: on the trace of a record's curvature; `residual` is then that on its gradient.
    """

    residual: float
    top: float = math.inf
    sigma: float | None = None
    curvature: float | None = None


@dataclass(frozen=True)
class Predictors:
    """The predictors of the records, about: normal with this mean and spread."""

    mean: float
    sd: float

    @classmethod
    def shown(cls, features: GaussianFeatures, theta: Floats, reach_square: float) -> Predictors:
        """Return what the looks show, and what they leave open."""
        spread = float(theta @ features.S @ theta)
        return cls(float(features.q @ theta), math.sqrt(max(spread, 0.0) + max(reach_square, 0.0)))


@dataclass(frozen=True)
class Trade:
    """What a clip costs and gains: `records` is n E x_j^2; a look that costs mu has noise `moved` clip / mu."""

    law: Counts
    predictors: Predictors
    records: float
    moved: float

    def variance(self, clip: Clip, mu: float) -> float:
        """Return the forecast variance of a coefficient with looks of this clip that cost mu in all."""
        return float(self._variances(np.array([clip.residual]), clip.top, mu)[0])

    def _variances(self, residuals: Floats, top: float, mu: float) -> Floats:
        eta = self.predictors.mean + self.predictors.sd * _Z
        score = clipped_score(self.law, eta, residuals[:, None], top)
        slope = np.maximum(score.slope @ _W, 1e-300)
        noise = (self.moved * residuals / mu) ** 2
        return np.asarray((score.variance @ _W * self.records + noise) / (slope * self.records) ** 2)

    def best(self, largest: float, mu: float) -> Clip:
        """Return the clip with the least variance, counts at most `largest`."""
        top = _rounded_up(self._needed(largest), largest)
        count = max(1, math.ceil(math.log(max(top / LEAST_CLIP, 1.0)) / math.log(FINER)) + 1)
        tried = np.minimum(LEAST_CLIP * FINER ** np.arange(count), top)
        return Clip(float(tried[np.argmin(self._variances(tried, top, mu))]), top)

    def _needed(self, largest: float) -> float:
        mean = math.exp(min(self.predictors.mean + WIDE * self.predictors.sd, 700.0))
        return min(mean + SURE * math.sqrt(mean * (1.0 + self.law.dispersion * mean)) + 1.0, largest)


def _rounded_up(top: float, largest: float) -> float:
    """Return a whole number from a short list, so that tables are made once for many runs."""
    k = math.ceil(4.0 * math.log2(max(top, 1.0)))
    return min(float(math.ceil(2.0 ** (k / 4.0))), largest)
