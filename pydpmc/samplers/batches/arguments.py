"""Which records a step looks at: what the compiled core needs to draw them, and how exact their law is."""

from __future__ import annotations

from typing import Any

from .gap_tables import AliasTable, gap_tables, most_members, raised_rate

# Total variation between the batch of one step and the law that is accounted: docs/privacy/sgld.md, lemma 4.
SUBSET_ERROR = 2.0**-100
POISSON_ERROR = 2.0**-60
BATCH_ERRORS = {"full": 0.0, "without_replacement": SUBSET_ERROR, "poisson": POISSON_ERROR}


def batch_arguments(core: Any, sampling: str, n: int, b: int, rate: float) -> dict[str, Any]:
    """Return the arguments of a run in the core that say how batches are drawn."""
    if sampling == "full":
        return {"gaps": None, "most": 0}
    if sampling == "poisson":
        return {"gaps": _compiled(core, rate), "most": most_members(n, rate)}
    return subset_arguments(core, n, b)


def subset_arguments(core: Any, n: int, b: int) -> dict[str, Any]:
    """Return the same for b of n without replacement."""
    rate = raised_rate(n, b)
    return {"gaps": _compiled(core, rate), "most": most_members(n, rate)}


def _compiled(core: Any, rate: float) -> Any:
    tables = gap_tables(rate)
    remainder = None if tables.remainder is None else _columns(tables.remainder)
    return core.random.GapTables(tables.rate, tables.overflow, _columns(tables.gap), remainder)


def _columns(table: AliasTable) -> tuple[Any, Any, Any]:
    return table.entry, table.tail_high, table.tail_low
