"""Stochastic-gradient Hamiltonian Monte Carlo (papers/001)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .gradient import GradientSampler


@dataclass(frozen=True)
class SGHMC(GradientSampler):
    """v' = v - eta g - a v + N(0, 2 a eta), theta' = theta + v'.

    ``step_size`` is eta. The parameters are those of GradientSampler and

    Parameters
    ----------
    friction
        The public constant a, in (0, 1); the injected noise has variance 2 a eta.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.SGHMC(friction=0.2).friction
    0.2
    """

    core_name: ClassVar[str] = "sghmc"
    friction: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.friction) and 0 < self.friction < 1):
            raise ValueError(f"friction must lie in (0, 1), not {self.friction!r}")

    @property
    def friction_of_noise(self) -> float:
        """The friction a."""
        return self.friction
