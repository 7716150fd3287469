"""Arrays, lists and tables of numbers as `Data` takes them: an array of numbers as it is, anything else by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
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


def number_array(values: Any, name: str, width: int | None = None) -> npt.NDArray[Any]:
    """Return an array of numbers of one or two dimensions, NaN for each value that is none; refuse what has no shape.

    Of a list, `width` is the declared number of values of a record. A record of another length is void.

    Examples
    --------
    >>> number_array([[1, "2.5"], [None, True], [3]], "x")
    array([[1. , 2.5],
           [nan, 1. ],
           [nan, nan]])
    """
    if isinstance(values, np.ma.MaskedArray):
        raise WrongType(f"{name} is a masked array; put NaN where it is masked, and see on_invalid")
    if isinstance(values, (Mapping, Set)):
        raise WrongType(f"{name} must hold records in order, not {given(values)}; a mapping is a table for Schema.data")
    if hasattr(values, "tocsr"):  # of scipy.sparse
        values = values.toarray()
    if is_series(values):
        return numbers(of_series(values, name))
    if is_frame(values):
        return _of_frame(values, name)
    if isinstance(values, Iterable) and not hasattr(values, "__array__") and not isinstance(values, (str, bytes)):
        return _of_rows(values if isinstance(values, list) else list(values), name, width)
    return _of_array(np.asarray(values), name)


def target_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Return one number per record, NaN for a value that is none; of a list, each entry is read by itself.

    Examples
    --------
    >>> target_array([0, [1], [1, 2], "x"], "y")
    array([ 0.,  1., nan, nan])
    """
    if isinstance(values, (list, tuple)):
        return numbers(of_values(list(values)))
    return number_array(values, name)


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


def _of_rows(rows: list[Any], name: str, width: int | None) -> npt.NDArray[Any]:
    """Return a list of records as an array; one that does not have `width` values is void.

    Without a declared width it is the one that more than half of the records have, which is taken to be public.
    """
    cells = list(map(_cells, rows))
    wide = _common_width(cells, name) if width is None else width
    void = (None,) * wide
    table = [own if own is not None and len(own) == wide else void for own in cells]
    flat = width is None and 2 * sum(_is_row(row) for row in rows) <= len(rows)
    shape = (len(rows),) if flat else (len(rows), wide)
    if set(map(type, chain.from_iterable(table))) <= PLAIN:
        try:
            return np.array(table, dtype=np.float64).reshape(shape)
        except OverflowError:  # of a whole number beyond all doubles
            pass
    each = map(as_number, chain.from_iterable(table))
    return np.fromiter(each, dtype=np.float64, count=len(rows) * wide).reshape(shape)


def _cells(row: Any) -> Sequence[Any] | None:
    """Return the values of a record, one if it is no row, None if it is a table; methods of its own are not called."""
    if not _is_row(row):
        return (row,)
    kind = type(row)
    if issubclass(kind, np.ndarray):
        return list(row) if row.ndim == 1 else None
    if kind is not list and kind is not tuple:
        row = list(list.__iter__(row) if issubclass(kind, list) else tuple.__iter__(row))
    is_table = len(row) > 0 and _is_row(row[0]) and all(map(_is_row, row))
    return None if is_table else row


def _common_width(cells: Sequence[Sequence[Any] | None], name: str) -> int:
    """Return the number of values that more than half of the records have."""
    if not cells:
        raise InvalidArgument(f"{name} is an empty list, which does not say how wide a record is: declare columns")
    width, alike = Counter(None if own is None else len(own) for own in cells).most_common(1)[0]
    if 2 * alike <= len(cells):
        raise WrongType(
            f"{name} must hold rows of one length, not {given(cells)} with rows of several: declare columns, and then "
            "a row of another length is void"
        )
    if width is None:
        raise InvalidArgument(f"{name} must have one or two dimensions, but it is a list of tables")
    return width


def _is_row(value: Any) -> bool:
    kind = type(value)  # isinstance would ask the value, and a record may raise what it likes
    return issubclass(kind, (list, tuple)) or (issubclass(kind, np.ndarray) and value.ndim > 0)
