"""How records are stored: bounded, rounded to the storage's numbers, padded and aligned."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InvalidArgument
from .public import Public

Storage = Literal["float64", "float32", "fixed16"]
STORAGES: tuple[str, ...] = get_args(Storage)

FIXED16_STEP = 2.0**-14  # of csrc/concepts.hpp
FIXED16_LARGEST = 32767 * FIXED16_STEP
FIXED16_RANGE = 2.0
_DTYPES = {"float64": np.float64, "float32": np.float32, "fixed16": np.int16}
_ALIGNMENT = 64
_SQUARE = 4  # sixteen-bit numbers in the place of a double

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[Any]


def empty_rows(n: int, width: int, has_target: bool, storage: str) -> Rows:
    """Zeros for n records; the core reads four features of a row at a time, or sixteen of small numbers."""
    used = width + has_target * (2 if storage == "fixed16" else 1)
    if holds_squares(width, storage):
        used += _SQUARE
    whole = 1 if width < 4 else 16 if storage != "float64" and width >= 16 else 4
    stride = (used + whole - 1) // whole * whole
    dtype = np.dtype(_DTYPES[storage])
    size = n * stride
    # Not np.zeros: numpy asks for huge pages in np.empty only, and rows read at random miss small ones.
    raw = np.empty(size + _ALIGNMENT // dtype.itemsize, dtype=dtype)
    raw.fill(0)
    start = (-raw.ctypes.data % _ALIGNMENT) // dtype.itemsize
    return raw[start : start + size].reshape(n, stride)


def bound_features(x: Floats, public: Public, storage: str) -> None:
    """Clamp and shorten rows in place; afterwards `towards_zero` breaks no bound."""
    if public.x_bounds is not None:
        np.clip(
            x,
            *np.array([inward(bounds, storage, "x_bounds") for bounds in public.x_bounds]).T,
            out=x,
        )
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
        raise InvalidArgument(f'{name}: no {storage} number lies within {bounds}; use storage="float64"')
    return inside


def towards_zero(values: npt.ArrayLike, storage: str) -> Floats:
    """Round to values that the storage has, none becoming longer: |rounded| <= |value|."""
    exact = np.asarray(values, dtype=np.float64)
    if storage == "float64":
        return exact
    if storage == "fixed16":
        return np.clip(
            np.trunc(exact / FIXED16_STEP) * FIXED16_STEP,
            -FIXED16_LARGEST,
            FIXED16_LARGEST,
        )
    largest = float(np.finfo(np.float32).max)
    rounded = np.clip(exact, -largest, largest).astype(np.float32)
    shorter = np.where(np.abs(rounded) > np.abs(exact), np.nextafter(rounded, np.float32(0.0)), rounded)
    return shorter.astype(np.float64)


def _away_from_zero(value: float, storage: str) -> float:
    below = float(towards_zero(value, storage))
    if below == value:
        return value
    return below + FIXED16_STEP if storage == "fixed16" else float(np.nextafter(np.float32(below), np.float32(np.inf)))


def target_storage(storage: str) -> str:
    """What the target is stored in: beside 16-bit features a float32, in the two numbers after them."""
    return "float32" if storage == "fixed16" else storage


def write_features(rows: Rows, x: Floats) -> None:
    """Store values that the storage has."""
    rows[:, : x.shape[1]] = x / FIXED16_STEP if rows.dtype == np.int16 else x


def write_targets(rows: Rows, width: int, y: Floats) -> None:
    """Store targets that the storage has, or NaN."""
    if rows.dtype == np.int16:
        rows[:, width : width + 2] = y.astype(np.float32).view(np.int16).reshape(-1, 2)
    else:
        rows[:, width] = y


def labels(rows: Rows, width: int, has_target: bool) -> Rows:
    """Return the targets, or the first column without any."""
    if has_target and rows.dtype == np.int16:
        return np.ascontiguousarray(rows[:, width : width + 2]).view(np.float32)[:, 0]
    return rows[:, width if has_target else 0]


def copied(rows: Rows) -> Rows:
    """Return a copy with the alignment that the core wants."""
    raw = np.empty(rows.size + _ALIGNMENT // rows.itemsize, dtype=rows.dtype)
    start = (-raw.ctypes.data % _ALIGNMENT) // rows.itemsize
    copy: Rows = raw[start : start + rows.size].reshape(rows.shape)
    copy[...] = rows
    return copy


def void(rows: Rows, which: npt.NDArray[Any], width: int, has_target: bool) -> None:
    """Mark records as void: the kernels let a NaN contribute nothing."""
    if has_target and rows.dtype == np.int16:
        rows[which, width : width + 2] = np.array([np.nan], dtype=np.float32).view(np.int16)
    else:
        rows[which, width if has_target else 0] = np.nan


def as_doubles(rows: Rows, width: int, has_target: bool) -> Floats:
    """Return the records' values, features and then the target, at the indices where floating-point rows have them."""
    if rows.dtype != np.int16:
        return np.asarray(rows, dtype=np.float64)
    features = rows[:, :width] * FIXED16_STEP
    return np.column_stack([features, labels(rows, width, True)]) if has_target else features


def squares(rows: Rows, public: Public) -> Floats:
    """Return |x|^2 of every row, as the core computes it."""
    return _core.squared_norms(rows=rows, columns=public.width, has_target=public.has_target)


def holds_squares(width: int, storage: str) -> bool:
    """Whether rows end with their |x|^2: rows that are so short that a line of cache elsewhere would show."""
    return storage == "fixed16" and width >= 16


def squares_within(rows: Rows) -> Floats:
    """Return where rows that hold their |x|^2 hold it."""
    kept: Floats = rows[:, -_SQUARE:].view(np.float64)[:, 0]
    return kept


def require_range(public: Public, storage: str) -> None:
    """Refuse 16-bit numbers where no declared bound keeps the features within their range."""
    if storage != "fixed16":
        return
    if not public.has_target:
        raise InvalidArgument('storage="fixed16" is for regressions: it needs y; use "float32"')
    norm = np.inf if public.row_norm is None else public.row_norm
    ends = np.full((1, 2), np.inf) if public.x_bounds is None else np.abs(public.x_bounds)
    if np.minimum(ends.max(axis=1), norm).max() > FIXED16_RANGE:
        raise InvalidArgument(
            f'storage="fixed16" holds features between -{FIXED16_RANGE:g} and {FIXED16_RANGE:g}: declare row_norm or '
            'x_bounds within that, after scaling by public constants if need be; or use "float32"'
        )


def _squared_norms(rows: Floats) -> Floats:
    """Sum column by column, so that a row's norm never depends on where it stands in the table."""
    total = np.zeros(len(rows))
    for j in range(rows.shape[1]):
        total += rows[:, j] * rows[:, j]
    return total
