"""What a worker does: it holds the cells that it was given in files of its own, and returns exact sums over them.

A worker sees its records, theta, its sampling keys and unnoised sums. It never sees the key of the noise. An exception
of its own leaves it as the name of its type: messages of other libraries may quote records.
"""

from __future__ import annotations

import hmac
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..._optional import require
from ...errors import ClusterError, PydpmcError
from ..data import Data
from ..packed.layout import digest_of, read_header
from ..packed.opening import Mapping as MappedFile
from ..packed.opening import data_of
from ..packed.packing import pack
from ..packed.sources import File, Source, of_batches
from ..schema import Schema
from .grouping import CHANGED, GroupedFiles

Piece = tuple[File, tuple[int, int]]
Facts = tuple[int, str, str]  # of a cell: its units, the keyed digest of its file, and the mark of the table's labels
Answer = tuple[str, int, tuple[int, ...], Any]  # session, number of the request, cells that were counted, their sum
MakeSums = Callable[[Data, Any, int, bytes | None], Any]


class NotHeld(ClusterError):
    """A worker was asked for a cell that it does not hold: Dask started it anew."""


class CellHost:
    """An actor: one at each worker."""

    def __init__(self) -> None:
        self._cells: dict[int, Data] = {}
        self._digests: dict[int, str] = {}
        self._sessions: dict[str, dict[int, Any]] = {}
        self._grouped: tuple[bytes, GroupedFiles] | None = None  # of the table that was loaded last, and its key

    def load(self, cell: int, pieces: Sequence[Piece], schema: Schema, options: dict[str, Any], key: bytes) -> Facts:
        """Pack a cell from its pieces of Parquet files."""
        return cast("Facts", _plainly(self._load, cell, pieces, schema, options, key))

    def load_groups(
        self, cell: int, cells: int, files: Sequence[File], schema: Schema, options: dict[str, Any], key: bytes
    ) -> Facts:
        """Pack a cell of a grouped table, of which every worker reads all labels."""
        return cast("Facts", _plainly(self._load_groups, cell, cells, files, schema, options, key))

    def open(self, cell: int, path: str, key: bytes) -> Facts:
        """Take up a cell that a task packed at this worker, and remove the name of its file."""
        return cast("Facts", _plainly(self._open, cell, path, key))

    def prepare(
        self, session: str, make: MakeSums, task: Mapping[str, Any], cells: Mapping[int, tuple[int, bytes | None]]
    ) -> bool:
        """Make cells ready for a run; each has the place of its first unit and its sampling key."""
        return bool(_plainly(self._prepare, session, make, task, cells))

    def ask(self, session: str, number: int, wanted: Mapping[str, Any], cells: Sequence[int], threads: int) -> Answer:
        """Return the sum over these cells, each counted once."""
        return cast("Answer", _plainly(self._ask, session, number, wanted, cells, threads))

    def forget(self, session: str) -> None:
        """Drop what was prepared for a run, with its keys."""
        self._sessions.pop(session, None)

    def mark(self, key: bytes, cells: Sequence[int]) -> dict[int, str]:
        """Return a keyed hash of the stored rows of cells, for a ledger."""
        found = {}
        for cell in cells:
            mac = hmac.new(key, b"cell", "sha256")
            mac.update(self._cells[cell]._rows.data.cast("B"))
            starts = self._cells[cell]._group_start
            if starts is not None:
                mac.update(b"groups" + starts.tobytes())
            found[cell] = mac.hexdigest()
        return found

    def _load(self, cell: int, pieces: Sequence[Piece], schema: Schema, options: dict[str, Any], key: bytes) -> Facts:
        def batches(size: int) -> Any:
            for file, rows in pieces:
                yield from file.batches(schema, size, rows)

        return self._packed(cell, Source(batches), schema, options, key)

    def _load_groups(
        self, cell: int, cells: int, files: Sequence[File], schema: Schema, options: dict[str, Any], key: bytes
    ) -> Facts:
        if self._grouped is None or self._grouped[0] != key:
            self._grouped = key, GroupedFiles(files, schema, cells, key)
        grouped = self._grouped[1]
        units, digest, _ = self._packed(cell, Source(grouped.batches(cell)), schema, options, key)
        if units != grouped.units(cell):
            raise ClusterError(CHANGED)
        return units, digest, grouped.mark

    def _packed(self, cell: int, source: Source, schema: Schema, options: dict[str, Any], key: bytes) -> Facts:
        with tempfile.TemporaryFile() as unnamed:
            file = cast("BinaryIO", unnamed)
            made = pack(file, schema, source, options, Path(tempfile.gettempdir()), lambda _: None)
            return self._keep(cell, file, made.header, key)

    def _open(self, cell: int, path: str, key: bytes) -> Facts:
        with open(path, "rb") as file:
            os.unlink(path)
            header, *_ = read_header(file, Path(path))
            return self._keep(cell, file, header, key)

    def _keep(self, cell: int, file: BinaryIO, header: dict[str, Any], key: bytes) -> Facts:
        digest = digest_of(file, file.seek(0, 2), key).hex()
        data = data_of(MappedFile(file, header, digest))
        self._cells[cell], self._digests[cell] = data, digest
        for prepared in self._sessions.values():
            prepared.pop(cell, None)
        return data.public.n, digest, ""

    def _prepare(
        self, session: str, make: MakeSums, task: Mapping[str, Any], cells: Mapping[int, tuple[int, bytes | None]]
    ) -> bool:
        prepared = self._sessions.setdefault(session, {})
        for cell, (first_unit, key) in cells.items():
            prepared[cell] = make(self._cells[cell], task, first_unit, key)
        return True

    def _ask(self, session: str, number: int, wanted: Mapping[str, Any], cells: Sequence[int], threads: int) -> Answer:
        prepared, total, counted = self._sessions[session], None, []
        for cell in cells:
            sums = prepared[cell](wanted, threads)
            counted.append(cell)
            total = sums if total is None else total + sums
        return session, number, tuple(counted), total


def _plainly(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except PydpmcError as error:
        raise type(error)(str(error)) from None
    except KeyError:
        raise NotHeld("a worker was asked for a cell that it does not hold") from None
    except Exception as error:
        raise ClusterError(f"a worker failed with {type(error).__name__}") from None


def pack_partition(frame: Any, schema: Schema, options: dict[str, Any]) -> tuple[str, str]:
    """As a task at a worker: pack a partition of a Dask frame; return where, for the actor of the same worker."""
    return cast("tuple[str, str]", _plainly(_pack_partition, frame, schema, options))


def _pack_partition(frame: Any, schema: Schema, options: dict[str, Any]) -> tuple[str, str]:
    get_worker = require("distributed", "dask", "a cluster").get_worker
    folder = Path(tempfile.gettempdir())
    handle, path = tempfile.mkstemp(suffix=".dpmc", dir=folder)
    with open(handle, "w+b") as file:
        pack(file, schema, of_batches([frame], schema), options, folder, lambda _: None)
    return str(get_worker().address), path


def combined(key: bytes, marks: Mapping[int, str]) -> str:
    """Return one keyed hash of the cells of a table, in their order."""
    mac = hmac.new(key, b"cells", "sha256")
    for cell in sorted(marks):
        mac.update(f"{cell} {marks[cell]}\n".encode())
    return mac.hexdigest()
