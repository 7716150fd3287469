"""The base class of samplers with momentum, whose public friction sets their noise."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks import inside
from .base import GradientSampler


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
        inside(self.friction, "friction")

    @property
    def friction_of_noise(self) -> float:
        """The friction a."""
        return self.friction
