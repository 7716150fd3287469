"""A guarantee as a paragraph of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checks import visible
from ..rounding import upper

if TYPE_CHECKING:
    from .guarantee import Guarantee

NEIGHBOURS = {
    "replace": "{unit} replaced by any other (the number of {units} is public)",
    "add_remove": "{unit} added or removed",
}


def statement(guarantee: Guarantee, delta: float) -> str:
    """Return epsilon at delta, the unit, the neighbours, what was released, and the assumptions."""
    if guarantee.void is not None:
        return f"There is NO differential-privacy guarantee: {visible(guarantee.void)}."
    released = "; ".join(f"{n} x {event.describe()}" for event, n in guarantee.events) or "nothing"
    released = released.replace("record", guarantee.unit.removeprefix("one "))  # events always speak of records
    epsilon = guarantee.epsilon(delta)
    neighbours = NEIGHBOURS[guarantee.adjacency].format(unit=guarantee.unit, units=units_of(guarantee.unit))
    return visible(
        f"{_lead(guarantee.assumptions)} ({upper(epsilon, 4)}, {float(delta)!r})-differentially private. "
        f"Protected unit: {guarantee.unit}. Neighbouring data sets differ by {neighbours}. "
        f"Released: {released}. {_precision(guarantee.total_variation)}{_conditions(guarantee.assumptions)}"
    )


def _precision(total_variation: float) -> str:
    if total_variation == 0.0:
        return ""
    return (
        f"The random numbers have finite precision: their law is within {upper(total_variation, 2)} of the stated one "
        "in total variation, which is charged to delta. "
    )


def units_of(unit: str) -> str:
    """Return "records" for "one record"."""
    return unit.removeprefix("one ") + "s"


def _lead(assumptions: tuple[str, ...]) -> str:
    return "If the assumptions below hold, this release is" if assumptions else "This release is"


def _conditions(assumptions: tuple[str, ...]) -> str:
    if not assumptions:
        return (
            "The guarantee is unconditional: it does not assume that the chains converged. Another run on the same "
            "records is another release, and the costs compose."
        )
    return "The guarantee holds only if: " + "; ".join(assumptions) + "."
