"""Groups of records: which rows belong together, found once, from labels that are never kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given, whole
from ..errors import InvalidArgument, WrongType

ORDERED = "iubUSfMm"  # kinds of dtype that numpy can sort
MISSING = "groups has missing labels; give every row a group of its own or one it shares, or leave the row out"


@dataclass(frozen=True)
class Layout:
    """The rows to keep in the order in which they are stored; `start` of each group and the end of the last, or None.

    Groups come in the order of their first rows, and the rows of a group in their own order, of which the first
    `most` are kept: a rule that looks at the group alone.
    """

    order: npt.NDArray[np.intp] | None
    start: npt.NDArray[np.int64] | None
    rows: int
    units: int
    most: int | None = None


def layout(groups: Any, rows: int, max_group_size: Any) -> Layout:
    """Return how rows with these labels are stored; without labels, as they are."""
    if groups is None:
        if max_group_size is not None:
            raise InvalidArgument("max_group_size was given but groups was not")
        return Layout(None, None, rows, rows)
    most = None if max_group_size is None else whole(max_group_size, "max_group_size")
    codes = _codes(_labels(groups, rows))
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    if most is not None:
        place = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        order, sizes = order[place < most], np.minimum(sizes, most)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Layout(order, start, len(order), len(sizes), most)


def _labels(groups: Any, rows: int) -> npt.NDArray[Any]:
    if isinstance(groups, np.ma.MaskedArray):
        raise WrongType("groups is a masked array; every row needs a label")
    if hasattr(groups, "__array__"):
        labels = np.asarray(groups)
    elif not isinstance(groups, Iterable):
        raise WrongType(f"groups needs one label per row of x, not {given(groups)}")
    else:  # numpy would turn [nan, "a"] into strings
        listed = list(groups)
        labels = np.empty(len(listed), dtype=object)
        labels[:] = listed
    if labels.shape != (rows,):
        raise InvalidArgument(
            f"x has {rows} rows but groups has shape {labels.shape}; groups needs one label per row of x"
        )
    return labels


def _codes(labels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Number the labels in the order in which they appear."""
    if labels.dtype.kind not in ORDERED + "OT":
        raise WrongType(f"groups must hold labels such as whole numbers or strings, but its dtype is {labels.dtype}")
    if labels.dtype.kind not in ORDERED:
        return _codes_of_objects(labels)
    if labels.dtype.kind in "fMm" and bool((labels != labels).any()):
        raise InvalidArgument(MISSING)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)])


def _codes_of_objects(labels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    known: dict[Any, int] = {}
    codes = np.empty(len(labels), dtype=np.intp)
    for i, label in enumerate(labels.tolist()):
        if _is_missing(label):
            raise InvalidArgument(MISSING)
        try:
            codes[i] = known.setdefault(label, len(known))
        except TypeError:
            raise WrongType("groups must hold labels such as whole numbers or strings; some cannot be hashed") from None
    return codes


def _is_missing(label: Any) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):  # pandas.NA is neither equal to itself nor not
        return True
