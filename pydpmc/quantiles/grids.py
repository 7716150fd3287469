"""Public grids: the candidates among which a private quantile is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given, number, reals
from ..errors import InvalidArgument, WrongType

Floats = npt.NDArray[np.float64]
MOST_POINTS = 100_000


def decimal_grid(smallest: int = -6, largest: int = 12) -> Floats:
    """Return 0 and 1, 2 and 5 times powers of ten, of both signs."""
    positive = [digit * 10.0**power for power in range(smallest, largest + 1) for digit in (1.0, 2.0, 5.0)]
    return np.array(sorted([*(-p for p in positive), 0.0, *positive]))


def checked_grid(grid: npt.ArrayLike) -> Floats:
    """Return the points of a grid, or refuse them."""
    points = reals(grid, "grid")
    fine = points.ndim == 1 and 2 <= points.size <= MOST_POINTS and np.isfinite(points).all()
    if not fine or not (np.diff(points) > 0).all():
        raise InvalidArgument(
            f"grid must be 2 to {MOST_POINTS} increasing finite numbers, but its shape is {points.shape}"
        )
    return points


def grids_within(points: Floats, columns: Sequence[str], limits: Any) -> dict[str, Floats]:
    """Return the grid of each column: the points within its public limits, and those limits that are finite."""
    if limits is None:
        limits = {}
    if not isinstance(limits, Mapping):
        raise WrongType(f"limits must map names of columns to pairs (low, high), not {given(limits)}")
    unknown = [name for name in limits if name not in columns]
    if unknown:
        raise InvalidArgument(f"limits has a column {unknown[0]!r}, which is not among columns")
    return {name: _within(points, name, limits[name]) if name in limits else points for name in columns}


def _within(points: Floats, name: str, pair: Any) -> Floats:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise WrongType(f"limits[{name!r}] must be a pair (low, high), not {given(pair)}")
    low, high = (number(end, f"limits[{name!r}]") for end in pair)
    if not low < high:
        raise InvalidArgument(f"limits[{name!r}] must increase, not {(low, high)!r}")
    kept = np.unique([*(end for end in (low, high) if np.isfinite(end)), *points[(points >= low) & (points <= high)]])
    if len(kept) < 2:
        raise InvalidArgument(f"grid has no two points within limits[{name!r}]: pass a grid with points of that size")
    return kept


def apart(low: float, high: float, points: Floats) -> tuple[float, float]:
    """Return bounds that differ, going one point outwards where they fell together."""
    if low < high:
        return low, high
    place = int(np.searchsorted(points, low))
    return float(points[max(0, place - 1)]), float(points[min(len(points) - 1, place + 1)])
