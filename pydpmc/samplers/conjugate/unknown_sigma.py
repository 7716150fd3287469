"""Linear regression with unknown sigma: the second moments of (x, y) are released with noise, all else follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..directions import Directions
from ..outlook import Outlook
from .moment_settings import RegressionSettings, upper
from .noised_posterior import NoisedMoments
from .noised_sums import plain_normals
from .outlook import outlook_of_moments
from .residuals import with_sigma
from .settings import Floats

REPLACED = math.sqrt(2.0)  # largest distance between the statistics of two records: docs/privacy/conjugate.md, lemma 4


@dataclass(frozen=True)
class MomentSettings(RegressionSettings):
    """The statistics of a record are z z' / 2 with z = (x / R, y / B), of Frobenius norm at most 1."""

    replaced: ClassVar[float] = REPLACED * (1.0 + 1e-15)

    n: int  # the number of records, or the declared number under add_remove
    sigma_prior: tuple[float, ...]  # its row of the model's prior table

    @property
    def dim(self) -> int:
        """Length of theta: sigma is its last coordinate."""
        return self.coefficients + 1

    @property
    def statistics_count(self) -> int:
        """The number of entries on and above the diagonal."""
        return self.dim * (self.dim + 1) // 2

    def statistics(self, rows: Floats) -> Floats:
        """Return z z' / 2, the entries above the diagonal once and times sqrt 2."""
        z, (i, j, weight) = self.scaled(rows), upper(self.dim)
        return np.asarray(z[:, i] * z[:, j] * weight / 2.0)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of_moments(self, ways)

    def noises(self) -> tuple[float, float, float]:
        """Return the standard deviations of the noise on the diagonal of X'X, on X'y and on y'y."""
        s = 2.0 * self.noise
        return s * self.norm**2, s * self.norm * self.y_reach / math.sqrt(2.0), s * self.y_reach**2

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return draws of the coefficients and of log sigma from the posterior given the noised moments."""
        i, j, weight = upper(self.dim)
        moments = np.zeros((self.dim, self.dim))
        moments[i, j] = moments[j, i] = 2.0 * sums[0] / weight
        xx_noise, xy_noise, yy_noise = self.noises()
        known = NoisedMoments(
            moments[:-1, :-1] * self.norm**2, moments[:-1, -1] * self.norm * self.y_reach, xx_noise, xy_noise
        )
        normals = plain_normals(core, key, self.draws, self.dim)
        squares = float(moments[-1, -1]) * self.y_reach**2, yy_noise
        prior = np.array(self.prior_mean) - self.shift, np.array(self.prior_precision), self.sigma_prior
        made = with_sigma(known, squares, self.n, self.y_reach, prior, normals)
        made[:, :-1] += self.shift
        return made
