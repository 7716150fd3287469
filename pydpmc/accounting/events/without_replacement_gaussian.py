"""A clipped Gaussian sum over b of n records drawn without replacement.

Claim: before sampling, the profile in both orders is the profile of mu-GDP with mu = 2/noise_multiplier, so
amplification gives a symmetric profile that dominates every step. Neighbours: `replace`, n public; `add_remove` is
refused.
Source: amplification.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...checks import positive, whole
from ...rounding import lower
from ..loss.gaussian_cells import LARGEST_DEVIATION
from .amplification import amplified_epsilon, without_replacement
from .base import Floats, ProfileEvent
from .gaussian import gdp_delta


@dataclass(frozen=True)
class WithoutReplacementGaussian(ProfileEvent):
    """`Gaussian(noise_multiplier).without_replacement(b, n)`."""

    noise_multiplier: float
    b: int
    n: int

    def __post_init__(self) -> None:
        positive(self.noise_multiplier, "noise_multiplier")
        whole(self.b, "b", most=whole(self.n, "n"))

    @property
    def _mu(self) -> float:
        return 2.0 / self.noise_multiplier

    @property
    def epsilon_max(self) -> float:
        """End of the grid; the profile beyond it is below 1e-23 and counts as an infinite loss."""
        return amplified_epsilon(self._mu * (self._mu / 2 + LARGEST_DEVIATION), self.b / self.n)

    def profile(self, eps: Floats) -> Floats:  # noqa: D102
        return without_replacement(lambda e: gdp_delta(self._mu, e), self.b / self.n)(eps)

    def pure_epsilon(self, adjacency: str) -> float:  # noqa: D102
        return float("inf")

    @property
    def level(self) -> tuple[tuple[object, ...], float]:  # noqa: D102
        return (WithoutReplacementGaussian, self.b, self.n), 1.0 / self.noise_multiplier

    def describe(self) -> str:  # noqa: D102
        return (
            f"a sum over {self.b} of {self.n} records (without replacement, drawn anew) with Gaussian "
            f"noise (noise multiplier {lower(self.noise_multiplier)})"
        )
