"""What a run of SGLD with a diagonal preconditioner is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import STABILITY
from .settings import GradientSettings

LEAST_WITHOUT_BOUND = 0.001  # of the preconditioner, where no bound of the curvature is public


@dataclass(frozen=True)
class PreconditionedSettings(GradientSettings):
    """A fully specified run of preconditioned SGLD."""

    curvature: float | None = None  # public bound, or None

    @property
    def largest_curvature(self) -> float:
        """Where the estimate of every coordinate's curvature starts, and what it never exceeds.

        It estimates the variance that the choice of the batch gives to g as well, which is about this many times more.
        """
        if self.curvature is not None:
            return self.curvature * (1.0 + self.w * (1.0 / self.rate - 1.0))
        return STABILITY * (1.0 / LEAST_WITHOUT_BOUND - 1.0) / float(self.step_sizes.max())

    @property
    def least(self) -> float:
        """The least that the preconditioner can be."""
        return 1.0 / (1.0 + float(self.step_sizes.max()) * self.largest_curvature / STABILITY)

    @property
    def core_parameters(self) -> dict[str, list[float]]:
        """What the preconditioner is made of."""
        return {"largest_curvature": [self.largest_curvature], "stability": [STABILITY], "heat": [self.heat]}

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return super().describe() | {"preconditioner": "diagonal"}

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that say what runs."""
        text = f"diagonal, {self.least:.2g} to 1, from released gradients alone (costs nothing)"
        return [*super().rows(size), ("preconditioner", text)]
