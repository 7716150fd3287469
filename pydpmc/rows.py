"""How records are stored: bounded, rounded to the storage's numbers, padded and aligned."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from .errors import InvalidArgument
from .public import Public

Storage = Literal["float64", "float32"]
STORAGES: tuple[str, ...] = get_args(Storage)

_ALIGNMENT = 64

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[Any]


def empty_rows(n: int, width: int, has_target: bool, storage: str) -> Rows:
    """Zeros for n records; the core reads four features of a row at a time, so wider rows are whole fours."""
    used = width + has_target
    stride = used if width < 4 else (used + 3) // 4 * 4
    dtype = np.dtype(storage)
    size = n * stride
    raw = np.zeros(size + _ALIGNMENT // dtype.itemsize, dtype=dtype)
    start = (-raw.ctypes.data % _ALIGNMENT) // dtype.itemsize
    return raw[start : start + size].reshape(n, stride)


def bound_features(x: Floats, public: Public, storage: str) -> None:
    """Clamp and shorten rows in place; afterwards `towards_zero` breaks no bound."""
    if public.x_bounds is not None:
        np.clip(x, *np.array([inward(bounds, storage, "x_bounds") for bounds in public.x_bounds]).T, out=x)
    if public.row_norm is not None and x.shape[1] == 1:
        np.clip(x, -public.row_norm, public.row_norm, out=x)
    elif public.row_norm is not None:
        limit = public.row_norm * (1.0 - (x.shape[1] + 8) * 2.0**-52)  # room for the rounding of a norm
        largest = np.abs(x).max(axis=1)
        safe = np.where(largest > 0, largest, 1.0)
        scaled = x / safe[:, None]  # squares of 1e300 must not overflow
        norms = np.sqrt(_squared_norms(scaled))
        long = norms > limit / safe
        x[long] = scaled[long] * (limit / norms[long])[:, None]


def inward(bounds: tuple[float, float], storage: str, name: str) -> tuple[float, float]:
    """Return the widest bounds within `bounds` that the storage has."""
    low, high = bounds
    inside = (
        float(towards_zero(low, storage)) if low <= 0 else _away_from_zero(low, storage),
        float(towards_zero(high, storage)) if high >= 0 else -_away_from_zero(-high, storage),
    )
    if inside[0] > inside[1]:
        raise InvalidArgument(f'{name}: no {storage} lies within {bounds}; use storage="float64"')
    return inside


def towards_zero(values: npt.ArrayLike, storage: str) -> Rows:
    """Round to the storage's numbers, none becoming longer: |rounded| <= |value|, at most 2^-23 less for float32."""
    exact = np.asarray(values, dtype=np.float64)
    if storage == "float64":
        return exact
    largest = float(np.finfo(np.float32).max)
    rounded = np.clip(exact, -largest, largest).astype(np.float32)
    return np.where(np.abs(rounded) > np.abs(exact), np.nextafter(rounded, np.float32(0.0)), rounded)


def _away_from_zero(value: float, storage: str) -> float:
    below = towards_zero(value, storage)
    return value if float(below) == value else float(np.nextafter(below, np.inf, dtype=below.dtype))


def _squared_norms(rows: Floats) -> Floats:
    """Sum column by column, so that a row's norm never depends on where it stands in the table."""
    total = np.zeros(len(rows))
    for j in range(rows.shape[1]):
        total += rows[:, j] * rows[:, j]
    return total
