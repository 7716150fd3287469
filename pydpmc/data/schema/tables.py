"""Columns out of whatever holds a table: frames, files, mappings of arrays, memory maps."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._optional import require
from ...checks import given
from ...errors import SchemaError
from .files import read_csv, read_parquet
from .values import Raw


def columns_of(table: Any, wanted: Sequence[str], all_columns: Sequence[str]) -> dict[str, Raw]:
    """Return the wanted columns of a table as one-dimensional arrays of the same length.

    A two-dimensional array has no names: its columns are taken to be `all_columns`, in this order.
    """
    if isinstance(table, (str, os.PathLike)):
        return _checked(_from_file(Path(table), wanted))
    if isinstance(table, np.ndarray):
        return _checked(_from_array(table, wanted, all_columns))
    if isinstance(table, Mapping):
        _require_names(wanted, list(table))
        return _checked({name: _as_column(table[name], name) for name in wanted})
    return _checked(_from_frame(table, wanted))


def _as_column(values: Any, name: str) -> Raw:
    try:
        return np.asarray(values)
    except ValueError:
        raise SchemaError(f"column {name!r} must have one dimension, and its entries differ in length") from None


def _from_file(path: Path, wanted: Sequence[str]) -> dict[str, Raw]:
    if not path.exists():
        raise SchemaError(f"table: there is no file {str(path)!r}")
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes[-1:] == [".parquet"]:
        return _from_frame(read_parquet(path, wanted, _require_names), wanted)
    if suffixes[-1:] == [".csv"] or suffixes[-2:] == [".csv", ".gz"]:
        return read_csv(path, wanted, _require_names)
    raise SchemaError(f"table: {path.name!r} must end in .csv, .csv.gz or .parquet")


def _from_array(table: Raw, wanted: Sequence[str], all_columns: Sequence[str]) -> dict[str, Raw]:
    if table.dtype.names is not None:
        _require_names(wanted, table.dtype.names)
        return {name: table[name] for name in wanted}
    names = list(all_columns) if table.ndim == 2 and table.shape[1] == len(all_columns) else list(wanted)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise SchemaError(
            f"table: an array must have one column for each of {list(all_columns)}, in this order, but its shape is "
            f"{table.shape}"
        )
    return {name: table[:, names.index(name)] for name in wanted}


def _from_frame(table: Any, wanted: Sequence[str]) -> dict[str, Raw]:
    if hasattr(type(table), "collect"):
        raise SchemaError(f"table: a {type(table).__name__} is lazy; pass its .collect()")
    if not hasattr(table, "columns"):
        raise SchemaError(
            f"table must be a pandas, polars or pyarrow table, a path, a mapping or array, not {given(table)}"
        )
    nw = require("narwhals", "dataframes", f"a table of type {type(table).__name__}")
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise SchemaError(f"table: a {type(table).__name__} is not a pandas, polars or pyarrow table") from None
    _require_names(wanted, frame.columns)
    return {name: _from_series(frame[name], name, nw) for name in wanted}


def _from_series(series: Any, name: str, nw: Any) -> Raw:
    dtype = series.dtype
    if dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    elif dtype not in (nw.String, nw.Boolean, nw.Object):
        raise SchemaError(f"column {name!r} has type {dtype}; turn it into numbers or text first")
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def _require_names(wanted: Sequence[str], found: Sequence[Any]) -> None:
    absent = [name for name in wanted if name not in found]
    if absent:
        raise SchemaError(f"column {absent[0]!r} is not in the table, which has {[str(name) for name in found]}")


def _checked(columns: dict[str, Raw]) -> dict[str, Raw]:
    lengths = {}
    for name, values in columns.items():
        if values.ndim != 1:
            raise SchemaError(f"column {name!r} must have one dimension, but its shape is {values.shape}")
        if values.dtype.kind == "U":
            columns[name] = values.astype(object)
        elif values.dtype.kind not in "fiubO":
            raise SchemaError(f"column {name!r} has dtype {values.dtype}; turn it into numbers or text first")
        lengths[len(values)] = name
    if len(lengths) > 1:
        shapes = ", ".join(f"{name!r} has {length}" for length, name in lengths.items())
        raise SchemaError(f"the columns of the table differ in length: {shapes}")
    return columns
