"""What may be known for free: the shape of a table, the bounds its owner declared, and the rows they let one expect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given, number, positive, reals, whole
from ..errors import InvalidArgument, WrongType

Bounds = tuple[Any, Any]
Floats = npt.NDArray[np.float64]

# Left out if None, so that checkpoints of before still fit.
ADDED_LATER = ("base_rate", "typical_norm", "max_weight", "target_levels", "second_moments")
DECAY = 1.0  # the k-th direction of a typical table has a share of k^-DECAY in its rows' variance
TYPICAL_SHARE = 0.7  # of the declared norm, and of half the width of a column's bounds
REFLECTIONS = 4
ROUGHLY = 1e-8  # of the largest entry: rounding of a printed matrix
SEED = 20261118


@dataclass(frozen=True)
class Public:
    """The public facts of a data set, and nothing else of it.

    Parameters
    ----------
    n
        Number of units: of records or, if `grouped`, of groups. It is public under ``adjacency="replace"`` only; a
        plan under ``"add_remove"`` never reads it and uses `public_n` instead. The number of records of a grouped
        table is not here: it is private.
    columns
        Names of the feature columns.
    has_target
        Whether each record has a target y.
    row_norm
        Declared bound on the Euclidean norm of a record's features.
    x_bounds
        Declared (low, high) per feature column.
    y_bounds
        Declared (low, high) of the target.
    target_levels
        Declared names of the classes 0, 1, ... of the target, which name the coefficients of a softmax regression.
    public_n
        A number of units that is declared public, for planning under ``"add_remove"``.
    grouped
        Whether the unit of privacy is a group of records.
    max_group_size
        Declared bound on the number of records of a group.
    base_rate
        For forecasts alone: a publicly known share of records with y = 1, or mean count.
    typical_norm
        For forecasts alone: a publicly known norm of a typical record's features.
    max_weight
        Declared bound on the weight of a record; None if records have no weights.
    second_moments
        For forecasts alone: a publicly known matrix E x x' of a record's features, such as a published covariance of
        columns with mean zero.
    """

    n: int
    columns: tuple[str, ...]
    has_target: bool
    row_norm: float | None = None
    x_bounds: tuple[tuple[float, float], ...] | None = None
    y_bounds: tuple[float, float] | None = None
    target_levels: tuple[str, ...] | None = None
    public_n: int | None = None
    grouped: bool = False
    max_group_size: int | None = None
    base_rate: float | None = None
    typical_norm: float | None = None
    max_weight: float | None = None
    second_moments: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        whole(self.n, "n", least=0)  # a plan under "add_remove" keeps none
        if isinstance(self.columns, str) or not isinstance(self.columns, Sequence):
            raise WrongType(f"columns must be the names of the feature columns, not {given(self.columns)}")
        object.__setattr__(self, "columns", tuple(self.columns))
        for name in ("row_norm", "base_rate", "typical_norm", "max_weight"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        for name in ("public_n", "max_group_size"):
            if getattr(self, name) is not None:
                whole(getattr(self, name), name)
        object.__setattr__(self, "second_moments", moment_matrix(self.second_moments, len(self.columns)))

    @property
    def unit(self) -> str:
        """What is protected, as guarantees call it."""
        return "one group" if self.grouped else "one record"

    @property
    def records_per_unit(self) -> int | None:
        """The most records of a unit, or None if that is not bounded."""
        return self.max_group_size if self.grouped else 1

    @property
    def width(self) -> int:
        """Number of feature columns."""
        return len(self.columns)

    @property
    def feature_norm(self) -> float | None:
        """The least declared bound on the norm of a record's features, or None."""
        bounds = [] if self.row_norm is None else [self.row_norm]
        if self.x_bounds is not None:
            far = [max(abs(lo), abs(hi)) for lo, hi in self.x_bounds]
            bounds.append(math.sqrt(sum(x * x for x in far)))  # infinite if it overflows
        return min(bounds) if bounds else None

    def size(self, adjacency: str) -> int | None:
        """Return the number of units a plan under this adjacency may know."""
        return self.n if adjacency == "replace" else self.public_n

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values, e.g. for JSON; those added later only if they are declared."""
        facts = {field.name: _lists(getattr(self, field.name)) for field in fields(self)}
        return {name: fact for name, fact in facts.items() if fact is not None or name not in ADDED_LATER}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Public:
        """Return the inverse of `to_dict`."""
        return cls(**{field.name: _tuples(saved[field.name]) for field in fields(cls) if field.name in saved})


def _lists(value: Any) -> Any:
    return [_lists(entry) for entry in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(entry) for entry in value) if isinstance(value, list) else value


def column_names(columns: Sequence[str] | None, width: int) -> tuple[str, ...]:
    """Return the declared names of the columns, or x0, x1, ...; refuse names that do not fit."""
    if columns is None:
        return tuple(f"x{j}" for j in range(width))
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise WrongType(f"columns must be {width} names, one per column of x, not {given(columns)}")
    names = tuple(str(c) for c in columns)
    if len(names) != width or len(set(names)) != width:
        raise InvalidArgument(
            f"columns must be {width} distinct names, one per column of x, but {len(names)} were given"
        )
    return names


def column_bounds(bounds: Bounds | None, width: int) -> tuple[tuple[float, float], ...] | None:
    """Return the declared (low, high) of each column, or refuse them."""
    if bounds is None:
        return None
    try:
        low, high = (np.broadcast_to(reals(b, "x_bounds"), (width,)) for b in bounds)
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"x_bounds must be (low, high), each one number or an array with one number per column ({width})"
        ) from None
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise InvalidArgument("x_bounds must be finite with low <= high in every column")
    return tuple((float(a), float(b)) for a, b in zip(low, high, strict=True))


def target_bounds(bounds: Any) -> tuple[float, float]:
    """Return (low, high) of the target, or refuse it."""
    try:
        low, high = (number(b, "y_bounds") for b in bounds)
    except (TypeError, ValueError):
        raise InvalidArgument("y_bounds must be (low, high), two numbers") from None
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise InvalidArgument("y_bounds must be (low, high), finite with low <= high")
    return low, high


def moment_matrix(matrix: Any, width: int) -> tuple[tuple[float, ...], ...] | None:
    """Return declared second moments of the columns as plain numbers, or refuse them."""
    if matrix is None:
        return None
    values = reals(matrix, "second_moments")
    if values.shape != (width, width):
        raise InvalidArgument(f"second_moments must have shape ({width}, {width}), one row per column of x")
    largest = float(np.abs(values).max(initial=0.0))
    if not (math.isfinite(largest) and np.allclose(values, values.T, rtol=0.0, atol=ROUGHLY * largest)):
        raise InvalidArgument("second_moments must be a symmetric matrix of finite numbers")
    if float(np.linalg.eigvalsh(values).min()) < -ROUGHLY * largest or float(np.trace(values)) <= 0.0:
        raise InvalidArgument("second_moments must be a matrix E x x': no eigenvalue is negative, and not all are zero")
    return tuple(tuple(float(value) for value in row) for row in (values + values.T) / 2.0)


def _of_moments(matrix: tuple[tuple[float, ...], ...], normal: Floats) -> Floats:
    """Return rows with these second moments from rows of independent standard normals."""
    values, vectors = np.linalg.eigh(np.array(matrix))
    return np.asarray(normal @ (vectors * np.sqrt(np.maximum(values, 0.0))).T)


def typical_rows(public: Public, count: int, random: np.random.Generator, even: bool = False) -> Floats:
    """Return rows of the declared shape, shape (count, width).

    `even` rows have the declared norm and fill all directions alike: as much as the bounds allow a table to say.

    Examples
    --------
    >>> public = Public(n=9, columns=("a", "b"), has_target=True, row_norm=2.0)
    >>> rows = typical_rows(public, 1000, np.random.default_rng(0))
    >>> rows.shape, bool((np.linalg.norm(rows, axis=1) <= 2.0 + 1e-9).all())
    ((1000, 2), True)
    """
    width = public.width
    if public.second_moments is not None and not even:
        return _clipped(public, _of_moments(public.second_moments, random.normal(size=(count, width))))
    shares = np.ones(width) if even else np.arange(1.0, width + 1.0) ** -DECAY
    rows = random.normal(size=(count, width)) * np.sqrt(shares / shares.sum())
    axes = np.random.default_rng(SEED).normal(size=(REFLECTIONS, width))
    for axis in axes / np.linalg.norm(axes, axis=1, keepdims=True):
        rows -= 2.0 * np.outer(rows @ axis, axis)
    rows = _within(public, rows, even)
    if public.typical_norm is not None and not even:
        rows *= public.typical_norm / max(math.sqrt(float((rows**2).sum(axis=1).mean())), 1e-300)
        rows = _clipped(public, rows)
    return rows


def _within(public: Public, rows: Floats, even: bool) -> Floats:
    share = 1.0 if even else TYPICAL_SHARE
    if public.x_bounds is not None:
        low, high = np.array(public.x_bounds).T
        rows = (low + high) / 2.0 + (high - low) / 2.0 * share * math.sqrt(public.width) * rows
    else:
        norm = public.feature_norm or 1.0
        if even:
            rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
        rows = norm * share * rows
    return _clipped(public, rows)


def _clipped(public: Public, rows: Floats) -> Floats:
    if public.x_bounds is not None:
        rows = np.clip(rows, *np.array(public.x_bounds).T)
    if public.row_norm is not None:
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows * np.minimum(1.0, public.row_norm / np.maximum(norms, 1e-300))
    return rows
