"""Linear regression with known sigma: X'X and X'y are released with noise, and the draws are post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...accounting import GDP, Event
from ...data.public import Public
from ...models import LinearRegression
from ..directions import Directions
from ..outlook import Outlook
from .noised_posterior import NoisedMoments, posterior
from .noised_sums import plain_normals
from .outlook import outlook_of_linear
from .settings import ConjugateSettings, Floats

REPLACED = 1.5  # largest distance between the statistics of two records: docs/privacy/conjugate.md, lemma 3
SLACK = 1e-11


@dataclass(frozen=True)
class LinearSettings(ConjugateSettings):
    """The statistics of a record are (x x' / R^2, x y / (R B)) / sqrt 2, of norm at most 1."""

    sigma: float
    intercept: bool
    norm: float  # R, the bound on the norm of a row, including the 1 of an intercept
    y_middle: float  # subtracted from y; 0 without an intercept, which would absorb it
    y_reach: float  # B, the bound on |y - y_middle|

    @property
    def releases_of_sums(self) -> int:
        """One, for any number of draws."""
        return 1

    @property
    def statistics_count(self) -> int:
        """The number of entries of X'X on and above the diagonal, and of X'y."""
        return self.dim * (self.dim + 3) // 2

    @property
    def clip(self) -> float:
        """One: the statistics are scaled to norm 1."""
        return 1.0

    @cached_property
    def _upper(self) -> tuple[Any, Any, Floats]:
        """The indices on and above the diagonal, and weights that preserve the Frobenius norm."""
        i, j = np.triu_indices(self.dim)
        return i, j, np.where(i == j, 1.0, math.sqrt(2.0))

    def statistics(self, rows: Floats) -> Floats:
        """Return (x x', x y), scaled."""
        columns = self.dim - self.intercept
        x, y = rows[:, :columns] / self.norm, (rows[:, columns] - self.y_middle) / self.y_reach
        if self.intercept:
            x = np.hstack([np.full((len(x), 1), 1.0 / self.norm), x])
        i, j, weight = self._upper
        return np.asarray(np.hstack([x[:, i] * x[:, j] * weight, x * y[:, None]]) / math.sqrt(2.0))

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of_linear(self, ways)

    def event(self, adjacency: str) -> Event:
        """Return the Gaussian mechanism; under replace its sensitivity is the distance of two records' statistics."""
        rounding = 2.0 * math.sqrt(self.statistics_count) * math.ldexp(self.noise, -self.bits)
        moved = REPLACED + rounding if adjacency == "replace" else 1.0
        return GDP((moved + SLACK + self.statistics_count * 2.0**-50) / self.noise * (1.0 + 1e-12))

    def moments(self, sums: Floats) -> NoisedMoments:
        """Return X'X and X'y with the standard deviations of their noise."""
        i, j, weight = self._upper
        to_xx, to_xy = math.sqrt(2.0) * self.norm**2, math.sqrt(2.0) * self.norm * self.y_reach
        xx = np.zeros((self.dim, self.dim))
        xx[i, j] = xx[j, i] = sums[: len(i)] / weight * to_xx
        return NoisedMoments(xx, sums[len(i) :] * to_xy, self.noise * to_xx, self.noise * to_xy)

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return draws from the posterior given the noised moments."""
        shift = np.zeros(self.dim)
        shift[0] = self.y_middle
        prior_mean = np.array(self.prior_mean) - shift
        mean, root = posterior(self.moments(sums[0]), self.sigma, self.w, prior_mean, np.array(self.prior_precision))
        return np.asarray(mean + shift + plain_normals(core, key, self.draws, self.dim) @ root.T)


def bounds(public: Public, intercept: bool) -> tuple[float, float, float]:
    """Return R, the middle of y_bounds (0 without an intercept), and B."""
    norm = LinearRegression(intercept=intercept).norm(public)
    assert norm is not None
    assert public.y_bounds is not None
    low, high = public.y_bounds
    middle = (low + high) / 2.0 if intercept else 0.0
    return norm, middle, max(abs(low - middle), abs(high - middle)) * (1.0 + 1e-12)
