"""Events with their multiplicities: checked once, multiplied here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

from ...checks import given, one_of, whole
from ...errors import UnsupportedEventError, WrongType
from ..events.base import ADJACENCIES, Event, Floats

Uses = tuple[tuple[Event, int], ...]
Price = TypeVar("Price", float, Floats)


def checked(items: Iterable[tuple[Event, int]], adjacency: str) -> Uses:
    """Equal events merged; anything without a proven rule under this adjacency refused."""
    one_of(adjacency, "adjacency", sorted(ADJACENCIES, reverse=True))
    if not isinstance(items, Iterable):
        raise WrongType(f"items must be pairs (event, number of times), not {given(items)}")
    merged: dict[Event, int] = {}
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise WrongType(f"items must be pairs (event, number of times), not {given(item)}")
        event, n = item
        if not isinstance(event, Event):
            raise UnsupportedEventError(f"an accounting event such as Gaussian(2.0) is needed, not {given(event)}")
        if adjacency not in event.adjacencies:
            raise UnsupportedEventError(f"no accounting rule is proven for {event!r} under {adjacency!r}")
        n = whole(n, "number of times", least=0)
        if n:
            merged[event] = merged.get(event, 0) + n
    return tuple(merged.items())


def total_square(uses: Uses, adjacency: str) -> float:
    """The sum of mu^2 over unsampled Gaussians, rounded up."""
    return math.fsum(n * (event.gaussian_mu(adjacency) or 0.0) ** 2 for event, n in uses) * (1.0 + 2.0**-50)


def total(uses: Uses, price: Callable[[Event], Price]) -> Price:
    """The price of one use, summed over all uses."""
    first, *rest = [n * price(event) for event, n in uses]
    for cost in rest:
        first = first + cost
    return first
