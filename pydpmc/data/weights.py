"""Survey weights: how much each record counts, bounded row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import positive
from ..errors import InvalidArgument
from . import storage as table
from .matrix import target_array
from .public import Public

Floats = npt.NDArray[np.float64]


def declared_weights(sample_weight: Any, max_weight: Any, rows: int) -> tuple[Floats | None, float | None]:
    """Return one weight per row, at most the declared bound, NaN where it is no weight; or None twice.

    Examples
    --------
    >>> declared_weights([0.5, 9, -1, "x"], 2.0, 4)
    (array([0.5, 2. , nan, nan]), 2.0)
    """
    if sample_weight is None:
        if max_weight is not None:
            raise InvalidArgument("max_weight was given but sample_weight was not")
        return None, None
    if max_weight is None:
        raise InvalidArgument("sample_weight needs max_weight, a public bound on a record's weight")
    most = positive(max_weight, "max_weight")
    values = target_array(sample_weight, "sample_weight")
    if values.shape != (rows,):
        raise InvalidArgument(
            f"x has {rows} rows but sample_weight has shape {values.shape}; it needs one weight per row of x"
        )
    with np.errstate(all="ignore"):  # a warning would depend on the records
        weights = np.array(values, dtype=np.float64)
        good = np.isfinite(weights) & (weights >= 0.0)
        return np.where(good, np.minimum(weights, most), np.nan), most


def stored_weights(
    weights: Floats | None, order: npt.NDArray[np.intp] | None, rows: table.Rows, public: Public
) -> Floats | None:
    """Return the weights in the order of the rows, and mark records without one as void."""
    if weights is None:
        return None
    found = weights if order is None else weights[order]
    none = np.isnan(found)
    table.void(rows, none, public.width, public.has_target)
    found[none] = 0.0
    found.flags.writeable = False
    return found
