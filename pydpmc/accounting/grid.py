"""The common grid on which the events of a composition are discretised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .events import Event, Floats

FINEST, COARSEST = 1e-4, 2e-3  # share of the variance that discretisation may add
USUAL_POINTS, LARGEST_POINTS, ALL_POINTS = 4e5, 8e6, 6e6
MOST_LEVELS = 160
COARSEST_RATIO = 1.02


@lru_cache(maxsize=4096)
def loss_scale(event: Event, adjacency: str) -> tuple[float, float]:
    """Variance and mean absolute value of the loss of one use, within a few percent."""
    step = event.largest_loss(adjacency) / 256
    for _ in range(6):
        moments = [loss.moments() for loss in event.privacy_loss(adjacency, step)]
        variance, size = (max(column) for column in zip(*moments, strict=True))
        if step <= 0.3 * math.sqrt(variance):
            break
        step /= 8
    return variance, size


def choose_step(items: Sequence[tuple[Event, int]], adjacency: str) -> float:
    """A step whose discretisation error is small (it adds variance) and whose transform is short.

    A cell of width h adds at most h^2/4 to the variance of one use and at most h times its mean |loss|.
    """
    counts = np.array([n for _, n in items], dtype=float)
    variance, size = np.array([loss_scale(event, adjacency) for event, _ in items]).T
    total = float(counts @ variance)
    span = 18 * math.sqrt(total) + 2 * max(event.largest_loss(adjacency) for event, _ in items)

    def widest(share: float) -> float:
        low, high = -40.0, 10.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            h = math.exp(middle)
            added = float(counts @ np.minimum(h * h / 4, h * size))
            low, high = (middle, high) if added <= share * total else (low, middle)
        return math.exp(low)

    affordable = span / min(USUAL_POINTS, ALL_POINTS / len(items))
    step = max(widest(FINEST), min(widest(COARSEST), affordable), span / LARGEST_POINTS)
    return _snapped(step, items, counts * variance, adjacency)


def _snapped(step: float, items: Sequence[tuple[Event, int]], weights: Floats, adjacency: str) -> float:
    """The step made to divide the pure epsilon of the main event: its extreme atoms then lie on the grid."""
    pure = items[int(np.argmax(weights))][0].pure_epsilon(adjacency)
    if not math.isfinite(pure):
        return step
    return pure / math.ceil(pure / step) * (1 + 1e-15)


def bucketed(items: Sequence[tuple[Event, int]]) -> list[tuple[Event, int]]:
    """The same composition with few distinct levels; each event is replaced by one at least as costly."""
    if len(items) <= MOST_LEVELS:
        return list(items)
    for ratio in (1.002, 1.004, 1.007, 1.01, COARSEST_RATIO):
        merged: dict[Event, int] = {}
        for event, n in items:
            rounded = event.rounded_up(ratio)
            merged[rounded] = merged.get(rounded, 0) + n
        if len(merged) <= MOST_LEVELS:
            break
    return list(merged.items())
