"""Where batches of records come from: Parquet and CSV files, Arrow batches, frames, lazy queries of polars.

A batch is a table by itself. A stored row is a function of its own record (docs/privacy/encoding.md), so where batches
begin and end changes nothing; a dictionary of Parquet or Arrow is decoded value by value within its batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._optional import require
from ...checks import given
from ...errors import MissingFile, SchemaError, WrongType
from ..columns import RawColumn
from ..schema import Schema
from ..schema.files import csv_batches, parquet_batches, parquet_facts
from ..schema.tables import require_names

MOST_VALUES = 2**19  # of a batch: the memory of preparation is a small multiple of this
MOST_ROWS = 2**15

Raw = Mapping[str, RawColumn]
Stamp = list[list[Any]]  # name, size and time of change of each file


@dataclass(frozen=True)
class Source:
    """Batches of raw columns, the number of rows if that is known before, and what the files look like from outside."""

    batches: Callable[[int], Iterator[Raw]]
    rows: int | None = None
    stamp: Stamp | None = None
    files: Sequence[File] = ()


@dataclass(frozen=True)
class File:
    """One Parquet file: where it is, how it is opened, and the columns that its folders name."""

    path: Path
    filesystem: Any = None
    folders: Mapping[str, Any] = field(default_factory=dict)

    def stream(self) -> Any:
        """Return what pyarrow reads from."""
        if self.filesystem is not None:
            return self.filesystem.open_input_file(self.path.as_posix())
        return require("pyarrow", "dataframes", f"reading {self.path.name}").OSFile(str(self.path))

    def facts(self) -> tuple[list[str], int]:
        """Return names of columns and number of rows."""
        return parquet_facts(self.path, self.stream())

    def batches(self, schema: Schema, size: int, rows: tuple[int, int] | None = None) -> Iterator[Raw]:
        """Yield the raw columns of this file's records, or of some of them."""
        yield from map(schema.raw, self.tables(schema.wanted, size, rows))

    def tables(self, wanted: Sequence[str], size: int, rows: tuple[int, int] | None = None) -> Iterator[Any]:
        """Yield the wanted columns of this file's records, or of some of them, as tables of pyarrow."""
        pa = require("pyarrow", "dataframes", f"reading {self.path.name}")
        within = [name for name in wanted if name not in self.folders]
        for table in parquet_batches(self.path, self.stream(), within, size, rows):
            whole = table
            for name in set(wanted) & set(self.folders):
                whole = whole.append_column(name, pa.array([self.folders[name]] * table.num_rows))
            yield whole


def rows_of_a_batch(schema: Schema) -> int:
    """Return how many records are encoded at a time: public facts alone decide."""
    width = len(schema.public(n=1).columns) + 2 * len(schema.columns)
    return max(1, min(MOST_ROWS, MOST_VALUES // width))


def of_parquet(paths: Any, schema: Schema) -> Source:
    """Return the records of Parquet files: a path, a folder, several, or a pyarrow dataset."""
    of_dataset = hasattr(paths, "get_fragments")
    found = [] if of_dataset else [path.absolute() for path in _paths(paths, "parquet")]  # workers are elsewhere
    files = _files_of_dataset(paths) if of_dataset else [File(path) for path in found]
    rows = 0
    for file in files:
        names, count = file.facts()
        require_names(schema.wanted, [*names, *file.folders])
        rows += count

    def batches(size: int) -> Iterator[Raw]:
        for file in files:
            yield from file.batches(schema, size)

    return Source(batches, rows, stamp_of(files), files)


def of_csv(paths: Any, schema: Schema) -> Source:
    """Return the records of CSV files, each with a header."""
    found = _paths(paths, "csv", "csv.gz")

    def batches(size: int) -> Iterator[Raw]:
        for path in found:
            yield from csv_batches(path, schema.wanted, require_names, size)

    return Source(batches, None, stamp_of([File(path) for path in found]))


def of_batches(tables: Any, schema: Schema) -> Source:
    """Return the records of Arrow batches, of frames one after the other, or of a lazy query of polars."""
    if hasattr(tables, "collect_batches"):  # a LazyFrame
        lazy = tables

        def of_query(size: int) -> Iterator[Raw]:
            require_names(schema.wanted, lazy.collect_schema().names())
            for frame in lazy.select(schema.wanted).collect_batches(chunk_size=size, maintain_order=True):
                yield from _sliced(frame, schema, size)

        return Source(of_query)
    if hasattr(tables, "to_batches"):  # a table of pyarrow
        tables = tables.to_batches()
    if isinstance(tables, (str, bytes, Mapping)) or hasattr(tables, "columns") or not isinstance(tables, Iterable):
        raise WrongType(f"batches must be an iterable of tables, or a polars LazyFrame, not {given(tables)}")

    def of_tables(size: int) -> Iterator[Raw]:
        for table in tables:
            yield from _sliced(table, schema, size)

    return Source(of_tables)


def _sliced(table: Any, schema: Schema, size: int) -> Iterator[Raw]:
    """Yield a table in parts: a batch that is handed over may be larger than is wise to encode at once."""
    if hasattr(table, "schema") and hasattr(table, "num_rows") and not hasattr(table, "to_batches"):
        table = require("pyarrow", "dataframes", "Arrow batches").Table.from_batches([table])
    count = getattr(table, "num_rows", None)
    count = len(table) if count is None else count
    cut = table.iloc if hasattr(table, "iloc") else table
    for start in range(0, max(count, 1), size):
        yield schema.raw(cut[start : start + size])


def _files_of_dataset(dataset: Any) -> list[File]:
    of_keys = require("pyarrow.dataset", "dataframes", "a dataset of pyarrow").get_partition_keys
    files = []
    for fragment in dataset.get_fragments():
        if not str(getattr(fragment, "path", "")) or fragment.format.default_extname != "parquet":
            raise SchemaError("paths: of the datasets of pyarrow, those of Parquet files are read")
        files.append(File(Path(fragment.path), fragment.filesystem, of_keys(fragment.partition_expression)))
    return sorted(files, key=lambda file: file.path)


def _paths(paths: Any, *suffixes: str) -> list[Path]:
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths) if isinstance(paths, Iterable) else None
    if listed is None or not all(isinstance(path, (str, os.PathLike)) for path in listed):
        raise WrongType(f"paths must be a path, a folder or a list of paths, not {given(paths)}")
    found: list[Path] = []
    for path in map(Path, listed):
        if path.is_dir():
            found += sorted(p for suffix in suffixes for p in path.glob(f"*.{suffix}"))
        elif path.exists():
            found.append(path)
        else:
            raise MissingFile(f"paths: there is no file {str(path)!r}")
    if not found:
        raise MissingFile(f"paths: there is no file that ends in .{suffixes[0]}")
    return found


def stamp_of(files: Sequence[File]) -> Stamp:
    """Return name, size and time of change of each file."""
    if any(file.filesystem is not None and file.filesystem.type_name != "local" for file in files):
        return [[file.path.as_posix(), info.size, info.mtime_ns] for file in files for info in [_remote_info(file)]]
    facts = [(file.path, os.stat(file.path)) for file in files]
    return [[os.path.abspath(path), stat.st_size, stat.st_mtime_ns] for path, stat in facts]


def _remote_info(file: File) -> Any:
    return file.filesystem.get_file_info([file.path.as_posix()])[0]
