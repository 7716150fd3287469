"""Linear regression with unknown sigma: the second moments of (x, y) are released with noise, all else follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...accounting import GDP, Event
from ..directions import Directions
from ..outlook import Outlook
from .linear_regression import SLACK
from .noised_posterior import NoisedMoments
from .noised_sums import plain_normals
from .outlook import outlook_of_moments
from .residuals import with_sigma
from .settings import ConjugateSettings, Floats

REPLACED = math.sqrt(2.0)  # largest distance between the statistics of two records: docs/privacy/conjugate.md, lemma 4


@dataclass(frozen=True)
class MomentSettings(ConjugateSettings):
    """The statistics of a record are z z' / 2 with z = (x / R, y / B), of Frobenius norm at most 1."""

    intercept: bool
    norm: float  # R, the bound on the norm of a row, including the 1 of an intercept
    y_middle: float  # subtracted from y; 0 without an intercept, which would absorb it
    y_reach: float  # B, the bound on |y - y_middle|
    n: int  # the number of records, or the declared number under add_remove
    sigma_prior: tuple[float, ...]  # its row of the model's prior table

    @property
    def coefficients(self) -> int:
        """The number of coefficients: sigma is the last coordinate of theta."""
        return len(self.prior_mean)

    @property
    def dim(self) -> int:
        """Length of theta."""
        return self.coefficients + 1

    @property
    def releases_of_sums(self) -> int:
        """One, for any number of draws."""
        return 1

    @property
    def statistics_count(self) -> int:
        """The number of entries on and above the diagonal."""
        return self.dim * (self.dim + 1) // 2

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
        """Return z z' / 2, the entries above the diagonal once and times sqrt 2."""
        columns = self.coefficients - self.intercept
        parts = [rows[:, :columns] / self.norm, (rows[:, [columns]] - self.y_middle) / self.y_reach]
        if self.intercept:
            parts.insert(0, np.full((len(rows), 1), 1.0 / self.norm))
        z = np.hstack(parts)
        i, j, weight = self._upper
        return np.asarray(z[:, i] * z[:, j] * weight / 2.0)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of_moments(self, ways)

    def event(self, adjacency: str) -> Event:
        """Return the Gaussian mechanism; under replace its sensitivity is the distance of two records' statistics."""
        rounding = 2.0 * math.sqrt(self.statistics_count) * math.ldexp(self.noise, -self.bits)
        moved = REPLACED * (1.0 + 1e-15) + rounding if adjacency == "replace" else 1.0
        return GDP((moved + SLACK + self.statistics_count * 2.0**-50) / self.noise * (1.0 + 1e-12))

    def noises(self) -> tuple[float, float, float]:
        """Return the standard deviations of the noise on the diagonal of X'X, on X'y and on y'y."""
        s = 2.0 * self.noise
        return s * self.norm**2, s * self.norm * self.y_reach / math.sqrt(2.0), s * self.y_reach**2

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return draws of the coefficients and of log sigma from the posterior given the noised moments."""
        i, j, weight = self._upper
        moments = np.zeros((self.dim, self.dim))
        moments[i, j] = moments[j, i] = 2.0 * sums[0] / weight
        xx_noise, xy_noise, yy_noise = self.noises()
        known = NoisedMoments(
            moments[:-1, :-1] * self.norm**2, moments[:-1, -1] * self.norm * self.y_reach, xx_noise, xy_noise
        )
        shift = np.zeros(self.coefficients)
        shift[0] = self.y_middle
        normals = plain_normals(core, key, self.draws, self.dim)
        squares = float(moments[-1, -1]) * self.y_reach**2, yy_noise
        prior = np.array(self.prior_mean) - shift, np.array(self.prior_precision), self.sigma_prior
        made = with_sigma(known, squares, self.n, self.y_reach, prior, normals)
        made[:, :-1] += shift
        return made
