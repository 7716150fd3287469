"""A Gaussian mean from one noised sum: any number of draws costs the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..directions import Directions
from ..outlook import Outlook
from .noised_sums import plain_normals
from .outlook import outlook_of_noised_mean
from .settings import Floats
from .sum_settings import SumSettings


@dataclass(frozen=True)
class NoisedMeanSettings(SumSettings):
    """The sum of x - centre is released once; draws come from the posterior given the noised sum."""

    @property
    def releases_of_sums(self) -> int:
        """One, for any number of draws."""
        return 1

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

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return draws from the posterior given the noised sum, whose noise is part of its likelihood."""
        centre, prior = np.array(self.centre), np.array(self.prior_precision)
        precision = self.information + prior
        pull = self.information * sums[0] / self.n + prior * (np.array(self.prior_mean) - centre)
        return np.asarray(
            centre + pull / precision + plain_normals(core, key, self.draws, self.dim) / np.sqrt(precision)
        )
