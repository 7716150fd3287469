"""Groups out of core: where each row goes so that groups are together, in the order that `Data` gives them in memory.

Groups come in the order of their first rows, and of each the first `max_group_size` rows are kept. Labels of different
batches are compared by a keyed digest of their canonical forms (128 bits, a key for each file that is written); arrays
of one number per row lie in unnamed files, so that memory does not grow with the table.
"""

from __future__ import annotations

import hashlib
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..columns import RawColumn, label_codes
from ..values import Key, canonical

Whole = npt.NDArray[np.int64]

SEEN = np.dtype([("high", "<u8"), ("low", "<u8"), ("row", "<i8")])
MOST_IN_MEMORY = 2**21  # labels that are sorted at a time
CHUNK = 2**18


class Spools:
    """Makes unnamed files, which end with the stack that they are on."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack

    def new(self) -> Any:
        """Return a new one."""
        return self._stack.enter_context(tempfile.TemporaryFile(dir=self._folder))


class GroupOrder:
    """Takes the labels batch by batch, then tells where the rows go."""

    def __init__(self, spools: Spools, most: int | None) -> None:
        self._spool, self._most = spools.new, most
        self._key = secrets.token_bytes(16)
        self._seen, self._alike = self._spool(), self._spool()
        self._labels, self.rows = 0, 0

    def add(self, column: RawColumn) -> None:
        """Take the labels of the next rows; missing ones are one label."""
        codes = label_codes(column)
        first = np.unique(codes, return_index=True)[1]
        found = np.empty(len(first), dtype=SEEN)
        digests = b"".join(self._digest(spelt_label(column, int(i))) for i in first)
        found["high"], found["low"] = np.frombuffer(digests, dtype="<u8").reshape(-1, 2).T
        found["row"] = self.rows + first
        self._seen.write(found.tobytes())
        self._alike.write((self.rows + first[codes]).astype("<i8").tobytes())
        self._labels += len(found)
        self.rows += len(codes)

    def close(self) -> None:
        """Find the groups; then `starts` and `places` can be read."""
        self._first = self._numbers(np.int64)  # of a batch's first row with a label: the first row of all with it
        for part in self._parts():
            part = part[np.lexsort((part["row"], part["low"], part["high"]))]
            new = np.ones(len(part), dtype=bool)
            new[1:] = (part["high"][1:] != part["high"][:-1]) | (part["low"][1:] != part["low"][:-1])
            self._first[part["row"]] = part["row"][np.maximum.accumulate(np.where(new, np.arange(len(part)), 0))]
        self._size, self._start = self._numbers(np.int64), self._numbers(np.int64)
        for leader in self._leaders():
            distinct, counts = np.unique(leader, return_counts=True)
            self._size[distinct] += counts
        self._starts, kept = self._spool(), 0
        for begin in range(0, self.rows, CHUNK):
            size = np.asarray(self._size[begin : begin + CHUNK])
            leaders = np.flatnonzero(size)
            sizes = size[leaders] if self._most is None else np.minimum(size[leaders], self._most)
            ends = kept + np.cumsum(sizes)
            self._start[begin + leaders] = ends - sizes
            self._starts.write((ends - sizes).astype("<i8").tobytes())
            kept = int(ends[-1]) if len(ends) else kept
        self._starts.write(np.array([kept], dtype="<i8").tobytes())
        self.kept, self.groups = kept, self._starts.tell() // 8 - 1

    def starts(self) -> Any:
        """Return the file of the first rows of all groups, and the end of the last."""
        self._starts.seek(0)
        return self._starts

    def places(self, size: int = CHUNK) -> Iterator[Whole]:
        """Yield where `size` rows at a time go, -1 for those of a group that has enough already."""
        taken = self._numbers(np.int64)
        for leader in self._leaders(size):
            order = np.argsort(leader, kind="stable")
            new = np.ones(len(leader), dtype=bool)
            new[1:] = leader[order][1:] != leader[order][:-1]
            here = np.arange(len(leader)) - np.maximum.accumulate(np.where(new, np.arange(len(leader)), 0))
            rank = np.empty(len(leader), dtype=np.int64)
            rank[order] = here
            rank += taken[leader]
            distinct, counts = np.unique(leader, return_counts=True)
            taken[distinct] += counts
            place = self._start[leader] + rank
            yield place if self._most is None else np.where(rank < self._most, place, -1)

    def _digest(self, spelt: str) -> bytes:
        return hashlib.blake2b(spelt.encode("utf-8", "surrogatepass"), digest_size=16, key=self._key).digest()

    def _leaders(self, size: int = CHUNK) -> Iterator[Whole]:
        """Yield the first row of the group of every row."""
        self._alike.seek(0)
        while part := self._alike.read(8 * size):
            yield np.asarray(self._first[np.frombuffer(part, dtype="<i8")])

    def _parts(self) -> Iterator[Any]:
        """Yield all labels in parts that fit into memory; equal labels are in one part."""
        parts = 1 + self._labels // MOST_IN_MEMORY
        spools = [self._spool() for _ in range(parts)]
        self._seen.seek(0)
        while block := self._seen.read(SEEN.itemsize * CHUNK):
            found = np.frombuffer(block, dtype=SEEN)
            for k, spool in enumerate(spools):
                spool.write(found[found["high"] % np.uint64(parts) == k].tobytes())
        for spool in spools:
            spool.seek(0)
            yield np.frombuffer(spool.read(), dtype=SEEN)
            spool.close()

    def _numbers(self, dtype: Any) -> Any:
        return np.memmap(self._spool(), dtype=dtype, mode="w+", shape=(max(self.rows, 1),))


def spelt_label(column: RawColumn, i: int) -> str:
    """Spell the label of one record; equal labels, and no others, are spelt alike."""
    return _spelt(canonical(_value(column, i)))


def _value(column: RawColumn, i: int) -> Any:
    """Return what one record holds."""
    place = i if column.places is None else int(column.places[i])
    if place < 0 or (column.absent is not None and column.absent[i]):
        return None
    return column.values[place]


def _spelt(key: Key) -> str:
    """Spell a canonical value so that equal values, and no others, are spelt alike.

    Examples
    --------
    >>> _spelt(1) == _spelt(1.0), _spelt("1a") == _spelt(("1a",)), _spelt(-0.0) == _spelt(0)
    (True, False, True)
    """
    if isinstance(key, tuple):
        return "(" + ",".join(f"{len(text)}:{text}" for text in map(_spelt, key)) + ")"
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    return f"{type(key).__name__}:{key!r}" if not isinstance(key, str) else f"str:{key}"
