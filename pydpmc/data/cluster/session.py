"""A run's questions to the cells of a cluster; each answer is checked before its sum is used."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import ClusterError
from .host import MakeSums

if TYPE_CHECKING:
    from .cluster import Cluster

Sums = npt.NDArray[np.int64]

# UnboundLocalError is what distributed raises if a coroutine was cancelled, as when a worker dies in the middle.
LOST = (OSError, RuntimeError, TimeoutError, CancelledError, UnboundLocalError)


class Lost(Exception):
    """A worker died, left, or did not answer in time."""


class ClusterSession:
    """A run's questions to all cells; each answer is checked before its sum is used."""

    def __init__(
        self, cluster: Cluster, make: MakeSums, task: Any, places: Mapping[int, tuple[int, bytes | None]]
    ) -> None:
        self._cluster, self._make, self._task, self._places = cluster, make, task, places
        self._name, self._number = secrets.token_hex(8), 0
        self._prepared: dict[int, tuple[str, int]] = {}

    def ask(self, wanted: Mapping[str, Any], threads: int) -> Sums:
        """Return the sums over all cells."""
        cluster = self._cluster
        total: Sums | None = None
        self._number += 1
        left = set(cluster.sources)
        while left:
            cluster.place()
            hosts = cluster.by_host(left)
            if not self._prepare(hosts):
                continue
            asked: dict[str, Any] = {}
            for address, cells in hosts.items():
                try:
                    asked[address] = cluster.host(address).ask(self._name, self._number, wanted, cells, threads)
                except (Lost, *LOST):
                    cluster.lose(address)
            for address, future in asked.items():
                try:
                    sums = self._checked(cluster.wait(address, future), hosts[address])
                except Lost:
                    cluster.lose(address)
                    continue
                left -= set(hosts[address])
                total = sums if total is None else _added(total, sums)
        cluster.all_in()
        assert total is not None
        return total

    def _prepare(self, hosts: Mapping[str, Sequence[int]]) -> bool:
        """Make cells ready that are new at their worker; return False if a worker was lost."""
        cluster, asked = self._cluster, []
        for address, cells in hosts.items():
            new = {cell: self._places[cell] for cell in cells if self._prepared.get(cell) != cluster.at(cell)}
            if new:
                try:
                    actor = cluster.host(address)
                    asked.append((address, new, actor.prepare(self._name, self._make, self._task, new)))
                except (Lost, *LOST):
                    cluster.lose(address)
                    return False
        for address, new, future in asked:
            try:
                cluster.wait(address, future, patient=True)
            except Lost:
                cluster.lose(address)
                return False
            self._prepared |= {cell: cluster.at(cell) for cell in new}
        return True

    def _checked(self, answer: Any, cells: Sequence[int]) -> Sums:
        """Return the sum of an answer; refuse one that is not the answer to this question over these cells."""
        session, number, counted, sums = answer
        if session != self._name or number != self._number:
            raise ClusterError("a worker answered an earlier question; no sum of it was used")
        if list(counted) != list(cells):
            raise ClusterError("a worker did not count each of its cells once; no sum of it was used")
        if not (isinstance(sums, np.ndarray) and sums.dtype == np.int64):
            raise ClusterError("a worker answered with something that is no sum")
        return np.ascontiguousarray(sums)


def _added(total: Sums, sums: Sums) -> Sums:
    if sums.shape != total.shape:
        raise ClusterError("two workers answered with sums of different shapes")
    return total + sums
