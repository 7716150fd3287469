"""The common grid on which the events of a composition are discretised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .events import Event, Floats

FINEST, COARSEST = 1e-4, 2e-3  # share of the variance that discretisation may add
USUAL_POINTS, LARGEST_POINTS, ALL_POINTS = 4e5, 8e6, 6e6
MOST_LEVELS, FEW_LEVELS = 160, 96  # of events before they are merged, and after


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
    families: dict[tuple[object, ...], list[tuple[Event, int]]] = {}
    for event, n in items:
        level = event.level
        families.setdefault((event,) if level is None else level[0], []).append((event, n))
    return [use for family in families.values() for use in _cut(family, 1 + FEW_LEVELS * len(family) // len(items))]


def _cut(family: Sequence[tuple[Event, int]], parts: int) -> list[tuple[Event, int]]:
    """The family in so many parts, each priced as its costliest.

    A use costs about the square of its size. A part of m uses whose squares fall by d wastes about m d / 2, so parts
    of equal sums of sqrt(m d) waste least.
    """
    if len(family) <= parts:
        return list(family)
    costliest_first = sorted(family, key=_cost_order)
    counts = np.array([n for _, n in costliest_first])
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.array([_size(use) for use in costliest_first]) ** 2
        spread = np.append(0.0, np.cumsum(np.sqrt(np.maximum(-np.diff(squares), 0.0) * counts[1:])))
    if not np.isfinite(spread[-1]):
        return list(family)
    starts = np.searchsorted(spread, np.linspace(0.0, spread[-1], parts, endpoint=False))
    starts = starts[np.append(True, np.diff(starts) > 0)]
    return [(costliest_first[i][0], int(n)) for i, n in zip(starts, np.add.reduceat(counts, starts), strict=True)]


def _cost_order(use: tuple[Event, int]) -> tuple[float, float]:
    """Costliest first. Reciprocals of different noise multipliers may round to one size."""
    return -_size(use), getattr(use[0], "noise_multiplier", 0.0)


def _size(use: tuple[Event, int]) -> float:
    level = use[0].level
    return 0.0 if level is None else level[1]
