"""Groups on a cluster: which rows of the files belong to which cell, as every worker finds out by itself.

A worker reads the labels of the whole table, and so knows the order of the groups, which is that of their first rows.
Cell k has the groups that `cuts` gives it, as on one machine; the worker reads the table again and keeps their rows. No
row travels between workers. A keyed hash marks what the labels were: if the files changed between two readings, a group
could be in two cells, and count twice.
"""

from __future__ import annotations

import hmac
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ClusterError
from ..cells import cuts
from ..columns import RawColumn, label_codes
from ..packed.ordering import GroupOrder, Spools, spelt_label
from ..packed.sources import File, Raw, rows_of_a_batch
from ..schema import Schema
from ..schema.tables import columns_of

CHANGED = "the files of the table changed while they were read; nothing of them was used"


class GroupedFiles:
    """The files of a grouped table, as one worker reads them.

    Parameters
    ----------
    files, schema
        The table.
    cells
        Into how many cells the groups are cut.
    key
        The driver's key for this table.
    """

    def __init__(self, files: Sequence[File], schema: Schema, cells: int, key: bytes) -> None:
        self._files, self._schema, self._key = files, schema, key
        stack = ExitStack()
        weakref.finalize(self, stack.close)
        spools = Spools(Path(tempfile.gettempdir()), stack)
        order, marks = GroupOrder(spools, schema.max_group_size), LabelMarks(key)
        for table in self._tables([str(schema.group)]):
            labels = columns_of(table, table.column_names, table.column_names)[str(schema.group)]
            order.add(labels)
            marks.add(labels)
        order.close()
        starts = np.memmap(order.starts(), dtype="<i8", mode="r", shape=(order.groups + 1,))
        self._units = cuts(order.groups, cells)
        self._places = [(int(starts[low]), int(starts[high])) for low, high in self._units]
        spool = spools.new()
        for place in order.places():
            spool.write(place.astype("<i8").tobytes())
        spool.flush()
        self._place = np.memmap(spool, dtype="<i8", mode="r", shape=(order.rows,)) if order.rows else np.empty(0)
        self.mark = marks.mark

    def units(self, cell: int) -> int:
        """Return how many groups a cell has."""
        low, high = self._units[cell]
        return high - low

    def batches(self, cell: int) -> Callable[[int], Iterator[Raw]]:
        """Return what reads the rows of a cell."""
        first, last = self._places[cell]

        def read(_: int) -> Iterator[Raw]:
            row, marks = 0, LabelMarks(self._key)
            for table in self._tables(self._schema.wanted):
                here = self._place[row : row + table.num_rows]
                row += table.num_rows
                if len(here) < table.num_rows:
                    raise ClusterError(CHANGED)
                marks.add(self._schema.raw(table)[str(self._schema.group)])
                ours = (here >= first) & (here < last)
                if ours.any():
                    yield self._schema.raw(table.filter(ours))
            if marks.mark != self.mark:
                raise ClusterError(CHANGED)

        return read

    def _tables(self, wanted: list[str]) -> Iterator[Any]:
        size = rows_of_a_batch(self._schema)
        for file in self._files:
            yield from file.tables(wanted, size)


class LabelMarks:
    """A keyed hash of the labels of all rows, in their order; batches are part of it."""

    def __init__(self, key: bytes) -> None:
        self._mac = hmac.new(key, b"labels", "sha256")

    def add(self, labels: RawColumn) -> None:
        """Take the labels of the next rows."""
        codes = label_codes(labels)
        first = np.unique(codes, return_index=True)[1]
        for spelt in (spelt_label(labels, int(row)) for row in first):
            text = spelt.encode("utf-8", "surrogatepass")
            self._mac.update(len(text).to_bytes(8, "little") + text)
        self._mac.update(codes.astype("<i8").tobytes())

    @property
    def mark(self) -> str:
        """The hash so far."""
        return self._mac.hexdigest()
