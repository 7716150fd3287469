"""The registry of event types, through which saved guarantees are read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...checks import given, number
from ...errors import InvalidArgument, UnsupportedEventError, WrongType
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
    """Return the name and the parameters of an event."""
    if type(event) not in EVENT_TYPES:
        raise UnsupportedEventError(f"{type(event).__name__} is not a registered event type")
    return {"type": type(event).__name__, **asdict(event)}  # type: ignore[call-overload]


def event_from_dict(saved: dict[str, Any]) -> Event:
    """Return the event with this name and these parameters; refuse an unknown name."""
    if not isinstance(saved, dict) or not isinstance(saved.get("type"), str):
        raise WrongType("a saved event must be a mapping with its type and its parameters")
    types = {event_type.__name__: event_type for event_type in EVENT_TYPES}
    parameters = {name: value for name, value in saved.items() if name != "type"}
    if saved.get("type") not in types:
        raise UnsupportedEventError(f"no event type is called {saved.get('type')!r}")
    try:
        return types[saved["type"]](**parameters)
    except TypeError:  # an unknown parameter, or a value of the wrong type
        raise WrongType(f"these are not the parameters of {saved['type']}") from None


def require_types(saved: Any) -> None:
    """Refuse a saved guarantee whose fields are not of the types that `Guarantee.to_dict` writes."""
    if not isinstance(saved, dict) or not all(isinstance(saved.get(name), list) for name in ("events", "assumptions")):
        raise WrongType(f"a saved guarantee must be a mapping with events and assumptions, not {given(saved)}")
    void = [] if saved.get("void") is None else [saved["void"]]
    if not all(isinstance(text, str) for text in (*saved["assumptions"], saved.get("unit"), *void)):
        raise WrongType("assumptions, unit and void of a saved guarantee must be texts")
    if not all(isinstance(use, (list, tuple)) and len(use) == 2 for use in saved["events"]):
        raise WrongType("events of a saved guarantee must be pairs (event, number of times)")
    if not 0.0 <= number(saved.get("total_variation"), "total_variation") <= 1.0:
        raise InvalidArgument("total_variation of a saved guarantee must lie in [0, 1]")
