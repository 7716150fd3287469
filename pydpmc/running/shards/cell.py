"""The sums over one cell, wherever its records are: in this process or at a worker. No noise is drawn here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...data.cells import changed
from ...data.data import Data
from ...samplers.base import batch_arguments
from ...samplers.batches.gap_tables import most_members
from ...samplers.conjugate.noised_sums import exact_sum
from .seams import WithSeams

Sums = npt.NDArray[np.int64]
BLOCK = 4096
FEWEST_ROWS = 20_000  # for a second thread: to wake one takes longer than to read so few


class CellSums:
    """Answers what a run wants of one cell.

    Parameters
    ----------
    data
        The records of the cell, as the model reads them.
    task
        What will be asked: its ``kind``, the model's public facts (``target``), and the numbers of a query. ``key`` is
        the sampling key of this cell.
    first_unit
        The place of its first unit in the table.
    """

    def __init__(self, data: Data, task: Mapping[str, Any], first_unit: int = 0) -> None:
        self._data = data
        self._task, self._kind = task, task["kind"]
        if self._kind == "statistics":
            return
        if self._kind == "density":
            self._blocks = WithSeams(data, first_unit)
            if self._blocks.whole is None:
                return
            self._data = self._blocks.whole
        target = task["target"]
        if self._kind == "look":
            self._looks = _core.NewtonRun(
                **_rows(self._data), **target, seed=0, squares=self._data.row_squares(), **_weights(self._data)
            )
            return
        self._shard = _core.ShardSums(
            _core.Target(
                **_rows(self._data),
                **target,
                group_start=self._data._group_start,
                squares=self._data.row_squares(),
                coded=self._data._coded,
                **_weights(self._data),
            )
        )
        if self._kind == "query":
            self._start_queries(task["query"])

    def __call__(self, wanted: Mapping[str, Any], threads: int) -> Sums:
        """Return the exact sums that a step wants."""
        threads = min(threads, 1 + len(self._data._rows) // FEWEST_ROWS)
        if self._kind == "gradient":
            return self._shard.gradient(wanted["thetas"], **self._task["grid"], threads=threads)
        if self._kind == "query":
            return self._shard.query(
                wanted["thetas"], step=wanted["step"], noise=wanted["noise"], key=self._task["key"], threads=threads
            )
        if self._kind == "ratio":
            return self._shard.ratio(wanted["states"], **self._task["grid"], threads=threads)
        if self._kind == "density":
            return self._density(wanted, threads)
        if self._kind == "look":
            return self._looks.sums(**wanted, threads=threads, block=BLOCK)
        return self._statistics()

    def _density(self, wanted: Mapping[str, Any], threads: int) -> Sums:
        if "rows" in wanted:
            return self._blocks.rows(wanted["rows"])
        thetas = wanted["thetas"]
        if self._blocks.whole is None:
            return np.zeros((len(thetas), thetas.shape[1] + 1, _core.exact_width), dtype=np.int64)
        return self._shard.density(thetas, loglik_range=self._task["loglik_range"], threads=threads)

    def _start_queries(self, query: Mapping[str, Any]) -> None:
        facts = dict(query)
        rate = facts.pop("rate")
        units = max(1, self._data.public.n)
        gaps = None if facts["sampling"] == "full" else _gaps(rate)
        most = 0 if gaps is None else most_members(units, rate)
        self._shard.start_queries(**facts, gaps=gaps, most=most)

    def _statistics(self) -> Sums:
        settings, public = self._task["settings"], self._data.public
        return exact_sum(
            _core,
            self._data._rows,
            public.width,
            public.has_target,
            settings.statistics,
            settings.statistics_count,
            settings.clip,
            self._task["unit"],
        )


@lru_cache(maxsize=4)  # all cells of a process share it
def _gaps(rate: float) -> Any:
    return batch_arguments(_core, "poisson", 1, 0, rate)["gaps"]


def cell_sums(data: Data, task: Mapping[str, Any], first_unit: int, key: bytes | None) -> CellSums:
    """Return the sums over a cell whose first unit has this place in the table."""
    read = changed(data, task["changes"], first_unit)
    return CellSums(read, task if key is None else {**task, "key": key}, first_unit)


def _rows(data: Data) -> dict[str, Any]:
    return {"rows": data._rows, "columns": data.public.width, "has_target": data.public.has_target}


def _weights(data: Data) -> dict[str, Any]:
    return {} if data._weights is None else {"weights": data._weights}
