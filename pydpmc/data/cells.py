"""Cells: the parts that records are cut into, and the stand-in for records that are read cell by cell.

A cell is a run of consecutive units, records or groups, which stay whole. Where the cuts are is a function of the
number of units and of cells alone. docs/privacy/sharding.md says why neither changes what a run costs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import storage as table
from .data import Data

Change = tuple[str, Any]


def cuts(units: int, cells: int) -> list[tuple[int, int]]:
    """Return the first unit of each cell and the one after its last.

    Examples
    --------
    >>> cuts(5, 2), cuts(1, 2)
    ([(0, 2), (2, 5)], [(0, 0), (0, 1)])
    """
    return [(k * units // cells, (k + 1) * units // cells) for k in range(cells)]


def part_of(data: Data, units: tuple[int, int]) -> Data | None:
    """Return the records of some units, which share their memory; None if there are none."""
    low, high = units
    if low >= high:
        return None
    other = object.__new__(Data)
    other.__dict__.update(data.__dict__)
    first, last, starts = low, high, data._group_start
    if starts is not None:
        first, last = int(starts[low]), int(starts[high])
        other._group_start = np.ascontiguousarray(starts[low : high + 1] - first)
    other._rows = data._rows[first:last]
    other._squares = data.row_squares()[first:last]
    other._weights = None if data._weights is None else data._weights[first:last]
    other._coded = None if data._coded is None else data._coded._replace(rows=data._coded.rows[first:last])
    other._public = dataclasses.replace(data.public, n=high - low)
    other._mapping, other._cells = None, 1
    return other


def changed(data: Data, changes: Sequence[Change], first_unit: int) -> Data:
    """Return a cell's records as a model reads them; if none is read, one void row, which adds nothing."""
    for kind, value in changes:
        if kind == "labels":
            data = data.of_labels(value)
        elif kind == "void_at" and data.public.n > 0:
            data = data.with_void_at(np.array(value))
        elif kind == "first":
            data = part_of(data, (0, min(data.public.n, value - first_unit))) or nothing_of(data)
    return data


def nothing_of(data: Data) -> Data:
    """Return no records, stored as one void row."""
    other = part_of(StandIn(data), (0, 1))
    assert other is not None
    other._public = dataclasses.replace(data.public, n=0)
    return other


class ChangedRows(np.ndarray[Any, Any]):
    """The rows of a stand-in, and how the true records are to be read."""

    changes: tuple[Change, ...] = ()

    def __array_finalize__(self, source: Any) -> None:
        """Keep the changes of the array that this is a view of."""
        self.changes = getattr(source, "changes", ())


class StandIn(Data):
    """Public facts and one void row of the right shape, for a run whose records are read cell by cell."""

    def __init__(self, data: Data) -> None:
        self.__dict__.update(data.__dict__)
        rows = table.copied(np.zeros((1, data._rows.shape[1]), dtype=data._rows.dtype))
        table.void(rows, np.array([0]), data.public.width, data.public.has_target)
        self._rows = rows.view(ChangedRows)
        self._squares = np.zeros(1)
        self._group_start = None if data._group_start is None else np.array([0, 1])
        self._weights = None if data._weights is None else np.zeros(1)
        if data._coded is not None:
            self._coded = data._coded._replace(rows=table.copied(np.zeros((1, data._coded.rows.shape[1]))))
        self._mapping = None

    def of_labels(self, count: int) -> Data:
        """Note which labels the model knows."""
        return self._noting(("labels", count))

    def with_void_at(self, point: npt.NDArray[np.float64]) -> Data:
        """Note what a void record counts as."""
        return self._noting(("void_at", tuple(point.tolist())))

    def first(self, count: int) -> Data:
        """Note how many records are read."""
        return self._noting(("first", count))

    def _noting(self, change: Change) -> Data:
        other = object.__new__(StandIn)
        other.__dict__.update(self.__dict__)
        rows = table.copied(np.asarray(self._rows)).view(ChangedRows)
        rows.changes = (*self._rows.changes, change)  # type: ignore[attr-defined]
        other._rows = rows
        return other
