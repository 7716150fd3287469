"""The state of a ledger, read from its records: tables, runs and the remaining budget."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..accounting import Guarantee
from ..accounting.filter import Charge, PrivacyFilter
from ..checks import number, positive, small_delta
from ..errors import BudgetError, InvalidArgument, LedgerError, PydpmcError
from .chain import Record, damaged

if TYPE_CHECKING:
    from ..data.data import Data

FORMAT = 1
NOT_OURS = "its records are not those of a ledger"
FIELDS: dict[str, dict[str, Any]] = {  # of the records of each kind, by type
    "reserve": {
        **dict.fromkeys(("ticket", "time", "version"), str),
        **dict.fromkeys(("plan", "guarantee", "charge"), dict),
        "table": (str, type(None)),
    },
    "admit": {"table": str},
    "resume": {"ticket": str, "times": int, "token": (str, type(None))},
    "stop": {"ticket": str, "token": str},
    "commit": {"ticket": str},
}
REPRICED = 1 + 1e-6  # tolerance for other versions of the mathematical library


@dataclass(frozen=True)
class Entry:
    """One run in a ledger.

    Attributes
    ----------
    number
        Its place in the ledger, from 1.
    time
        When it was reserved, in UTC.
    plan, guarantee, version
        What was to run, what it costs, and which version of pydpmc ran it.
    finished
        Whether the run came to its end. It counts in full if not.
    resumed
        How often it was resumed from a checkpoint.
    """

    number: int
    time: str
    plan: Mapping[str, Any]
    guarantee: Guarantee
    version: str
    finished: bool
    resumed: int


class State:
    """A reading of the records; it changes nothing."""

    def __init__(self, path: Path | str, records: list[Record]) -> None:
        self.path, (header, *rest) = path, records
        if not isinstance(header, dict):
            raise damaged(path, NOT_OURS)
        if header.get("format") != FORMAT:
            raise LedgerError(f"a newer pydpmc wrote the ledger {path}: format {header.get('format')!r}")
        self._of_kind: dict[str, list[Record]] = {kind: [] for kind in FIELDS}
        for record in rest:
            self._of_kind[_kind(path, record)].append(record)
        self._moves = [record for record in rest if record["kind"] in ("resume", "stop")]
        self.filter = _budget(path, header, self.reservations)

    @property
    def reservations(self) -> list[Record]:
        """Every run that was charged."""
        return self._of_kind["reserve"]

    @property
    def tables(self) -> set[str]:
        """Fingerprints of the tables that may be used."""
        noted = {record["table"] for kind in ("reserve", "admit") for record in self._of_kind[kind]}
        return noted - {None}

    @property
    def finished(self) -> set[str]:
        """Tickets of the runs that came to their end."""
        return {record["ticket"] for record in self._of_kind["commit"]}

    def require_table(self, table: str) -> None:
        """Refuse a table that is not the one of the earlier runs."""
        if self.tables and table not in self.tables:
            raise LedgerError(
                f"these are not the records of the ledger {self.path}: rows, their order, columns and declared bounds "
                "must be the same. If it is another table of the same people, call ledger.admit(data) once"
            )

    def token(self, ticket: str) -> str:
        """The fencing token of a run: only the checkpoint that holds it may be resumed."""
        for record in reversed(self._moves):
            if record["ticket"] == ticket:
                return record.get("token") or numbered_token(ticket, record["times"])
        return numbered_token(ticket, 0)

    def resumed(self, ticket: str) -> int:
        """How often the run of this ticket was resumed."""
        return max((r["times"] for r in self._of_kind["resume"] if r["ticket"] == ticket), default=0)

    def entries(self) -> tuple[Entry, ...]:
        """Every run, in order."""
        return tuple(
            Entry(
                number=number,
                time=record["time"],
                plan=record["plan"],
                guarantee=self._guarantee(record),
                version=record["version"],
                finished=record["ticket"] in self.finished,
                resumed=self.resumed(record["ticket"]),
            )
            for number, record in enumerate(self.reservations, start=1)
        )

    def _guarantee(self, record: Record) -> Guarantee:
        try:
            return Guarantee.from_dict(record["guarantee"])
        except (PydpmcError, KeyError, TypeError, ValueError, RecursionError):
            raise damaged(self.path, "it holds a guarantee that cannot be read") from None

    def charge(self, guarantee: Guarantee) -> Charge:
        """Return what one more run takes; refuse a run that the ledger cannot hold or pay for."""
        if guarantee.void is not None:
            raise LedgerError(
                f"a ledger takes only runs that have a guarantee, and this run has none: {guarantee.void}"
            )
        for record in self.reservations[:1]:
            first = self._guarantee(record)
            if (guarantee.adjacency, guarantee.unit) != (first.adjacency, first.unit):
                raise LedgerError(
                    f"the ledger {self.path} protects {first.unit} under adjacency {first.adjacency!r}; a run "
                    f"that protects {guarantee.unit} under {guarantee.adjacency!r} cannot be added. "
                    "Plan it with the same unit and adjacency"
                )
        return self.filter.charge(guarantee)

    def reprice(self) -> None:
        """Compare what each run was charged with what it costs."""
        before = PrivacyFilter(self.filter.epsilon, self.filter.delta)
        for entry, noted in zip(self.entries(), self.filter.charges, strict=True):
            try:
                now = before.charge(entry.guarantee)
            except BudgetError:
                raise damaged(self.path, f"run {entry.number} costs more than was left for it") from None
            if any(new > old * REPRICED for new, old in zip(vars(now).values(), vars(noted).values(), strict=True)):
                raise damaged(self.path, f"run {entry.number} was charged less than it costs")
            before = before.after(noted)


def numbered_token(ticket: str, times: int) -> str:
    """The fencing token of a run that was never resumed, or resumed `times` times before tokens were random."""
    return f"{ticket}/{times}"


def fingerprint(key: bytes, data: Data) -> str:
    """A keyed hash of the records as they are stored: bounded, in order, with their groups."""
    known = _fingerprints.get(data)
    if known is not None and known[0] == key:
        return known[1]
    rows = data._rows
    facts = f"{rows.dtype.str} {rows.shape} {data.public.width} {data.public.has_target}"
    mac = hmac.new(key, b"table" + facts.encode() + b"\n", "sha256")
    mac.update(rows.data.cast("B"))
    if data._group_start is not None:
        mac.update(b"groups" + data._group_start.tobytes())
    if data._weights is not None:
        mac.update(b"weights" + data._weights.tobytes())
    _fingerprints[data] = key, mac.hexdigest()
    return mac.hexdigest()


def mark(key: bytes, data: Data, ticket: str) -> str:
    """A keyed hash of the records and the ticket, so that two runs on one table have different marks."""
    return hmac.digest(key, f"run {ticket} {fingerprint(key, data)}".encode(), "sha256").hex()


_fingerprints: WeakKeyDictionary[Data, tuple[bytes, str]] = WeakKeyDictionary()  # records never change


def _kind(path: Path | str, record: Any) -> str:
    """Return the kind of a record that has its fields by type."""
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        raise damaged(path, NOT_OURS)
    if not all(isinstance(record.get(name), types) for name, types in FIELDS[kind].items()):
        raise damaged(path, NOT_OURS)
    return kind


def _budget(path: Path | str, header: Record, reservations: list[Record]) -> PrivacyFilter:
    try:
        budget = positive(header.get("epsilon"), "epsilon"), small_delta(header.get("delta"))
        charges = tuple(Charge(**record["charge"]) for record in reservations)
        if not all(number(taken, name) >= 0.0 for charge in charges for name, taken in vars(charge).items()):
            raise damaged(path, "a charge is negative")
    except (InvalidArgument, TypeError):  # WrongType is a TypeError
        raise damaged(path, NOT_OURS) from None
    return PrivacyFilter(*budget, charges)
