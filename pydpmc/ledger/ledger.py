"""Ledger: an append-only record of everything spent on one data set."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .._version import __version__
from ..accounting import Guarantee, combine
from ..accounting.filter import PrivacyFilter
from ..checks import file_path, given, positive, small_delta
from ..data.data import Data, require_data
from ..errors import BudgetError, LedgerError, ResumedElsewhere, WrongType
from ..planning.plan import Plan
from ..rounding import lower
from .address import address, is_url
from .chain import Store
from .file import LedgerFile
from .postgres import LedgerTables
from .state import FORMAT, Entry, State, fingerprint, mark, numbered_token

FIXED_IN_ADVANCE = (
    "the parameters of later runs were not chosen from the results of earlier ones (if they were, only the budget of "
    "the ledger is promised)"
)
RESUMED = (
    "this checkpoint was already resumed, or its run was released or has finished since: to resume it a second time "
    "would release steps that were not charged"
)
ELSEWHERE = "this run was resumed elsewhere from a copy of its checkpoint: its result here must not be released"


class Ledger:
    """The budget of one data set, in a file or a PostgreSQL database shared by everyone who uses that data set.

    A run is reserved, on the disk, before it reads a record, and counts in full from then on, whatever becomes of it.
    All runs together are (epsilon, delta)-DP, also if each is chosen from the results of the earlier ones: see
    ``docs/privacy/ledger.md``. It holds a keyed fingerprint of the records: keep it where the records are kept.

    Parameters
    ----------
    path
        The file, or ``postgresql://user@host/database?ledger=NAME`` for one that several machines share
        (``docs/howto/shared_ledger.md``). It is made if there is none and the budget is given; it is never reset.
    epsilon, delta
        The budget of everything that will ever be released of the data set. Leave them out for an existing ledger.

    Examples
    --------
    >>> import tempfile, numpy as np, pydpmc as dp
    >>> ledger = dp.Ledger(tempfile.mkdtemp() + "/study.ledger", epsilon=3, delta=1e-5)
    >>> data = dp.Data(np.repeat([1.0, 0.0], [6000, 4000]))
    >>> plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6)
    >>> post = plan.run(data, ledger=ledger, progress=False)
    >>> len(ledger.history()), 1 < ledger.remaining < 3
    (1, True)
    """

    def __init__(self, path: str | Path, *, epsilon: float | None = None, delta: float | None = None) -> None:
        self._store = _store(path, "path")
        if epsilon is not None or delta is not None:
            self._create(epsilon, delta)
        elif not self._store.exists():
            raise LedgerError(
                f"ledger: there is no {self.path}; make it with pydpmc.Ledger(path, epsilon=..., delta=...) "
                f"or with `pydpmc ledger create '{self.path}' --epsilon ... --delta ...`"
            )
        state = self._state()
        self.epsilon, self.delta = state.filter.epsilon, state.filter.delta
        if epsilon is not None and delta is not None and (epsilon, delta) != (self.epsilon, self.delta):
            raise LedgerError(
                f"the ledger {self.path} was made for epsilon = {self.epsilon:g}, delta = {self.delta!r}, not for "
                f"epsilon = {epsilon:g}, delta = {delta!r}. A budget cannot be changed; open the ledger without them"
            )

    @property
    def path(self) -> Path | str:
        """The file, or the URL, which holds no password: ``Ledger(path)`` opens it again."""
        return self._store.place

    def spent(self) -> Guarantee:
        """Return all entries composed by the accountant; conditional as soon as there are two."""
        entries = self.history()
        if not entries:
            return Guarantee(events=())
        together = combine([entry.guarantee for entry in entries])
        if len(entries) == 1:
            return together
        return replace(together, assumptions=(*together.assumptions, FIXED_IN_ADVANCE))

    @property
    def remaining(self) -> float:
        """Epsilon, at the ledger's delta, of the largest run of Gaussian shape that still fits.

        A run of many steps is close to that shape: plan it for a percent or two less. `fits` tells exactly.
        """
        return self._state().filter.remaining

    def fits(self, plan: Plan) -> bool:
        """Return whether this plan fits the remaining budget."""
        if not isinstance(plan, Plan):
            raise WrongType(f"plan must be what pydpmc.plan returns, not {given(plan)}")
        try:
            self._state().charge(plan.guarantee)
        except BudgetError:
            return False
        return True

    def history(self) -> tuple[Entry, ...]:
        """Return every run that was reserved, in order."""
        return self._state().entries()

    def verify(self) -> None:
        """Check every record and price every run again; raise `LedgerError` if anything does not fit."""
        self._state().reprice()

    def admit(self, data: Data) -> None:
        """Let another table of the same people be used with this ledger, e.g. with other columns or bounds."""
        require_data(data)
        with self._store.appending() as (key, records, new):
            if fingerprint(key, data) not in State(self.path, records).tables:
                new.append({"kind": "admit", "table": fingerprint(key, data), "time": _now()})

    def reserve(self, guarantee: Guarantee, data: Data | None, plan: Mapping[str, Any], ticket: str) -> None:
        """Charge a release before it is made, once for each ticket; without `data` its table is not compared."""
        with self._store.appending() as (key, records, new):
            state = State(self.path, records)
            table = None if data is None else fingerprint(key, data)
            if table is not None:
                state.require_table(table)
            if any(record["ticket"] == ticket for record in state.reservations):
                return
            new.append(
                {
                    "kind": "reserve",
                    "ticket": ticket,
                    "table": table,
                    "plan": dict(plan),
                    "guarantee": guarantee.to_dict(),
                    "charge": asdict(state.charge(guarantee)),
                    "time": _now(),
                    "version": __version__,
                }
            )
        self._state()  # what was written can be read

    def token(self, ticket: str) -> str:
        """Return the fencing token of a run: the checkpoint that holds it is the one that may be resumed."""
        state = self._state()
        self._require_reserved(state, ticket)
        return state.token(ticket)

    def resume(self, ticket: str, token: str, new_token: str, data: Data) -> None:
        """Note that a run goes on from the checkpoint that holds `token`, which `new_token` replaces; only once."""
        with self._store.appending() as (key, records, new):
            state = State(self.path, records)
            state.require_table(fingerprint(key, data))
            self._require_reserved(state, ticket)
            if ticket in state.finished or token != state.token(ticket):
                raise LedgerError(RESUMED)
            times = state.resumed(ticket) + 1
            new.append({"kind": "resume", "ticket": ticket, "times": times, "token": new_token, "time": _now()})

    def stop(self, ticket: str, token: str, new_token: str) -> None:
        """Note that what a run made so far is released; only the checkpoint that holds `new_token` may go on."""
        with self._store.appending() as (_, records, new):
            state = State(self.path, records)
            if ticket in state.finished or token != state.token(ticket):
                raise ResumedElsewhere(ELSEWHERE)
            new.append({"kind": "stop", "ticket": ticket, "token": new_token, "time": _now()})

    def commit(self, ticket: str, token: str | None = None) -> None:
        """Note that a run is finished; refuse if it was resumed or released elsewhere in the meantime."""
        with self._store.appending() as (_, records, new):
            state = State(self.path, records)
            if state.token(ticket) != (numbered_token(ticket, 0) if token is None else token):
                raise ResumedElsewhere(ELSEWHERE)
            if ticket not in state.finished:
                new.append({"kind": "commit", "ticket": ticket, "time": _now()})

    def mark(self, data: Data, ticket: str) -> str:
        """Return a keyed hash of the records and the ticket: nothing can be learned from it without the ledger."""
        return mark(self._store.read()[0], data, ticket)

    def _require_reserved(self, state: State, ticket: str) -> None:
        if not any(record["ticket"] == ticket for record in state.reservations):
            raise LedgerError(f"the ledger {self.path} was not charged for the run of this checkpoint")

    def entry_of(self, ticket: str) -> dict[str, Any] | None:
        """Return what a report shows of the run with this ticket, None if the ledger has none."""
        state = self._state()
        tickets = [record["ticket"] for record in state.reservations]
        if ticket not in tickets:
            return None
        number = tickets.index(ticket) + 1
        left = PrivacyFilter(self.epsilon, self.delta, state.filter.charges[:number]).remaining
        return {
            "ledger": self._store.label,
            "run": number,
            "reserved": state.reservations[number - 1]["time"],
            "epsilon of the ledger": self.epsilon,
            "delta of the ledger": self.delta,
            "epsilon left after this run": float(lower(left, 4)),
        }

    def _create(self, epsilon: float | None, delta: float | None) -> None:
        budget = {"epsilon": positive(epsilon, "epsilon"), "delta": small_delta(delta)}
        header = {"format": FORMAT, **budget, "time": _now()}
        if not self._store.exists():
            self._store.create(header)

    def _state(self) -> State:
        return State(self.path, self._store.read()[1])

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, epsilon={self.epsilon:g}, delta={self.delta!r})"


def opened(ledger: Ledger | str | Path) -> Ledger:
    """Return the ledger itself, or open the one of a file or URL."""
    if isinstance(ledger, Ledger):
        return ledger
    _store(ledger, "ledger")  # so that an error names the caller's argument
    return Ledger(ledger)


def _store(place: Any, name: str) -> Store:
    if is_url(place):
        return LedgerTables(address(str(place)))
    return LedgerFile(file_path(place, name))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
