"""What linear regressions with known and unknown sigma share: second moments are released once, scaled to norm 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...accounting import GDP, Event
from .settings import ConjugateSettings, Floats

SLACK = 1e-11


@dataclass(frozen=True)
class RegressionSettings(ConjugateSettings):
    """The statistics of a record are products of the entries of x / R and y / B, of norm at most 1."""

    replaced: ClassVar[float]  # the largest distance between the statistics of two records

    intercept: bool
    norm: float  # R, the bound on the norm of a row, including the 1 of an intercept
    y_middle: float  # subtracted from y; 0 without an intercept, which would absorb it
    y_reach: float  # B, the bound on |y - y_middle|

    @property
    def coefficients(self) -> int:
        """The number of coefficients."""
        return len(self.prior_mean)

    @property
    def releases_of_sums(self) -> int:
        """One, for any number of draws."""
        return 1

    @property
    def clip(self) -> float:
        """One: the statistics are scaled to norm 1."""
        return 1.0

    @property
    def shift(self) -> Floats:
        """What the middle of y adds to the coefficients."""
        shift = np.zeros(self.coefficients)
        shift[0] = self.y_middle
        return shift

    def scaled(self, rows: Floats) -> Floats:
        """Return (x / R, y / B), with the 1 / R of an intercept."""
        columns = self.coefficients - self.intercept
        parts = [rows[:, :columns] / self.norm, (rows[:, [columns]] - self.y_middle) / self.y_reach]
        if self.intercept:
            parts.insert(0, np.full((len(rows), 1), 1.0 / self.norm))
        return np.hstack(parts)

    def event(self, adjacency: str) -> Event:
        """Return the Gaussian mechanism; under replace its sensitivity is the distance of two records' statistics."""
        rounding = 2.0 * math.sqrt(self.statistics_count) * math.ldexp(self.noise, -self.bits)
        moved = self.replaced + rounding if adjacency == "replace" else 1.0
        return GDP((moved + SLACK + self.statistics_count * 2.0**-50) / self.noise * (1.0 + 1e-12))


def upper(size: int) -> tuple[Any, Any, Floats]:
    """Return the indices on and above the diagonal, and weights that preserve the Frobenius norm."""
    i, j = np.triu_indices(size)
    return i, j, np.where(i == j, 1.0, math.sqrt(2.0))
