"""CSV and Parquet files. No type is guessed from the records: what a column means is in the schema."""

from __future__ import annotations

import csv
import gzip
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import IO, Any, cast

from ..._optional import require
from ...errors import PydpmcError, SchemaError
from ..columns import RawColumn, of_values

LONGEST_FIELD = 2**31 - 1 if sys.platform == "win32" else sys.maxsize  # the csv module keeps it in a C long

RequireNames = Callable[[Sequence[str], Sequence[Any]], None]


def read_csv(path: Path, wanted: Sequence[str], require_names: RequireNames) -> dict[str, RawColumn]:
    """Return columns of a CSV file with a header as text; a row too short has missing values.

    An empty line is a record with a missing value if the file has one column. No record of several values is written
    as an empty line, and then it is none.
    """
    parts = list(csv_batches(path, wanted, require_names, sys.maxsize))
    return parts[0] if parts else {name: of_values([]) for name in wanted}


def csv_batches(
    path: Path, wanted: Sequence[str], require_names: RequireNames, size: int
) -> Iterator[dict[str, RawColumn]]:
    """Yield columns of a CSV file, `size` records at a time; the last may be fewer."""
    csv.field_size_limit(LONGEST_FIELD)
    with _readable(path), _opened(path) as file:
        reader = csv.reader(file)
        header = _header(reader, path)
        require_names(wanted, header)
        places = [header.index(name) for name in wanted]
        records = (row for row in reader if row or len(header) == 1)
        while part := list(islice(records, size)):
            texts = ([row[place] if place < len(row) else None for row in part] for place in places)
            yield {name: of_values(column) for name, column in zip(wanted, texts, strict=True)}


def csv_header(path: Path) -> list[str]:
    """Return the column names of a CSV file."""
    with _readable(path), _opened(path) as file:
        return _header(csv.reader(file), path)


def read_parquet(path: Path, wanted: Sequence[str], require_names: RequireNames) -> Any:
    """Return columns of a Parquet file as a pyarrow table."""
    with _readable(path), _parquet(path, text_as_it_is=True) as file:
        require_names(wanted, file.schema_arrow.names)
        table = file.read(columns=list(dict.fromkeys(wanted)))
    return decodable(table)


def decodable(table: Any) -> Any:
    """Return a pyarrow table in which bytes that are no UTF-8 are replaced, value by value."""
    for place, field in enumerate(table.schema):
        table = table.set_column(place, field.name, _decodable(table.column(place)))
    return table


def parquet_types(path: Path) -> dict[str, str]:
    """Return column names and types of a Parquet file, without reading a record."""
    with _parquet(path) as file:
        return {field.name: str(field.type) for field in file.schema_arrow}


def _parquet(path: Path, text_as_it_is: bool = False, stream: Any = None) -> Any:
    parquet = require("pyarrow.parquet", "dataframes", f"reading {path.name}")
    options: dict[str, Any] = {}
    if text_as_it_is and "binary_type" in inspect.signature(parquet.ParquetFile).parameters:
        # Without it a dictionary of texts is checked for UTF-8 as it is read, and one record refuses the file.
        options["binary_type"] = require("pyarrow", "dataframes", f"reading {path.name}").large_binary()
    if stream is not None:  # read page by page: a row group may be larger than memory
        options |= {"pre_buffer": False, "buffer_size": 2**20}
    with _readable(path):
        return parquet.ParquetFile(path if stream is None else stream, **options)


def parquet_batches(
    path: Path, stream: Any, wanted: Sequence[str], size: int, rows: tuple[int, int] | None = None
) -> Iterator[Any]:
    """Yield tables of at most `size` records of a Parquet file, read a page at a time; of `rows`, if given."""
    pa = require("pyarrow", "dataframes", f"reading {path.name}")
    with _readable(path), _parquet(path, text_as_it_is=True, stream=stream) as file:
        groups, skipped, left = _groups_of(file.metadata, rows)
        read = file.iter_batches(size, row_groups=groups, columns=list(dict.fromkeys(wanted)), use_threads=False)
        for batch in read:
            part = batch.slice(skipped)
            skipped -= min(skipped, batch.num_rows)
            part = part if left is None else part.slice(0, left)
            left = None if left is None else left - part.num_rows
            if part.num_rows:
                yield decodable(pa.Table.from_batches([part]))
            if left == 0:
                return


def parquet_facts(path: Path, stream: Any) -> tuple[list[str], int]:
    """Return the names of a Parquet file's columns and its number of rows, from its footer alone."""
    with _readable(path), _parquet(path, stream=stream) as file:
        return list(file.schema_arrow.names), int(file.metadata.num_rows)


def _groups_of(metadata: Any, rows: tuple[int, int] | None) -> tuple[list[int], int, int | None]:
    """Return the row groups that hold these rows, how many rows to skip in them, and how many to take."""
    sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    if rows is None:
        return list(range(len(sizes))), 0, None
    low, high = rows
    ends = list(accumulate(sizes, initial=0))
    groups = [k for k, size in enumerate(sizes) if ends[k] < high and ends[k] + size > low]
    return groups, low - ends[groups[0]] if groups else 0, high - low


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what a reader raises on a damaged file into our error; its own message might quote the file."""
    try:
        yield
    except PydpmcError:
        raise
    except Exception:  # csv, gzip, zlib and pyarrow each have errors of their own
        kind = "Parquet" if path.suffix == ".parquet" else "CSV"
        raise SchemaError(f"table: {path.name!r} is not a {kind} file that can be read, or it is damaged") from None


def _decodable(column: Any) -> Any:
    """Replace bytes that are no UTF-8, value by value, as in a CSV file: one record must not raise an error."""
    pa = require("pyarrow", "dataframes", "reading a Parquet file")
    if pa.types.is_dictionary(column.type) and _is_text(pa, column.type.value_type):
        return _decodable(column.cast(column.type.value_type))
    if not _is_text(pa, column.type):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        values = column.cast(pa.large_binary()).to_pylist()
        return pa.array([None if value is None else value.decode("utf-8", "replace") for value in values])
    return column


def _is_text(pa: Any, kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _opened(path: Path) -> IO[str]:
    options: dict[str, Any] = {"newline": "", "encoding": "utf-8-sig", "errors": "replace"}
    return cast("IO[str]", gzip.open(path, "rt", **options) if path.suffix == ".gz" else path.open(**options))


def _header(reader: Any, path: Path) -> list[str]:
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise SchemaError(f"table: {path.name!r} is empty; its first line must hold the names of the columns")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise SchemaError(f"table: {path.name!r} has more than one column called {repeated[0]!r}")
    return header
