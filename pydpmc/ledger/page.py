"""The pages that ``pydpmc ledger`` prints."""

from __future__ import annotations

from ..checks import visible
from ..rounding import lower, upper
from .ledger import Ledger


def show(ledger: Ledger) -> str:
    """Return the budget, what remains of it, and what it protects."""
    entries, spent = ledger.history(), ledger.spent()
    unit = f"{spent.unit}, adjacency {spent.adjacency!r}" if entries else "set by the first run"
    unfinished = sum(not entry.finished for entry in entries)
    lines = [
        ("budget", f"epsilon = {ledger.epsilon:g} at delta = {ledger.delta!r}, for everything together"),
        ("protects", unit),
        ("runs", f"{len(entries)} run{'' if len(entries) == 1 else 's'}, {unfinished} of them not finished"),
        ("left", f"epsilon = {lower(ledger.remaining, 4)} at delta = {ledger.delta!r}, for a run of Gaussian shape"),
        ("spent", f"epsilon = {upper(spent.epsilon(ledger.delta), 4)}, if no run was chosen from earlier results"),
    ]
    lines += [("assumes", text) for text in _conditions(ledger)]
    return "\n".join([f"Ledger {ledger.path}", "", *(f"  {name:<12}{text}" for name, text in lines)])


def history(ledger: Ledger) -> str:
    """Return one line for each run, then the assumptions of conditional guarantees."""
    rows = [("", "reserved (UTC)", "sampler", "steps", "chains", "epsilon alone", "state")]
    for entry in ledger.history():
        state = "finished" if entry.finished else "not finished, counts in full"
        rows.append(
            (
                str(entry.number),
                visible(entry.time.removesuffix("+00:00")),
                visible(str(entry.plan.get("sampler", "-"))),
                visible(str(entry.plan.get("steps", "-"))),
                visible(str(entry.plan.get("chains", "-"))),
                upper(entry.guarantee.epsilon(ledger.delta), 4) + (", if" if entry.guarantee.assumptions else ""),
                state + (f", resumed {entry.resumed} x" if entry.resumed else ""),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([*table, *(f"holds only if, {text}" for text in _conditions(ledger))])


def _conditions(ledger: Ledger) -> list[str]:
    """Return each assumption of a run, with the numbers of the runs that rest on it."""
    runs: dict[str, list[int]] = {}
    for entry in ledger.history():
        for text in entry.guarantee.assumptions:
            runs.setdefault(text, []).append(entry.number)
    return [f"run {', '.join(map(str, numbers))}: {text}" for text, numbers in runs.items()]


def verify(ledger: Ledger) -> str:
    """Verify the ledger and return the result as text."""
    ledger.verify()
    return f"{ledger.path}: intact, {len(ledger.history())} run(s), each charged what it costs"


PAGES = {"show": show, "history": history, "verify": verify}
