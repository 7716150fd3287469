"""A guarantee: what was released, under which neighbours, and what follows for epsilon and delta."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from ..checks import given, number
from ..errors import InvalidArgument, WrongType
from .composition.bounds import bounds_of
from .composition.threshold import least_epsilon
from .composition.uses import Uses, checked, total
from .events.base import Event
from .events.registry import event_from_dict, event_to_dict, require_types
from .statement import statement

if TYPE_CHECKING:
    from dp_accounting import DpEvent


@dataclass(frozen=True, repr=False)
class Guarantee:
    """Differential privacy of everything released, as a curve: `epsilon(delta)` and `delta(epsilon)`.

    `assumptions` is empty exactly when the guarantee is unconditional. `void` says why there is no guarantee, or is
    None. `total_variation` bounds the distance between the released random numbers, which have finite precision, and
    the events as described; it adds (1 + e^epsilon) total_variation to delta.
    """

    events: Uses
    adjacency: str = "replace"
    assumptions: tuple[str, ...] = ()
    void: str | None = None
    unit: str = "one record"
    total_variation: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", checked(self.events, self.adjacency))
        object.__setattr__(self, "assumptions", tuple(dict.fromkeys(self.assumptions)))

    def epsilon(self, delta: float) -> float:
        """Smallest proven epsilon at this delta; infinite if the guarantee is void."""
        if not 0.0 <= number(delta, "delta") < 1.0:
            raise InvalidArgument(f"delta must lie in [0, 1), not {delta!r}")
        if self.void is not None:
            return math.inf
        exact = _epsilon(self._ordered, self.adjacency, float(delta))
        return exact if self.total_variation == 0.0 else self._epsilon_with_variation(exact, float(delta))

    def delta(self, epsilon: float) -> float:
        """Smallest proven delta at this epsilon; 1 if the guarantee is void."""
        if not number(epsilon, "epsilon") >= 0.0:
            raise InvalidArgument(f"epsilon must be at least 0, not {epsilon!r}")
        if self.void is not None:
            return 1.0
        return min(1.0, _delta(self._ordered, self.adjacency, float(epsilon)) + self._variation_cost(epsilon))

    @cached_property
    def _ordered(self) -> Uses:
        """The events in a canonical order, so that the cache prices equal compositions once."""
        return tuple(sorted(self.events, key=repr))

    def _variation_cost(self, epsilon: float) -> float:
        if self.total_variation == 0.0:
            return 0.0
        return (1.0 + math.exp(epsilon)) * self.total_variation if epsilon < 700.0 else math.inf

    def _epsilon_with_variation(self, exact: float, delta: float) -> float:
        """Return nearly the smallest epsilon with delta(epsilon) + (1 + e^epsilon) total_variation <= delta."""
        guess = exact * (1.0 + 1e-6) + 1e-9
        # A fixed-point iteration from below: the result exceeds the smallest epsilon by at most 1e-6 of it.
        for _ in range(8):
            left = delta - self._variation_cost(guess)
            if left <= 0.0:
                return math.inf
            needed = _epsilon(self._ordered, self.adjacency, left)
            if needed <= guess:
                return guess
            guess = needed * (1.0 + 1e-6) + 1e-9
        if not delta > 2.0 * self.total_variation:
            return math.inf
        return least_epsilon(self.delta, delta, exact, math.log(delta / self.total_variation))

    def statement(self, delta: float = 1e-6) -> str:
        """Return the guarantee as a paragraph of text."""
        return statement(self, delta)

    def __repr__(self) -> str:
        uses = ", ".join(f"({event!r}, {n})" for event, n in self.events)
        void = f", void={self.void!r}" if self.void is not None else ""
        unit = f", unit={self.unit!r}" if self.unit != "one record" else ""
        variation = f", total_variation={self.total_variation:.3g}" if self.total_variation else ""
        shown = f"adjacency={self.adjacency!r}, assumptions={self.assumptions!r}{variation}{void}{unit}"
        return f"Guarantee([{uses}], {shown})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, strings and lists, e.g. for JSON."""
        return {
            "events": [[event_to_dict(event), n] for event, n in self.events],
            "adjacency": self.adjacency,
            "assumptions": list(self.assumptions),
            "void": self.void,
            "unit": self.unit,
            "total_variation": self.total_variation,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Guarantee:
        """Invert `to_dict`; refuse an unknown event or a value of the wrong type."""
        require_types(saved)
        return cls(
            events=tuple((event_from_dict(event), n) for event, n in saved["events"]),
            adjacency=saved["adjacency"],
            assumptions=tuple(saved["assumptions"]),
            void=saved["void"],
            unit=saved["unit"],
            total_variation=saved["total_variation"],
        )

    def to_dp_accounting(self) -> DpEvent:
        """Return the same events as a `dp_accounting.DpEvent` (extra ``pydpmc[accounting]``).

        Price it under the same neighbours: ``NeighboringRelation.REPLACE_ONE`` for `replace`. No accountant of that
        library then states a smaller epsilon than `epsilon` does; its PLD accountant states a larger one for Gaussians
        without sampling. A DpEvent cannot express `total_variation`: up to 1e-9 it is left out, and you must add
        (1 + e^epsilon) total_variation to any delta computed from the event; a larger one is refused.
        """
        from .interchange import to_dp_accounting

        return to_dp_accounting(self)


def compose(
    items: Iterable[tuple[Event, int] | Guarantee],
    adjacency: str = "replace",
    *,
    assumptions: Sequence[str] = (),
    void: str | None = None,
    unit: str = "one record",
    total_variation: float = 0.0,
) -> Guarantee:
    """Return the guarantee of the adaptive composition of events, each used a number of times.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> bits, noise = acc.AcceptBit(shift=0.02), acc.Gaussian(noise_multiplier=5.0).poisson(rate=0.01)
    >>> g = acc.compose([(bits, 500), (noise, 500)], adjacency="replace")
    >>> 0 < g.epsilon(1e-6) < 3
    True
    """
    if not isinstance(items, Iterable):
        raise WrongType(f"items must be pairs (event, number of times) or guarantees, not {given(items)}")
    items = list(items)
    uses = [item for item in items if not isinstance(item, Guarantee)]
    earlier = [item for item in items if isinstance(item, Guarantee)]
    own = Guarantee(tuple(uses), adjacency, tuple(assumptions), void, unit, total_variation)
    return combine([own, *earlier])


def combine(guarantees: Sequence[Guarantee]) -> Guarantee:
    """Return the guarantee of several releases about the same records together.

    All must have the same adjacency and the same unit; assumptions and reasons for being void accumulate.
    """
    if not guarantees:
        raise InvalidArgument("guarantees must hold at least one guarantee")
    first, *rest = guarantees
    if not rest:
        return first
    for other in rest:
        if (other.adjacency, other.unit) != (first.adjacency, first.unit):
            raise InvalidArgument(
                f"cannot combine a guarantee for {first.unit} under {first.adjacency!r} with one for "
                f"{other.unit} under {other.adjacency!r}: unit and adjacency must be the same"
            )
    holding = [g for g in guarantees if g.events or g.assumptions or g.void is not None or g.total_variation]
    if len(holding) == 1:
        return holding[0]
    reasons = [g.void for g in guarantees if g.void is not None]
    return Guarantee(
        events=tuple(use for g in guarantees for use in g.events),
        adjacency=first.adjacency,
        assumptions=tuple(text for g in guarantees for text in g.assumptions),
        void="; ".join(dict.fromkeys(reasons)) if reasons else None,
        unit=first.unit,
        total_variation=sum(g.total_variation for g in guarantees),
    )


@lru_cache(maxsize=256)
def _epsilon(uses: Uses, adjacency: str, delta: float) -> float:
    if not uses:
        return 0.0
    if delta == 0.0:
        return total(uses, lambda event: event.pure_epsilon(adjacency)) * (1 + 1e-14)
    return min((bound.epsilon(delta) for bound in bounds_of(uses, adjacency)), default=math.inf)


@lru_cache(maxsize=256)
def _delta(uses: Uses, adjacency: str, epsilon: float) -> float:
    return min((bound.delta(epsilon) for bound in bounds_of(uses, adjacency)), default=1.0) if uses else 0.0
