"""Statistics of a run without privacy, which depend on the records and which no guarantee covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SamplerStats:
    """Statistics of NUTS, one entry per chain. Only a result without privacy has them.

    Attributes
    ----------
    divergences
        Draws whose trajectory was stopped because its energy error exceeded 1000.
    tree_depth
        Mean number of doublings of a trajectory.
    saturated
        Draws whose trajectory was stopped by ``max_depth``.
    step_size
        The tuned step size.
    accept
        Mean acceptance probability.
    gradients
        Evaluations of the log density and its gradient, warm-up included.
    """

    divergences: tuple[int, ...]
    tree_depth: tuple[float, ...]
    saturated: tuple[int, ...]
    step_size: tuple[float, ...]
    accept: tuple[float, ...]
    gradients: tuple[int, ...]


def sampler_stats(core: Any, kept: int) -> SamplerStats | None:
    """Return the statistics of a core run after `kept` draws of each chain; None if it has none."""
    if not hasattr(core, "depth_sum"):
        return None
    return SamplerStats(
        divergences=tuple(core.divergences),
        tree_depth=tuple(total / max(1, kept) for total in core.depth_sum),
        saturated=tuple(core.deepest),
        step_size=tuple(core.step_size),
        accept=tuple(total / max(1, kept) for total in core.accept_sum),
        gradients=tuple(core.gradients),
    )
