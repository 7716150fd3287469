"""A raw column as numbers or as text. Total functions: whatever a record holds, nothing is raised."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Raw = npt.NDArray[Any]


def as_numbers(raw: Raw, missing_values: Collection[str]) -> Floats:
    """Return the column as float64, NaN where it is missing or not a number.

    Examples
    --------
    >>> as_numbers(np.array(["3.5", "?", "many", None], dtype=object), {"?"})
    array([3.5, nan, nan, nan])
    """
    if raw.dtype.kind in "fiub":
        return np.array(raw, dtype=np.float64)
    return np.fromiter((_number(value, missing_values) for value in raw), dtype=np.float64, count=len(raw))


def as_texts(raw: Raw, missing_values: Collection[str]) -> list[str | None]:
    """Return the column as text without surrounding white space, None where it is missing.

    Examples
    --------
    >>> as_texts(np.array([1.0, 2.5, np.nan]), {""})
    ['1', '2.5', None]
    """
    return [_text(value, missing_values) for value in raw.tolist()]


def _number(value: Any, missing_values: Collection[str]) -> float:
    if isinstance(value, str):
        value = value.strip()
        if value in missing_values:
            return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan


def _text(value: Any, missing_values: Collection[str]) -> str | None:
    if value is None or value != value:  # NaN
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    return None if text in missing_values or text == "<NA>" else text
