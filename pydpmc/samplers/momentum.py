"""What the samplers with momentum share: a public friction that sets their noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import InvalidArgument
from .gradient import GradientSampler


@dataclass(frozen=True)
class MomentumSampler(GradientSampler):
    """Base of SGHMC and SGNHT.

    Parameters
    ----------
    friction
        The public constant a, in (0, 1); the injected noise has variance 2 a eta.
    """

    friction: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.friction) and 0 < self.friction < 1):
            raise InvalidArgument(f"friction must lie in (0, 1), not {self.friction!r}")

    @property
    def friction_of_noise(self) -> float:
        """The friction a."""
        return self.friction
