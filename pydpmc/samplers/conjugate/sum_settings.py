"""What both ways to sample a Gaussian mean share: the statistics of a record are x - centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...accounting import Event, Gaussian
from ..gradient.settings import ARITHMETIC
from .settings import ConjugateSettings, Floats, Numbers


@dataclass(frozen=True)
class SumSettings(ConjugateSettings):
    """The sum of x - centre is released with noise, of records in a ball around the centre."""

    sigma: float
    n: int  # the number of records, or the declared number under add_remove
    centre: Numbers
    radius: float

    @property
    def statistics_count(self) -> int:
        """One for each coordinate."""
        return self.dim

    @property
    def clip(self) -> float:
        """The radius of the ball around the centre that holds all records."""
        return self.radius

    def event(self, adjacency: str) -> Event:
        """Return the Gaussian mechanism."""
        return Gaussian(self.noise / self.radius * ARITHMETIC)

    def statistics(self, rows: Floats) -> Floats:
        """Return x - centre."""
        return np.asarray(rows[:, : self.dim] - np.array(self.centre))
