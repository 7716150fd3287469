"""Events with their multiplicities: checked once, multiplied here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..errors import InvalidArgument, UnsupportedEventError
from .events import ADJACENCIES, Event, Floats

Uses = tuple[tuple[Event, int], ...]
Price = TypeVar("Price", float, Floats)


def checked(items: Iterable[tuple[Event, int]], adjacency: str) -> Uses:
    """Equal events merged; anything without a proven rule under this adjacency refused."""
    if adjacency not in ADJACENCIES:
        raise InvalidArgument(f"adjacency must be 'replace' or 'add_remove', not {adjacency!r}")
    merged: dict[Event, int] = {}
    for event, n in items:
        if not isinstance(event, Event):
            raise UnsupportedEventError(f"{event!r} is not an accounting event")
        if adjacency not in event.adjacencies:
            raise UnsupportedEventError(f"no accounting rule is proven for {event!r} under {adjacency!r}")
        if isinstance(n, bool) or int(n) != n or n < 0:
            raise InvalidArgument(f"an event is used a whole number of times, not {n!r}")
        if n:
            merged[event] = merged.get(event, 0) + int(n)
    return tuple(merged.items())


def total(uses: Uses, price: Callable[[Event], Price]) -> Price:
    """The price of one use, summed over all uses."""
    first, *rest = [n * price(event) for event, n in uses]
    for cost in rest:
        first = first + cost
    return first
