"""A column as it was handed over, without a type inferred from its records, and what becomes of each value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .values import Key, as_number, canonical, iso_texts, missing_keys

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

NUMBERS = "fiub"  # kinds of dtype whose values are numbers of one type


@dataclass(frozen=True, eq=False)
class RawColumn:
    """Values by record. Which representation holds them is no matter: every function of it acts value by value.

    Attributes
    ----------
    values
        An array of numbers, or of objects.
    absent
        Which of them are missing, besides NaN, None and their like.
    places
        If given, record i holds ``values[places[i]]``, or nothing where that is negative.
    dates
        The declared type of a column of dates, "" else.
    """

    values: npt.NDArray[Any]
    absent: npt.NDArray[np.bool_] | None = None
    places: npt.NDArray[Any] | None = None
    dates: str = ""

    def __len__(self) -> int:
        return len(self.values if self.places is None else self.places)

    @property
    def is_numbers(self) -> bool:
        """Whether the values are an array of numbers."""
        return self.values.dtype.kind in NUMBERS


def numbers(column: RawColumn, missing_values: Collection[str] = ()) -> Floats:
    """Return each value as a double, NaN where it is missing or no number.

    Examples
    --------
    >>> numbers(of_values(["3.5", "?", "many", None, True]), ["?"])
    array([3.5, nan, nan, nan, 1. ])
    """
    missing = missing_keys(missing_values)
    values = column.values
    if column.is_numbers:
        with np.errstate(all="ignore"):  # a warning would depend on the records
            found = np.array(values, dtype=np.float64)
        for key in missing:
            found[equals(values, key)] = np.nan
    else:
        found = np.fromiter(map(as_number, values.tolist()), dtype=np.float64, count=len(values))
        if any(not math.isnan(as_number(key)) for key in missing):
            found[[canonical(value) in missing for value in values.tolist()]] = np.nan
    result: Floats = spread(column, found, np.nan)
    return result


def codes(column: RawColumn, code_of: Any, missing: int) -> Codes:
    """Return `code_of` the canonical form of each value; `missing` where a record holds none."""
    known: dict[str, int] = {}

    def code(value: Any) -> int:
        if type(value) is not str:
            return int(code_of(canonical(value)))
        if value not in known:
            known[value] = int(code_of(canonical(value)))
        return known[value]

    each = (code(value) for value in column.values.tolist())
    found = np.fromiter(each, dtype=np.int64, count=len(column.values))
    result: Codes = spread(column, found, missing)
    return result


def label_codes(column: RawColumn) -> Codes:
    """Number the distinct values in the order in which they appear; all that are missing are one.

    Examples
    --------
    >>> label_codes(of_values([2**53 + 1, "b", 2**53, None, float(2**53), float("nan")]))
    array([0, 1, 2, 3, 2, 3])
    """
    if column.is_numbers:
        _, inverse = np.unique(column.values, return_inverse=True)
        found = inverse.reshape(-1).astype(np.int64)
        if column.values.dtype.kind == "f":
            found[np.isnan(column.values)] = -1
        found = spread(column, found, -1)
    else:
        seen: dict[Key, int] = {None: -1}
        found = codes(column, lambda key: seen.setdefault(key, len(seen)), -1)
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def equals(values: npt.NDArray[Any], key: Key) -> npt.NDArray[np.bool_]:
    """Tell which of an array's numbers equal a canonical value exactly."""
    nothing = np.zeros(len(values), dtype=bool)
    if not isinstance(key, (int, float)):
        return nothing
    if values.dtype.kind == "b":
        return values == bool(key) if key in (0, 1) else nothing
    if values.dtype.kind == "f":
        wide = values.astype(np.float64, copy=False)  # numpy would round the key to the values' own precision
        return wide == float(key) if float(key) == key else nothing
    limits = np.iinfo(values.dtype)
    if not limits.min <= key <= limits.max or key != int(key):
        return nothing
    return np.asarray(values == values.dtype.type(int(key)))


def spread(column: RawColumn, found: Any, missing: Any) -> Any:
    """Return what was found of the values, by record."""
    if column.places is not None:
        nothing = column.places < 0
        found = np.append(found, missing).astype(found.dtype)[np.where(nothing, len(found), column.places)]
    if column.absent is not None:
        found[column.absent] = missing
    return found


def of_values(values: Iterable[Any]) -> RawColumn:
    """Return a column of Python values, each as it is: numpy would make all texts of [1.0, "a"]."""
    listed = values if isinstance(values, list) else list(values)
    types = set(map(type, listed))
    if types == {float}:
        return RawColumn(np.array(listed, dtype=np.float64))
    if types == {bool}:
        return RawColumn(np.array(listed, dtype=bool))
    if types == {int}:
        try:
            return RawColumn(np.array(listed, dtype=np.int64))
        except OverflowError:
            pass
    return RawColumn(_objects(listed))


def of_array(array: npt.NDArray[Any]) -> RawColumn:
    """Return a column of a one-dimensional array; of a masked one, what is masked is missing."""
    absent = None
    if isinstance(array, np.ma.MaskedArray):
        absent, array = np.ma.getmaskarray(array), np.ma.getdata(array)
    kind = array.dtype.kind
    if array.dtype == np.longdouble and kind == "f":
        with np.errstate(all="ignore"):
            return RawColumn(array.astype(np.float64), absent)
    if kind in NUMBERS or kind == "O":
        return RawColumn(np.asarray(array), absent)
    if kind == "M":
        return RawColumn(_objects(iso_texts(array)), absent, dates=str(array.dtype))
    return RawColumn(_objects(array.tolist() if kind in "USTc" else list(array)), absent)


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))  # np.array would look into values that are sequences
