"""Columns of pandas, polars and pyarrow tables, value by value, whatever dtype their library chose."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .._optional import require
from ..checks import given
from ..errors import SchemaError
from .columns import RawColumn, of_array, of_values
from .values import iso_texts


def is_frame(table: Any) -> bool:
    """Whether this is a table of named columns (and no mapping or array)."""
    return _library(table) is not None or hasattr(table, "columns") or hasattr(type(table), "collect")


def frame_columns(table: Any) -> dict[Any, Any]:
    """Return the columns of a table by name, as its library holds them; refuse what is no such table."""
    if hasattr(type(table), "collect"):
        raise SchemaError(f"table: a {type(table).__name__} is lazy; pass its .collect()")
    if not hasattr(table, "columns"):
        raise SchemaError(
            f"table must be a pandas, polars or pyarrow table, a path, a mapping or array, not {given(table)}"
        )
    if _library(table) is None:
        table = _as_known(table)
    names = list(table.column_names if _library(table) == "pyarrow" else table.columns)
    for name in names:
        if names.count(name) > 1:
            raise SchemaError(f"table: there is more than one column called {str(name)!r}")
    columns = table.columns if _library(table) == "pyarrow" else [table[name] for name in names]
    return dict(zip(names, columns, strict=True))


def is_series(values: Any) -> bool:
    """Whether this is one column of pandas, polars or pyarrow."""
    return _library(values) is not None and not hasattr(values, "columns")


def of_series(series: Any, name: str) -> RawColumn:
    """Return a column of pandas, polars or pyarrow."""
    library = _library(series)
    if library == "pandas":
        return _of_pandas(series, name)
    if library == "polars":
        return _of_polars(series, name)
    return _of_arrow(series, name)


def _library(table: Any) -> str | None:
    for kind in type(table).__mro__:
        library = kind.__module__.partition(".")[0]
        if library in ("pandas", "polars", "pyarrow"):
            return library
    return None


def _as_known(table: Any) -> Any:
    narwhals = require("narwhals", "dataframes", f"a table of type {type(table).__name__}")
    try:
        frame = narwhals.from_native(table, eager_only=True)
    except TypeError:
        raise SchemaError(f"table: a {type(table).__name__} is not a pandas, polars or pyarrow table") from None
    # Arrow would infer the type of a column of objects from all its records, and refuse one that is mixed.
    return frame.to_pandas() if frame.implementation.is_modin() else frame.to_arrow()


def _of_pandas(series: Any, name: str) -> RawColumn:
    """Return the values that a pandas column stands for: its dtype may be the work of one record."""
    pandas, dtype = sys.modules["pandas"], series.dtype
    if isinstance(dtype, np.dtype):
        return _undated(of_array(series.to_numpy()))
    if isinstance(dtype, pandas.CategoricalDtype):
        levels = _of_pandas(pandas.Series(dtype.categories), name)
        return RawColumn(_flat(levels).values, places=np.asarray(pandas.Categorical(series).codes, dtype=np.int64))
    if isinstance(dtype, pandas.SparseDtype):
        return _undated(of_array(np.asarray(series)))
    if isinstance(dtype, pandas.ArrowDtype):
        array = getattr(series, "array", series)  # of a Series or Index, or one by itself
        return _undated(_of_arrow(array.__arrow_array__(), name, refuse=False))
    numbers = getattr(dtype, "numpy_dtype", None)
    if getattr(dtype, "_is_numeric", False) and numbers is not None:  # Int64, Float64, boolean and their like
        absent = np.asarray(series.isna(), dtype=bool)
        return RawColumn(series.to_numpy(dtype=numbers, na_value=numbers.type(0)), absent)
    return of_values(series.astype(object).tolist())


def _of_polars(series: Any, name: str) -> RawColumn:
    try:
        arrow = series.to_arrow()
    except ImportError:
        require("pyarrow", "dataframes", "a table of polars")
        raise
    except Exception:  # a type that Arrow does not have, such as Object: known without a record
        return of_values(series.to_list())
    return _of_arrow(arrow, name, str(series.dtype))


def _of_arrow(array: Any, name: str, called: str = "", refuse: bool = True) -> RawColumn:
    """Return a column of pyarrow; refuse a type that holds neither numbers nor texts nor dates."""
    pyarrow = require("pyarrow", "dataframes", "a table of pyarrow")
    types, kind = pyarrow.types, array.type
    called = called or str(kind)
    if types.is_dictionary(kind):
        chunks = array.chunks if isinstance(array, pyarrow.ChunkedArray) else [array]
        decoded = pyarrow.chunked_array([chunk.dictionary_decode() for chunk in chunks], type=kind.value_type)
        return _of_arrow(decoded, name, called, refuse)
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return _of_arrow_numbers(array, pyarrow)
    if types.is_date(kind) or types.is_timestamp(kind):
        dates = np.asarray(array.to_numpy(zero_copy_only=False) if _is_array(array) else array.to_numpy())
        texts = iso_texts(dates, "Z" if getattr(kind, "tz", None) else "")
        return RawColumn(of_values(texts).values, dates=called)
    if types.is_null(kind) or types.is_decimal(kind):
        return of_values(array.to_pylist())
    if any(is_text(kind) for is_text in _texts(types)):
        return of_values(_texts_of(array, pyarrow))
    if refuse:
        raise SchemaError(f"column {name!r} has type {called}; turn it into numbers or text first")
    return of_values(map(_as_python, array))


def _of_arrow_numbers(array: Any, pyarrow: Any) -> RawColumn:
    absent = np.asarray(array.is_null()) if array.null_count else None
    if absent is not None:
        if pyarrow.types.is_float16(array.type):
            array = array.cast(pyarrow.float32())
        array = array.fill_null(False if pyarrow.types.is_boolean(array.type) else 0)
    return RawColumn(np.asarray(array), absent)


def _as_python(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except Exception:  # a nanosecond that Python's times do not have
        return None


def _is_array(array: Any) -> bool:
    return not hasattr(array, "chunks")


def _texts(types: Any) -> list[Any]:
    names = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary")
    return [getattr(types, f"is_{name}") for name in names if hasattr(types, f"is_{name}")]


def _texts_of(array: Any, pyarrow: Any) -> list[Any]:
    try:
        found: list[Any] = array.to_pylist()
    except UnicodeDecodeError:  # one text that is none: take all as bytes, which are decoded one by one
        found = array.cast(pyarrow.large_binary()).to_pylist()
    return found


def _undated(column: RawColumn) -> RawColumn:
    """Forget that all values were dates: in pandas that is no declaration."""
    return RawColumn(column.values, column.absent, column.places)


def _flat(column: RawColumn) -> RawColumn:
    """Return the same values without `absent` and `places`."""
    if column.absent is None and column.places is None:
        return column
    values = column.values.astype(object)
    if column.places is not None:
        values = np.append(values, np.array([None], dtype=object))[
            np.where(column.places < 0, len(values), column.places)
        ]
    if column.absent is not None:
        values[column.absent] = None
    return RawColumn(values)
