"""The common grid on which the events of a composition are discretised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..events.base import Event, Floats
from ..loss.privacy_loss import LARGEST_EXPONENT
from .uses import families, size_of

FINEST, COARSEST = 1e-4, 2e-3  # discretisation adds a share of the variance between these
# A finer grid than the largest would need much memory, and its round-off costs more epsilon than its cells save.
USUAL_POINTS, LARGEST_POINTS, ALL_POINTS = 4e5, 5e5, 6e6
ROUGH_FINEST, ROUGH_COARSEST, ROUGH_POINTS = 1e-2, 5e-2, 2e4
HOPELESS = 1e-3  # no useful composition has an event with so large a probability of an infinite loss
SCALED_LEVELS = 12  # the scale of a family's losses is interpolated from this many levels


@lru_cache(maxsize=4096)
def loss_scale(event: Event, adjacency: str) -> tuple[float, float]:
    """Return variance and mean absolute value of the loss of one use, within a few percent."""
    step = _largest_finite(event, adjacency) / 256
    for _ in range(5):  # at most a million cells
        losses = event.privacy_loss(adjacency, step)
        variance, size = (max(column) for column in zip(*(loss.moments() for loss in losses), strict=True))
        if step <= 0.3 * math.sqrt(variance) or max(loss.infinity for loss in losses) > HOPELESS:
            break
        step /= 8
    return variance, size


def loss_scales(events: Sequence[Event], adjacency: str) -> Floats:
    """Return `loss_scale` of each event, one row per event, interpolated if a family has many levels."""
    scales = np.empty((len(events), 2))
    for family in families([(event, k) for k, event in enumerate(events)]):
        family.sort(key=size_of)
        places = [k for _, k in family]
        known = np.unique(np.linspace(0, len(family) - 1, SCALED_LEVELS).astype(int))
        logs = np.log(np.maximum([loss_scale(family[k][0], adjacency) for k in known], 1e-300))
        sizes = np.log([max(size_of(use), 1e-300) for use in family])
        scales[places] = np.exp(np.transpose([np.interp(sizes, sizes[known], column) for column in logs.T]))
    return scales


def choose_step(items: Sequence[tuple[Event, int]], adjacency: str, rough: bool = False) -> float:
    """Return a step with a small discretisation error, which adds variance, and a short transform.

    A cell of width h adds at most h^2/4 to the variance of one use and at most h times its mean |loss|.
    """
    counts = np.array([n for _, n in items], dtype=float)
    variance, size = loss_scales([event for event, _ in items], adjacency).T
    total = float(counts @ variance)
    span = 18 * math.sqrt(total) + 2 * max(_largest_finite(event, adjacency) for event, _ in items)

    def widest(share: float) -> float:
        low, high = -40.0, 10.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            h = math.exp(middle)
            added = float(counts @ np.minimum(h * h / 4, h * size))
            low, high = (middle, high) if added <= share * total else (low, middle)
        return math.exp(low)

    if rough:
        return max(widest(ROUGH_FINEST), min(widest(ROUGH_COARSEST), span / ROUGH_POINTS), span / LARGEST_POINTS)
    affordable = span / min(USUAL_POINTS, ALL_POINTS / len(items))
    step = max(widest(FINEST), min(widest(COARSEST), affordable), span / LARGEST_POINTS)
    return _snapped(step, items, counts * variance, adjacency)


def _largest_finite(event: Event, adjacency: str) -> float:
    """Return the end of the grid: larger losses count as infinite, because their exponential nearly overflows."""
    return min(event.largest_loss(adjacency), LARGEST_EXPONENT)


def _snapped(step: float, items: Sequence[tuple[Event, int]], weights: Floats, adjacency: str) -> float:
    """Adjust the step to divide the pure epsilon of the main event, so that its extreme atoms lie on the grid."""
    pure = items[int(np.argmax(weights))][0].pure_epsilon(adjacency)
    if pure > LARGEST_EXPONENT:
        return step
    return pure / math.ceil(pure / step) * (1 + 1e-15)
