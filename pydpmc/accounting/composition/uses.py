"""Events with their multiplicities: checked and multiplied only here, and merged into few noise levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from ...checks import given, one_of, whole
from ...errors import UnsupportedEventError, WrongType
from ..events.base import ADJACENCIES, Event, Floats

MOST_LEVELS, FEW_LEVELS = 160, 96  # more than the first number of noise levels are merged into the second number
LARGEST_MU = 1e100  # such a release reveals everything, and powers of a larger mu would overflow
Use = tuple[Event, int]
Uses = tuple[Use, ...]
Price = TypeVar("Price", float, Floats)


def checked(items: Iterable[tuple[Event, int]], adjacency: str) -> Uses:
    """Merge equal events; refuse an event without a proven rule under this adjacency."""
    one_of(adjacency, "adjacency", sorted(ADJACENCIES, reverse=True))
    if not isinstance(items, Iterable):
        raise WrongType(f"items must be pairs (event, number of times), not {given(items)}")
    merged: dict[Event, int] = {}
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise WrongType(f"items must be pairs (event, number of times), not {given(item)}")
        event, n = item
        if not isinstance(event, Event):
            raise UnsupportedEventError(f"items must hold accounting events such as Gaussian(2.0), not {given(event)}")
        if adjacency not in event.adjacencies:
            raise UnsupportedEventError(f"no accounting rule is proven for {event!r} under {adjacency!r}")
        n = whole(n, "number of times", least=0)
        if n:
            merged[event] = merged.get(event, 0) + n
    return tuple(merged.items())


def total_square(uses: Uses, adjacency: str) -> float:
    """Return the sum of mu^2 over unsampled Gaussians, rounded up; infinite if it exceeds all doubles."""
    levels = [(event.gaussian_mu(adjacency) or 0.0, n) for event, n in uses]
    if any(mu > LARGEST_MU for mu, _ in levels):
        return math.inf
    return math.fsum(n * mu**2 for mu, n in levels) * (1.0 + 2.0**-50)


def total(uses: Uses, price: Callable[[Event], Price]) -> Price:
    """Return the price of one use, summed over all uses."""
    first, *rest = [n * price(event) for event, n in uses]
    for cost in rest:
        first = first + cost
    return first


def bucketed(items: Sequence[Use]) -> list[Use]:
    """Return a composition with few distinct levels; each event is replaced by one at least as costly."""
    return list(items) if len(items) <= MOST_LEVELS else _merged(items, FEW_LEVELS, middle=False)


def coarsened(items: Sequence[Use], levels: int) -> list[Use]:
    """Approximate the composition with few distinct levels; no bound may rest on the result."""
    return list(items) if len(items) <= levels else _merged(items, levels, middle=True)


def families(items: Sequence[Use]) -> list[list[Use]]:
    """Return the uses of each family; an event without levels is a family of its own."""
    found: dict[tuple[object, ...], list[Use]] = {}
    for event, n in items:
        level = event.level
        found.setdefault((event,) if level is None else level[0], []).append((event, n))
    return list(found.values())


def size_of(use: Use) -> float:
    """Return the size of an event in its family; 0 if it has no levels."""
    level = use[0].level
    return 0.0 if level is None else level[1]


def _merged(items: Sequence[Use], levels: int, middle: bool) -> list[Use]:
    return [use for family in families(items) for use in _cut(family, 1 + levels * len(family) // len(items), middle)]


def _cut(family: Sequence[Use], parts: int, middle: bool) -> list[Use]:
    """Cut the family into parts and replace each part by its costliest, or by its middle, event.

    A use costs about the square of its size. A part of m uses whose squares fall by d wastes about m d / 2, so the
    waste is least if all parts have equal sums of sqrt(m d).
    """
    if len(family) <= parts:
        return list(family)
    order = sorted((*_cost_order(use), k) for k, use in enumerate(family))
    costliest_first = [family[k] for *_, k in order]
    counts = np.array([n for _, n in costliest_first])
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.array([size for size, *_ in order]) ** 2
        spread = np.append(0.0, np.cumsum(np.sqrt(np.maximum(-np.diff(squares), 0.0) * counts[1:])))
    if not np.isfinite(spread[-1]):
        return list(family)
    starts = np.searchsorted(spread, np.linspace(0.0, spread[-1], parts, endpoint=False))
    starts = starts[np.append(True, np.diff(starts) > 0)]
    chosen = (starts + np.append(starts[1:], len(family)) - 1) // 2 if middle else starts
    return [(costliest_first[i][0], int(n)) for i, n in zip(chosen, np.add.reduceat(counts, starts), strict=True)]


def _cost_order(use: Use) -> tuple[float, float]:
    """Return the sort key, costliest first; reciprocals of different noise multipliers may round to the same size."""
    return -size_of(use), getattr(use[0], "noise_multiplier", 0.0)
