"""Linear regression with known sigma: X'X and X'y are released with noise, and the draws are post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...data.public import Public
from ...models import LinearRegression
from ..directions import Directions
from ..outlook import Outlook
from .moment_settings import RegressionSettings, upper
from .noised_posterior import NoisedMoments, posterior
from .noised_sums import plain_normals
from .outlook import outlook_of_linear
from .settings import Floats

REPLACED = 1.5  # largest distance between the statistics of two records: docs/privacy/conjugate.md, lemma 3


@dataclass(frozen=True)
class LinearSettings(RegressionSettings):
    """The statistics of a record are (x x' / R^2, x y / (R B)) / sqrt 2, of norm at most 1."""

    replaced: ClassVar[float] = REPLACED

    sigma: float

    @property
    def statistics_count(self) -> int:
        """The number of entries of X'X on and above the diagonal, and of X'y."""
        return self.dim * (self.dim + 3) // 2

    def statistics(self, rows: Floats) -> Floats:
        """Return (x x', x y), scaled."""
        z = self.scaled(rows)
        x, (i, j, weight) = z[:, :-1], upper(self.dim)
        return np.asarray(np.hstack([x[:, i] * x[:, j] * weight, x * z[:, -1:]]) / math.sqrt(2.0))

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of_linear(self, ways)

    def moments(self, sums: Floats) -> NoisedMoments:
        """Return X'X and X'y with the standard deviations of their noise."""
        i, j, weight = upper(self.dim)
        to_xx, to_xy = math.sqrt(2.0) * self.norm**2, math.sqrt(2.0) * self.norm * self.y_reach
        xx = np.zeros((self.dim, self.dim))
        xx[i, j] = xx[j, i] = sums[: len(i)] / weight * to_xx
        return NoisedMoments(xx, sums[len(i) :] * to_xy, self.noise * to_xx, self.noise * to_xy)

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return draws from the posterior given the noised moments."""
        prior_mean = np.array(self.prior_mean) - self.shift
        mean, root = posterior(self.moments(sums[0]), self.sigma, self.w, prior_mean, np.array(self.prior_precision))
        return np.asarray(mean + self.shift + plain_normals(core, key, self.draws, self.dim) @ root.T)


def bounds(public: Public, intercept: bool) -> tuple[float, float, float]:
    """Return R, the middle of y_bounds (0 without an intercept), and B."""
    norm = LinearRegression(intercept=intercept).norm(public)
    assert norm is not None
    assert public.y_bounds is not None
    low, high = public.y_bounds
    middle = (low + high) / 2.0 if intercept else 0.0
    return norm, middle, max(abs(low - middle), abs(high - middle)) * (1.0 + 1e-12)
