"""Every event type, by name: the list is the registry. Saved guarantees are read through it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...errors import UnsupportedEventError
from .base import Event
from .bounded_range import AcceptBit, BoundedRange
from .gaussian import GDP, Gaussian
from .langevin_iterate import LangevinIterate
from .minibatch_accept_bit import MinibatchAcceptBit
from .poisson_gaussian import PoissonGaussian
from .pure_dp import PureDP
from .without_replacement_gaussian import WithoutReplacementGaussian

EVENT_TYPES: tuple[type[Event], ...] = (
    AcceptBit,
    BoundedRange,
    GDP,
    Gaussian,
    LangevinIterate,
    MinibatchAcceptBit,
    PoissonGaussian,
    PureDP,
    WithoutReplacementGaussian,
)


def event_to_dict(event: Event) -> dict[str, Any]:
    """Name and parameters of an event."""
    if type(event) not in EVENT_TYPES:
        raise UnsupportedEventError(f"{type(event).__name__} is not a registered event type")
    return {"type": type(event).__name__, **asdict(event)}  # type: ignore[call-overload]


def event_from_dict(saved: dict[str, Any]) -> Event:
    """The event of that name and parameters; an unknown name is refused."""
    types = {event_type.__name__: event_type for event_type in EVENT_TYPES}
    parameters = {name: value for name, value in saved.items() if name != "type"}
    if saved.get("type") not in types:
        raise UnsupportedEventError(f"no event type is called {saved.get('type')!r}")
    return types[saved["type"]](**parameters)
