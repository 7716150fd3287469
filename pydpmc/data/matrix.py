"""Arrays, lists and tables of numbers as `Data` takes them: an array of numbers as it is, anything else by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given
from ..errors import InvalidArgument, SchemaError, WrongType
from .columns import NUMBERS, RawColumn, numbers, of_array, of_values
from .frames import frame_columns, is_frame, is_series, of_series
from .values import as_number

PLAIN = {float, int, bool}


def number_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of numbers of one or two dimensions, NaN for each value that is none; refuse what has no shape.

    Examples
    --------
    >>> number_array([[1, "2.5"], [None, True]], "x")
    array([[1. , 2.5],
           [nan, 1. ]])
    """
    if isinstance(values, np.ma.MaskedArray):
        raise WrongType(f"{name} is a masked array; put NaN where it is masked, and see on_invalid")
    if hasattr(values, "tocsr"):  # of scipy.sparse
        values = values.toarray()
    if is_series(values):
        return numbers(of_series(values, name))
    if is_frame(values):
        return _of_frame(values, name)
    if isinstance(values, Iterable) and not hasattr(values, "__array__") and not isinstance(values, (str, bytes)):
        return _of_rows(values if isinstance(values, (list, tuple)) else list(values), name)
    return _of_array(np.asarray(values), name)


def label_column(labels: Any, name: str) -> RawColumn:
    """Return labels of one dimension as a column."""
    if is_series(labels):
        return of_series(labels, name)
    if hasattr(labels, "__array__"):
        array = labels if isinstance(labels, np.ma.MaskedArray) else np.asarray(labels)
        if array.ndim != 1:
            raise InvalidArgument(f"{name} must have one dimension, but its shape is {array.shape}")
        return of_array(array)
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise WrongType(f"{name} needs one label per row, not {given(labels)}")
    return of_values(labels)


def _of_array(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if array.dtype.kind in NUMBERS:
        return array
    if array.dtype.kind in "MmV":
        raise WrongType(f"{name} must hold real numbers, but its dtype is {array.dtype}; encode it as numbers first")
    if array.ndim == 0:
        raise WrongType(f"{name} must hold rows of numbers, not {given(array.item())}")
    flat = numbers(of_array(array.reshape(-1)))
    return flat.reshape(array.shape)


def _of_frame(table: Any, name: str) -> npt.NDArray[Any]:
    try:
        columns = frame_columns(table)
        found = [numbers(of_series(column, str(label))) for label, column in columns.items()]
    except SchemaError as error:
        raise WrongType(f"{name}: {error}") from None
    return np.column_stack(found) if found else np.empty((len(table), 0))


def _of_rows(rows: Sequence[Any], name: str) -> npt.NDArray[Any]:
    """Return a list of values, or of rows, as an array. What most records are is its shape; another record is void."""
    nested = [_is_row(row) for row in rows]
    if 2 * sum(nested) <= len(rows):
        return numbers(of_values(rows if isinstance(rows, list) else list(rows)))
    lengths = Counter(len(row) for row, is_row in zip(rows, nested, strict=True) if is_row)
    width, alike = lengths.most_common(1)[0]
    if 2 * alike <= len(rows):
        raise WrongType(f"{name} must hold rows of one length, not {given(rows)}")
    if alike < len(rows):
        void = (None,) * width
        rows = [row if is_row and len(row) == width else void for row, is_row in zip(rows, nested, strict=True)]
    elif set(map(type, chain.from_iterable(rows))) <= PLAIN:
        try:
            return np.array(rows, dtype=np.float64)
        except OverflowError:  # of a whole number beyond all doubles
            pass
    elif all(_is_row(value) for value in chain.from_iterable(rows)):
        return _of_array(np.asarray(rows), name)  # of three dimensions
    each = map(as_number, chain.from_iterable(rows))
    return np.fromiter(each, dtype=np.float64, count=len(rows) * width).reshape(len(rows), -1)


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)
