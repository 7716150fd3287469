"""The posterior of a Gaussian mean, whose own spread is the Gaussian mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...accounting import Event, Gaussian
from ...data.public import Public
from ..directions import Directions
from ..gradient.settings import ARITHMETIC
from ..outlook import Outlook
from .noised_sums import plain_normals
from .outlook import outlook_of_mean
from .settings import ConjugateSettings, Floats, Numbers


@dataclass(frozen=True)
class MeanSettings(ConjugateSettings):
    """Each draw is a sum of x - centre with noise whose standard deviation is the posterior's."""

    sigma: float
    n: int  # the number of records, or the declared number under add_remove
    centre: Numbers
    radius: float

    @property
    def releases_of_sums(self) -> int:
        """One for each draw."""
        return self.draws

    @property
    def statistics_count(self) -> int:
        """One for each coordinate."""
        return self.dim

    @property
    def clip(self) -> float:
        """The radius of the ball around the centre that holds all records."""
        return self.radius

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

    def event(self, adjacency: str) -> Event:
        """Return the Gaussian mechanism."""
        return Gaussian(self.noise / self.radius * ARITHMETIC)

    def statistics(self, rows: Floats) -> Floats:
        """Return x - centre."""
        return np.asarray(rows[:, : self.dim] - np.array(self.centre))

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
