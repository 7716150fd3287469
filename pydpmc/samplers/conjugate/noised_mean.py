"""A Gaussian mean from one noised sum: any number of draws costs the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...accounting import Event, Gaussian
from ..directions import Directions
from ..gradient.settings import ARITHMETIC
from ..outlook import Outlook
from .noised_sums import plain_normals
from .outlook import outlook_of_noised_mean
from .settings import ConjugateSettings, Floats, Numbers


@dataclass(frozen=True)
class NoisedMeanSettings(ConjugateSettings):
    """The sum of x - centre is released once; draws come from the posterior given the noised sum."""

    sigma: float
    n: int  # the number of records, or the declared number under add_remove
    centre: Numbers
    radius: float

    @property
    def releases_of_sums(self) -> int:
        """One, for any number of draws."""
        return 1

    @property
    def statistics_count(self) -> int:
        """One for each coordinate."""
        return self.dim

    @property
    def clip(self) -> float:
        """The radius of the ball around the centre that holds all records."""
        return self.radius

    @property
    def information(self) -> float:
        """The precision that the noised sum has about each coordinate."""
        return self.w * self.n**2 / (self.n * self.sigma**2 + self.noise**2)

    @property
    def spread(self) -> float:
        """The smallest standard deviation of a coordinate."""
        return float((self.information + max(self.prior_precision)) ** -0.5)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of_noised_mean(self, ways)

    def event(self, adjacency: str) -> Event:
        """Return the Gaussian mechanism."""
        return Gaussian(self.noise / self.radius * ARITHMETIC)

    def statistics(self, rows: Floats) -> Floats:
        """Return x - centre."""
        return np.asarray(rows[:, : self.dim] - np.array(self.centre))

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return draws from the posterior given the noised sum, whose noise is part of its likelihood."""
        centre, prior = np.array(self.centre), np.array(self.prior_precision)
        precision = self.information + prior
        pull = self.information * sums[0] / self.n + prior * (np.array(self.prior_mean) - centre)
        return np.asarray(
            centre + pull / precision + plain_normals(core, key, self.draws, self.dim) / np.sqrt(precision)
        )
