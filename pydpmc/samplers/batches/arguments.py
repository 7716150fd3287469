"""The core's arguments for drawing batches, and the total variation of the batches from their law."""

from __future__ import annotations

from typing import Any

from .gap_tables import AliasTable, gap_tables, most_members, raised_rate

# Total variation between the batch of one step and its accounted law: docs/privacy/sgld.md, lemma 4.
SUBSET_ERROR = 2.0**-100
POISSON_ERROR = 2.0**-60
BATCH_ERRORS = {"full": 0.0, "without_replacement": SUBSET_ERROR, "poisson": POISSON_ERROR}


def batch_arguments(core: Any, sampling: str, n: int, b: int, rate: float) -> dict[str, Any]:
    """Return the arguments of a core run that define how batches are drawn."""
    if sampling == "full":
        return {"gaps": None, "most": 0}
    if sampling == "poisson":
        return {"gaps": _compiled(core, rate), "most": most_members(n, rate)}
    return subset_arguments(core, n, b)


def subset_arguments(core: Any, n: int, b: int) -> dict[str, Any]:
    """Return the arguments for batches of b of n records without replacement."""
    rate = raised_rate(n, b)
    return {"gaps": _compiled(core, rate), "most": most_members(n, rate)}


def _compiled(core: Any, rate: float) -> Any:
    tables = gap_tables(rate)
    remainder = None if tables.remainder is None else _columns(tables.remainder)
    return core.random.GapTables(tables.rate, tables.overflow, _columns(tables.gap), remainder)


def _columns(table: AliasTable) -> tuple[Any, Any, Any]:
    return table.entry, table.tail_high, table.tail_low
