"""A guarantee in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .figures import upper

if TYPE_CHECKING:
    from .guarantee import Guarantee

NEIGHBOURS = {
    "replace": "{unit} replaced by any other (the number of records is public)",
    "add_remove": "{unit} added or removed",
}


def statement(guarantee: Guarantee, delta: float) -> str:
    """Unit, neighbours, what was released, epsilon at delta, assumptions."""
    if guarantee.void is not None:
        return f"There is NO differential-privacy guarantee: {guarantee.void}."
    uses = "; ".join(f"{n} x {event.describe()}" for event, n in guarantee.events)
    released = in_units(uses, guarantee.unit) or "nothing"
    epsilon = guarantee.epsilon(delta)
    neighbours = in_units(NEIGHBOURS[guarantee.adjacency].format(unit=guarantee.unit), guarantee.unit)
    return (
        f"This release is ({upper(epsilon, 4)}, {float(delta)!r})-differentially private. "
        f"Protected unit: {guarantee.unit}. Neighbouring data sets differ by {neighbours}. "
        f"Released: {released}. {_conditions(guarantee.assumptions)}"
    )


def in_units(text: str, unit: str) -> str:
    """Return a text about records as one about the unit that is protected: events and settings know no other."""
    return text.replace("record", unit.removeprefix("one "))


def _conditions(assumptions: tuple[str, ...]) -> str:
    if not assumptions:
        return (
            "The guarantee is unconditional: it makes no assumption on convergence. Another run on the same records is "
            "another release, and their costs compose."
        )
    return "The guarantee holds only if: " + "; ".join(assumptions) + "."
