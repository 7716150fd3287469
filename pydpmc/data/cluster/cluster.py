"""The driver's side of a cluster: which worker holds which cell, what is asked of them, and what is done when one dies.

A sum is a function of a cell's records, of what is asked, and of the cell's sampling key. So a step can be asked again,
of another worker that has read the cell again, and gives the same bits; noise is drawn once, after all sums are in.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any, Protocol

from ...errors import ClusterError, InvalidArgument, PydpmcError
from .grouping import CHANGED
from .host import CellHost, Facts, MakeSums, NotHeld, combined
from .session import LOST, ClusterSession, Lost

LOOK = 1.0  # seconds between two looks at whether a worker that has not answered is still there
PAUSE = 0.2  # seconds between two looks for a worker
MOST_LOSSES = 50


class CellSource(Protocol):
    """Where a cell comes from, each time that a worker needs it."""

    def load(self, cluster: Cluster, cell: int, address: str, host: Any) -> Any:
        """Return the future of the cell's facts."""


class Cluster:
    """The cells of a table, at the workers of a Dask cluster.

    Parameters
    ----------
    client
        The user's client; from now on it talks to workers directly.
    sources
        Where each cell comes from; numbers that are not here belong to cells without a record.
    cells
        The number of cells.
    timeout
        Seconds after which a worker that has not answered counts as lost.
    """

    def __init__(self, client: Any, sources: Mapping[int, CellSource], cells: int, timeout: float) -> None:
        self.client, self.sources, self.cells, self._timeout = client, sources, cells, timeout
        client.direct_to_workers = True  # else the scheduler would pass on what is secret
        self.key = secrets.token_bytes(32)
        self._hosts: dict[str, tuple[Any, Any]] = {}  # the actor, and the future that keeps it alive
        self._at: dict[int, str] = {}
        self._avoided: set[str] = set()
        self._facts: dict[int, Facts] = {}
        self._losses = 0
        self.place()
        counts = [self._facts[cell][0] for cell in sorted(sources)]
        ends = list(accumulate(counts, initial=0))
        self._first, self.units = dict(zip(sorted(sources), ends[:-1], strict=True)), ends[-1]
        self.firsts = ends[:-1]

    def start(self, make: MakeSums, task: Mapping[str, Any], keys: Sequence[bytes] | None) -> Any:
        """Prepare all cells for a run; `make` is what a worker makes of a cell."""
        places = {cell: (self._first[cell], None if keys is None else keys[cell]) for cell in self.sources}
        return ClusterSession(self, make, task, places)

    def require(self, model: Any) -> None:
        """Refuse a model that workers cannot know."""
        if not type(model).__module__.startswith("pydpmc."):
            raise InvalidArgument(
                f"model: {type(model).__name__} is not part of pydpmc, and workers do not have its code; run it on one "
                "machine"
            )

    def fingerprint(self, key: bytes) -> str:
        """Return a keyed hash of all stored rows, for a ledger: other cells, other hash."""
        marks: dict[int, str] = {}
        while len(marks) < len(self.sources):
            self.place()
            for address, cells in self.by_host(set(self.sources) - set(marks)).items():
                try:
                    marks |= self.wait(address, self.host(address).mark(key, cells))
                except (Lost, *LOST):
                    self.lose(address)
        return combined(key, marks)

    def leave(self) -> None:
        """Let the workers forget the records, and end the connection."""
        self._hosts.clear()
        self._at.clear()
        self.client.close()

    def host(self, address: str) -> Any:
        """Return the actor at a worker; start one if there is none."""
        if address not in self._hosts:
            with self.client.as_current():  # the actor talks through the current client
                future = self.client.submit(
                    CellHost, actor=True, workers=[address], allow_other_workers=False, pure=False
                )
                self._hosts[address] = self.wait(address, future), future
        return self._hosts[address][0]

    def by_host(self, cells: Collection[int]) -> dict[str, list[int]]:
        """Return the cells by the worker that holds them."""
        found: dict[str, list[int]] = {}
        for cell in sorted(cells):
            found.setdefault(self._at[cell], []).append(cell)
        return found

    def at(self, cell: int) -> tuple[str, int]:
        """Return which actor holds a cell."""
        return self._at[cell], id(self._hosts[self._at[cell]][0])

    def place(self) -> None:
        """Load every cell that no worker holds; refuse one that is not what it was."""
        while missing := [cell for cell in sorted(self.sources) if cell not in self._at]:
            asked: list[tuple[int, str, Any]] = []
            addresses = self._alive()
            loads = {address: sum(at == address for at in self._at.values()) for address in addresses}
            for cell in missing:
                address = min(addresses, key=lambda a: (loads[a], a))
                loads[address] += 1
                try:
                    asked.append((cell, address, self.sources[cell].load(self, cell, address, self.host(address))))
                except (Lost, *LOST):
                    self.lose(address)
                    break
            for cell, address, future in asked:
                if address not in self._hosts:
                    continue
                try:
                    self._note(cell, address, self.wait(address, future, patient=True))
                except Lost:
                    self.lose(address)

    def wait(self, address: str, future: Any, patient: bool = False) -> Any:
        """Return what a worker answers; raise `Lost` if it is gone or takes too long (to load may take any time)."""
        looks = 0.0  # not a clock's time: in a machine that slept, or a process that was stopped, no worker is late
        while True:
            try:
                return future.result(timeout=LOOK)
            except NotHeld:
                raise Lost from None
            except TimeoutError:
                looks += LOOK
                late = looks >= self._timeout
                if late:
                    self._avoided.add(address)
                if address not in self._workers() or (late and not patient):
                    raise Lost from None
            except LOST as error:
                if isinstance(error, PydpmcError):
                    raise
                raise Lost from None

    def lose(self, address: str) -> None:
        """Forget a worker, and that it held cells."""
        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise ClusterError(
                f"workers were lost more than {MOST_LOSSES} times within a step; what was charged stays charged"
            )
        self._hosts.pop(address, None)
        self._at = {cell: at for cell, at in self._at.items() if at != address}

    def all_in(self) -> None:
        """Note that a step ended."""
        self._losses = 0

    def _note(self, cell: int, address: str, facts: Facts) -> None:
        if self._facts.setdefault(cell, facts) != facts:
            raise ClusterError(
                f"cell {cell} was read again, and its records are not what they were: its files changed meanwhile. "
                "Nothing of it was used; what was charged stays charged"
            )
        if len({mark for _, _, mark in self._facts.values()}) > 1:  # a group could be in two cells
            raise ClusterError(CHANGED)
        self._at[cell] = address

    def _workers(self) -> Mapping[str, int]:
        try:
            found: Mapping[str, int] = self.client.nthreads()
        except LOST:
            raise ClusterError("the scheduler of the cluster does not answer; what was charged stays charged") from None
        return found

    def _alive(self) -> list[str]:
        """Return workers that can be used; wait for one if there is none."""
        for _ in range(1 + int(self._timeout / PAUSE)):  # see `wait`
            found = [address for address in sorted(self._workers()) if address not in self._avoided]
            if found:
                return found
            time.sleep(PAUSE)
        raise ClusterError(
            f"no worker was left, and none came within {self._timeout:g} s; what was charged stays charged"
        )
