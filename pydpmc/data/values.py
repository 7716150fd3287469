"""One value by itself: its canonical form, and the number it is. Total functions, which no value makes fail.

Proof that nothing else decides what is stored: docs/privacy/encoding.md.
"""

from __future__ import annotations

import datetime
import math
import re
import uuid
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

Key = int | float | str | tuple[Any, ...] | None  # None is a missing value

EXACT = 2**53  # whole numbers below it are doubles
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,399})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: dict[str, Key] = {
    **dict.fromkeys(("True", "true", "TRUE"), 1),
    **dict.fromkeys(("False", "false", "FALSE"), 0),
    **dict.fromkeys(("inf", "Infinity"), math.inf),
    **dict.fromkeys(("-inf", "-Infinity"), -math.inf),
    **dict.fromkeys(("nan", "NaN", "<NA>", "NaT"), None),
}
_MIDNIGHT = "T00:00:00"


def canonical(value: Any) -> Key:
    """Return the canonical form of a value: a number, a text, a tuple of such, or None if it is missing.

    Equal numbers are equal whatever their type, and a text equals the number that it is the usual spelling of
    (``"1"`` and ``"1.0"``, not ``"01"``). Whole numbers are exact; other numbers are the nearest double. A date is its
    ISO 8601 text. Bytes are the text that they spell in UTF-8. A list or array of one value is that value. A value of
    any other type counts as missing.

    Examples
    --------
    >>> from decimal import Decimal
    >>> [canonical(v) for v in (True, 1.0, " 1 ", "1.0", b"1", Decimal("1.00"), np.int8(1))]
    [1, 1.0, 1, 1.0, 1, 1, 1]
    >>> canonical("01"), canonical(2**53 + 1) == 2.0**53, canonical(float("nan")), canonical([1]), canonical([1, 2])
    ('01', False, None, 1, None)
    """
    try:
        return _canonical(value)
    except Exception:  # whatever a record does, it is one record
        return None


def as_number(value: Any) -> float:
    """Return the double nearest to a value, NaN if it is missing or no number; a text is read as Python reads it.

    Examples
    --------
    >>> [as_number(v) for v in (True, "1e3", "01", "many", None, 10**400)]
    [1.0, 1000.0, 1.0, nan, nan, inf]
    """
    if type(value) is float:
        return value
    try:
        if isinstance(value, str) and value.strip() not in _WORDS:
            return float(value)
        key = _canonical(value)
        if isinstance(key, (int, float)):
            return float(key)
        return float(key) if isinstance(key, str) else math.nan
    except Exception:
        return math.nan


def missing_keys(missing_values: Collection[str]) -> frozenset[Key]:
    """Return the canonical forms of the texts that stand for a missing value, and None."""
    return frozenset([None, *map(canonical, missing_values)])


def _canonical(value: Any) -> Key:
    kind = type(value)
    if kind is str:
        return _of_text(value)
    if kind is float:
        return None if math.isnan(value) else float(value)
    if kind is int:
        return _of_whole(value)
    if value is None:
        return None
    if isinstance(value, (np.generic, np.ndarray)):
        return _of_numpy(value)
    return _of_object(value)


def _of_text(text: str) -> Key:
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return _of_whole(int(text))
    return float(text) if _DECIMAL.fullmatch(text) else text


def _of_whole(value: int) -> Key:
    if not -EXACT <= value <= EXACT:
        try:
            float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value


def _of_numpy(value: Any) -> Key:
    if isinstance(value, np.datetime64):
        return iso_texts(np.array([value]))[0]
    if isinstance(value, np.timedelta64) or value is np.ma.masked or value.size != 1:
        return None
    if isinstance(value, np.floating):
        return _canonical(float(value))
    return _canonical(value.item())


def _of_object(value: Any) -> Key:
    if isinstance(value, int):
        return _of_whole(int.__int__(value))  # int() would warn of what a method of the value returns
    if isinstance(value, str):
        return _of_text(str.__str__(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return _of_text(bytes(value).decode())
    if isinstance(value, Decimal):
        return _of_decimal(value)
    if isinstance(value, Fraction):
        return _of_whole(value.numerator) if value.denominator == 1 else float(value)
    if isinstance(value, complex):
        return _canonical(value.real) if value.imag == 0.0 else None
    if isinstance(value, datetime.date | datetime.time):
        return _of_date(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, tuple):
        return tuple(map(canonical, value))
    if isinstance(value, list):
        return _canonical(value[0]) if len(value) == 1 else None
    if isinstance(value, float):
        return _canonical(float.__float__(value))
    if isinstance(value, Real):
        return _canonical(float(value))
    return _canonical(value.as_py()) if hasattr(value, "as_py") else None  # a scalar of pyarrow


def _of_decimal(value: Decimal) -> Key:
    if value.is_nan():
        return None
    is_whole = value.is_finite() and value.adjusted() < 400 and value == value.to_integral_value()
    return _of_whole(int(value)) if is_whole else float(value)


def _of_date(value: Any) -> Key:
    if value != value:  # pandas.NaT
        return None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return _short(value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat()) + "Z"
    return _short(value.isoformat())


def iso_texts(dates: Any, suffix: str = "") -> list[str | None]:
    """Return datetime64 values as ISO 8601 texts, None for NaT; midnight is the date alone.

    Examples
    --------
    >>> iso_texts(np.array(["2020-01-01T00:00", "2020-01-01T12:30", "NaT"], dtype="datetime64[ns]"))
    ['2020-01-01', '2020-01-01T12:30:00', None]
    """
    unit = np.datetime_data(dates.dtype)[0]
    coarse = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit)
    fine = dates if coarse is None else dates.astype(f"datetime64[{coarse}]")
    return [None if text == "NaT" else _short(text) + suffix for text in np.datetime_as_string(fine).tolist()]


def _short(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.removesuffix(_MIDNIGHT)
