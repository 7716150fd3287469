"""What a run of SGFS is made of: a gradient run that releases second moments beside the gradient."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...accounting import Event
from ...errors import InvalidArgument
from .settings import GradientSettings

UNCLIPPED_MOMENTS = 2.0**6  # without privacy: the largest gradient in g g^T, in units of the noise


@dataclass(frozen=True)
class FisherSettings(GradientSettings):
    """A fully specified run of SGFS."""

    noise_matrix: tuple[float, ...] = ()  # the diagonal of A
    prior_precision: tuple[float, ...] = ()
    information_share: float = 0.0  # of the squared sensitivity that the second moments have
    noised: bool = True  # False: the second moments have no noise, and there is no privacy

    @property
    def moment_clip(self) -> float:
        """The bound on |g| in g g^T."""
        return self.clip if self.noised else UNCLIPPED_MOMENTS * float(self.noise.min())

    @property
    def moment_scale(self) -> float:
        """What g g^T is multiplied by, so that its norm is a stated share of the sensitivity."""
        if not self.noised:
            return self.clip / self.moment_clip**2
        return math.sqrt(self.information_share / (1.0 - self.information_share)) / self.clip

    @property
    def sensitivity(self) -> float:
        """The largest norm of (g, scale g g^T)."""
        return math.hypot(self.clip, self.moment_scale * self.moment_clip**2)

    @property
    def released(self) -> int:
        """The gradient and the upper triangle of its second moments."""
        return self.dim + self.dim * (self.dim + 1) // 2

    @property
    def core_parameters(self) -> dict[str, list[float]]:
        """What J_t is made of: weights and scales, the prior's precision, the noise."""
        per_record = self.w / self.rate * (1.0 + self.w * (1.0 / self.rate - 1.0))
        return {
            "noise_matrix": list(self.noise_matrix),
            "prior_precision": list(self.prior_precision),
            "weight": [per_record],
            "centred": [float(self.batch_size) if self.sampling == "without_replacement" else 0.0],
            "moment_scale": [self.moment_scale],
            "moment_clip": [self.moment_clip],
            "moments_noised": [float(self.noised)],
            "heat": [self.heat],
        }

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return what all steps of all chains release, second moments included."""
        if not self.noised:
            raise InvalidArgument("the second moments of this run have no noise: it cannot be private")
        return super().uses(adjacency, chains)

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        own = {"noise_matrix": list(self.noise_matrix), "information_share": self.information_share}
        return super().describe() | own

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that say what runs."""
        low, high = min(self.noise_matrix), max(self.noise_matrix)
        matrix = f"{low:.4g} times the identity" if low == high else f"a given diagonal, {low:.4g} to {high:.4g}"
        share = f"{100 * self.information_share:.3g} % of the squared sensitivity" if self.noised else "without noise"
        return [*super().rows(size), ("noise matrix A", matrix), ("second moments", share)]
