"""Columns out of whatever holds a table: frames, files, mappings of arrays, memory maps."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given
from ...errors import SchemaError
from ..columns import RawColumn, of_array, of_values
from ..frames import frame_columns, is_series, of_series
from .files import read_csv, read_parquet


def columns_of(
    table: Any, wanted: Sequence[str], all_columns: Sequence[str], numbers: Sequence[str] = ()
) -> dict[str, RawColumn]:
    """Return the wanted columns of a table, of the same length, each value as it stands.

    A two-dimensional array has no names: its columns are taken to be `all_columns`, in this order. Columns declared as
    `numbers` must not be declared as dates by the table.
    """
    if isinstance(table, (str, os.PathLike)):
        return checked(_from_file(Path(table), wanted), numbers)
    if isinstance(table, np.ndarray):
        return checked(_from_array(table, wanted, all_columns), numbers)
    if isinstance(table, Mapping):
        require_names(wanted, list(table))
        return checked({name: _as_column(table[name], name) for name in wanted}, numbers)
    return checked(_from_frame(table, wanted), numbers)


def _as_column(values: Any, name: str) -> RawColumn:
    if is_series(values):
        return of_series(values, name)
    if hasattr(values, "__array__"):
        return _column(values if isinstance(values, np.ma.MaskedArray) else np.asarray(values), name)
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise SchemaError(f"column {name!r} must be a list or array of one dimension, not {given(values)}")
    return of_values(values)


def _column(values: npt.NDArray[Any], name: str) -> RawColumn:
    if values.ndim != 1:
        raise SchemaError(f"column {name!r} must have one dimension, but its shape is {values.shape}")
    return of_array(values)


def _from_file(path: Path, wanted: Sequence[str]) -> dict[str, RawColumn]:
    if not path.exists():
        raise SchemaError(f"table: there is no file {str(path)!r}")
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes[-1:] == [".parquet"]:
        return _from_frame(read_parquet(path, wanted, require_names), wanted)
    if suffixes[-1:] == [".csv"] or suffixes[-2:] == [".csv", ".gz"]:
        return read_csv(path, wanted, require_names)
    raise SchemaError(f"table: {path.name!r} must end in .csv, .csv.gz or .parquet")


def _from_array(table: npt.NDArray[Any], wanted: Sequence[str], all_columns: Sequence[str]) -> dict[str, RawColumn]:
    if table.dtype.names is not None:
        require_names(wanted, table.dtype.names)
        return {name: _column(table[name], name) for name in wanted}
    names = list(all_columns) if table.ndim == 2 and table.shape[1] == len(all_columns) else list(wanted)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise SchemaError(
            f"table: an array must have one column for each of {list(all_columns)}, in this order, but its shape is "
            f"{table.shape}"
        )
    return {name: _column(table[:, names.index(name)], name) for name in wanted}


def _from_frame(table: Any, wanted: Sequence[str]) -> dict[str, RawColumn]:
    columns = frame_columns(table)
    require_names(wanted, list(columns))
    return {name: of_series(columns[name], name) for name in wanted}


def require_names(wanted: Sequence[str], found: Sequence[Any]) -> None:
    """Refuse a table that lacks a column."""
    absent = [name for name in wanted if name not in found]
    if absent:
        raise SchemaError(f"column {absent[0]!r} is not in the table, which has {[str(name) for name in found]}")


def checked(columns: dict[str, RawColumn], numbers: Sequence[str]) -> dict[str, RawColumn]:
    """Return columns of one length; refuse a column declared as dates where numbers are wanted."""
    lengths = {}
    for name, column in columns.items():
        if column.dates and name in numbers:
            raise SchemaError(f"column {name!r} has type {column.dates} (dtype of dates); turn it into numbers first")
        lengths[len(column)] = name
    if len(lengths) > 1:
        shapes = ", ".join(f"{name!r} has {length}" for length, name in lengths.items())
        raise SchemaError(f"the columns of the table differ in length: {shapes}")
    return columns
