"""Groups of records: which rows belong together, found once, from labels that are never kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given, whole
from ..errors import InvalidArgument, WrongType
from .columns import RawColumn, label_codes
from .matrix import label_column


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
    """Return how rows with these labels are stored; without labels, as they are. Missing labels are one group."""
    if groups is None:
        if max_group_size is not None:
            raise InvalidArgument("max_group_size was given but groups was not")
        return Layout(None, None, rows, rows)
    most = None if max_group_size is None else whole(max_group_size, "max_group_size")
    codes = label_codes(_labels(groups, rows))
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    if most is not None:
        place = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        order, sizes = order[place < most], np.minimum(sizes, most)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Layout(order, start, len(order), len(sizes), most)


def _labels(groups: Any, rows: int) -> RawColumn:
    if isinstance(groups, np.ma.MaskedArray):
        raise WrongType("groups is a masked array; every row needs a label")
    if not isinstance(groups, Iterable) or isinstance(groups, (str, bytes)):
        raise WrongType(f"groups needs one label per row of x, not {given(groups)}")
    shape = getattr(groups, "shape", None)
    labels = None if shape is not None and len(shape) != 1 else label_column(groups, "groups")
    if labels is None or len(labels) != rows:
        found = shape if labels is None else (len(labels),)
        raise InvalidArgument(f"x has {rows} rows but groups has shape {found}; groups needs one label per row of x")
    return labels
