"""One pass over a stream of batches: every record is encoded and bounded by itself, and appended to a file."""

from __future__ import annotations

import dataclasses
import secrets
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..._version import __version__
from ..columns import of_values
from ..data import Data
from ..schema import Schema
from ..storage import holds_squares
from .layout import CHUNK_BYTES, KEY_BYTES, PAGE, aligned, finish
from .ordering import GroupOrder, Spools
from .sources import Raw, Source, rows_of_a_batch

Seen = Callable[[int], None]  # is told how many rows are done


@dataclasses.dataclass
class Packed:
    """What was written: the header, and the digest of the file."""

    header: dict[str, Any]
    digest: str


def pack(file: BinaryIO, schema: Schema, source: Source, options: dict[str, Any], folder: Path, seen: Seen) -> Packed:
    """Write the records of a source, encoded by a schema, into an open file."""
    with ExitStack() as spools:
        return _pack(file, schema, source, options, Spools(folder, spools), seen)


def _pack(
    file: BinaryIO, schema: Schema, source: Source, options: dict[str, Any], spools: Spools, seen: Seen
) -> Packed:
    single = dataclasses.replace(schema, group=None, max_group_size=None)
    order = None if schema.group is None else GroupOrder(spools, schema.max_group_size)
    arrays = _Arrays(file, spools, order is not None)
    first: Data | None = None
    for raw in source.batches(rows_of_a_batch(schema)):
        count = len(raw[schema.wanted[0]])
        if count == 0:
            continue
        part = single.of_columns({name: raw[name] for name in single.wanted}, **options)
        first = part if first is None else first
        arrays.add(part)
        if order is not None:
            order.add(raw[str(schema.group)])
        seen(count)
    if first is None:  # n is private under add_remove: no records are stored as one that contributes nothing
        first = single.of_columns(_nothing(single), **options)
        arrays.add(first)
        if order is not None:
            order.add(of_values([0]))
    units, end = arrays.close(order)
    public = dataclasses.replace(
        first.public,
        n=units if first.public.n else 0,
        grouped=schema.group is not None,
        max_group_size=schema.max_group_size,
    )
    header = {
        "written by": __version__,
        "public": public.to_dict(),
        "schema": schema.to_dict(),
        "storage": first._storage,
        "options": options,
        "blocks": [list(block) for block in first._blocks] if order is None else [],
        "coded": arrays.codes,
        "arrays": arrays.places,
        "source": source.stamp,
    }
    return Packed(header, finish(file, end, header, secrets.token_bytes(KEY_BYTES)))


def _nothing(schema: Schema) -> Raw:
    return {name: of_values([]) for name in schema.wanted}


class _Arrays:
    """The arrays of a file in writing: rows go to their place, all others wait in unnamed files until rows end."""

    def __init__(self, file: BinaryIO, spools: Spools, grouped: bool) -> None:
        self._file, self._spools, self._grouped = file, spools, grouped
        self._waiting: dict[str, Any] = {}
        self._rows = spools.new() if grouped else None
        self._stride, self._dtype, self._count = 0, np.dtype(np.float64), 0
        self.codes: dict[str, Any] | None = None
        self.places: dict[str, list[Any]] = {}
        file.seek(PAGE)

    def add(self, part: Data) -> None:
        """Append the stored rows of a batch, and what is kept beside them."""
        rows = part._rows
        self._stride, self._dtype = rows.shape[1], rows.dtype
        self._count += len(rows)
        (self._file if self._rows is None else self._rows).write(rows.data.cast("B"))
        if not holds_squares(part.public.width, part._storage):
            self._wait("squares", part.row_squares())
        if part._coded is not None and not self._grouped:
            self.codes = {
                "numbers": part._coded.number_columns.tolist(),
                "codes": part._coded.codes,
                "stride": part._coded.rows.shape[1],
            }
            self._wait("coded", part._coded.rows)

    def close(self, order: GroupOrder | None) -> tuple[int, int]:
        """Bring everything to its place; return the number of units and the end of the arrays."""
        units = kept = self._count
        if order is not None:
            order.close()
            units, kept = order.groups, order.kept
        shapes: dict[str, list[Any]] = {
            "squares": [kept],
            "coded": [kept, (self.codes or {}).get("stride")],
            "group_start": [units + 1],
        }
        end = self._place("rows", PAGE, self._dtype, [kept, self._stride])
        for name in self._waiting:
            end = self._place(name, end, np.dtype(np.float64), shapes[name])
        if order is not None:
            end = self._place("group_start", end, np.dtype(np.int64), shapes["group_start"])
        self._file.flush()
        self._file.truncate(end)
        if order is not None:
            self._scatter(order)
            self._copy("group_start", order.starts())
        else:
            for name, spool in self._waiting.items():
                spool.seek(0)
                self._copy(name, spool)
        return units, end

    def _scatter(self, order: GroupOrder) -> None:
        """Write rows where their groups are."""
        assert self._rows is not None
        spools = {"rows": self._rows, **self._waiting}
        targets = {name: self._mapped(name) for name in spools}
        for spool in spools.values():
            spool.seek(0)
        for place in order.places(max(1, CHUNK_BYTES // targets["rows"][:1].nbytes)):
            for name, spool in spools.items():
                to = targets[name]
                block = spool.read(len(place) * to[:1].nbytes)
                rows = np.frombuffer(block, dtype=to.dtype).reshape(len(place), *to.shape[1:])
                to[place[place >= 0]] = rows[place >= 0]
        for to in targets.values():
            to.flush()

    def _mapped(self, name: str) -> Any:
        offset, dtype, shape = self.places[name]
        return np.memmap(self._file, dtype=dtype, mode="r+", offset=offset, shape=tuple(shape))

    def _copy(self, name: str, spool: Any) -> None:
        self._file.seek(self.places[name][0])
        shutil.copyfileobj(spool, self._file, CHUNK_BYTES)

    def _place(self, name: str, start: int, dtype: np.dtype[Any], shape: list[int]) -> int:
        start = aligned(start)
        self.places[name] = [start, dtype.newbyteorder("<").str, shape]
        return start + dtype.itemsize * int(np.prod(shape, dtype=np.int64))

    def _wait(self, name: str, values: npt.NDArray[Any]) -> None:
        if name not in self._waiting:
            self._waiting[name] = self._spools.new()
        self._waiting[name].write(np.ascontiguousarray(values).data.cast("B"))
