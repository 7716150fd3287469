"""Rows of a typical table within declared bounds: what forecasts assume and rehearsals draw. No record is seen."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..data.public import Public

Floats = npt.NDArray[np.float64]
DECAY = 1.0  # the k-th direction has a share of k^-DECAY in the rows' variance
TYPICAL_SHARE = 0.7  # of the declared norm, and of half the width of a column's bounds
REFLECTIONS = 4
SEED = 20261118
ROWS, WIDEST = 4000, 300
ASSUMED = "rows at 0.7 of their declared norm, their variance falling off as 1/k over directions k = 1, 2, ..."


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


@lru_cache(maxsize=64)
def second_moments(public: Public, intercept: bool, even: bool) -> tuple[float, ...]:
    """Return the eigenvalues of E x x' of typical rows, with the constant 1 of an intercept, largest first."""
    width = public.width
    if width > WIDEST:
        few = typical_rows(public, 200, np.random.default_rng(SEED), even)
        shares = np.ones(width) if even else np.arange(1.0, width + 1.0) ** -DECAY
        values = shares / shares.sum() * float((few**2).sum(axis=1).mean())
        return (*((1.0,) if intercept else ()), *values.tolist())
    rows = typical_rows(public, ROWS, np.random.default_rng(SEED), even)
    if intercept:
        rows = np.hstack([np.ones((ROWS, 1)), rows])
    values = np.linalg.eigvalsh(rows.T @ rows / ROWS)
    return tuple(np.maximum(values[::-1], 1e-12 * values[-1]).tolist())
