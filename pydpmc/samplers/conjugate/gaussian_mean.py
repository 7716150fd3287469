"""The posterior of a Gaussian mean, whose own spread is the Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.public import Public
from ..directions import Directions
from ..outlook import Outlook
from .noised_sums import plain_normals
from .outlook import outlook_of_mean
from .settings import Floats, Numbers
from .sum_settings import SumSettings


@dataclass(frozen=True)
class MeanSettings(SumSettings):
    """Each draw is a sum of x - centre with noise whose standard deviation is the posterior's."""

    @property
    def releases_of_sums(self) -> int:
        """One for each draw."""
        return self.draws

    @property
    def precisions(self) -> Floats:
        """The precision of each coordinate of the posterior."""
        return self.w * self.n / self.sigma**2 + np.array(self.prior_precision)

    @property
    def spread(self) -> float:
        """The smallest standard deviation of a coordinate."""
        return float(self.precisions.max() ** -0.5)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of_mean(self, ways)

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return posterior mean plus noise; narrower coordinates than the widest need extra noise."""
        precisions, centre = self.precisions, np.array(self.centre)
        pull = np.array(self.prior_precision) * (np.array(self.prior_mean) - centre)
        missing = np.sqrt(np.maximum(precisions - (self.w * self.noise / self.sigma**2) ** 2, 0.0))
        extra = missing * plain_normals(core, key, self.draws, self.dim)
        return np.asarray(centre + (self.w * sums / self.sigma**2 + pull + extra) / precisions)


def noise_of(w: float, n: int, sigma: float, prior_precision: Numbers) -> float:
    """Return the noise on the sum that gives the posterior's widest coordinate its standard deviation."""
    return sigma**2 * math.sqrt(w * n / sigma**2 + min(prior_precision)) / w


def ball(public: Public) -> tuple[Numbers, float]:
    """Return the smaller of the balls around all records that follow from x_bounds and row_norm."""
    origin, norm = (0.0,) * public.width, public.feature_norm
    assert norm is not None
    if public.x_bounds is None:
        return origin, norm
    middle = tuple((low + high) / 2.0 for low, high in public.x_bounds)
    half = math.sqrt(sum(((high - low) / 2.0) ** 2 for low, high in public.x_bounds)) * (1.0 + 1e-12)
    return (middle, half) if half < norm else (origin, norm)
