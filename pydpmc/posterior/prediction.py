"""Predictions with their uncertainty, computed from the draws at no cost in privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import inside, reals, whole
from ..data.columns import numbers
from ..data.data import Data
from ..data.frames import frame_columns, is_frame
from ..data.public import Public
from ..data.schema.tables import columns_of
from ..errors import InvalidArgument
from .facts import model_of, public_of

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
Means = Callable[[Mapping[str, Floats], Floats], Floats]
CELLS = 2_000_000  # draws times records that are predicted at a time


@dataclass(frozen=True, eq=False)
class Prediction:
    """Posterior mean, standard deviation and credible interval of the mean of y, one entry per record.

    Attributes
    ----------
    mean, sd, low, high
        Shape (records,), or (records, classes) for probabilities. ``np.asarray(prediction)`` is the mean.
    level
        Probability of the interval from `low` to `high`.
    """

    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    level: float

    def __len__(self) -> int:
        return len(self.mean)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.mean, dtype=dtype)


def predict(post: Posterior, x: Any, *, level: float = 0.9, draws: int = 1000) -> Prediction:
    """Return the mean of y given each row of x."""
    return _averaged(post, model_of(post).mean, x, level, draws)


def predict_proba(post: Posterior, x: Any, *, level: float = 0.9, draws: int = 1000) -> Prediction:
    """Return the probabilities of the classes given each row of x."""
    return _averaged(post, model_of(post).probabilities, x, level, draws)


def _averaged(post: Posterior, means: Means, x: Any, level: float, draws: int) -> Prediction:
    inside(level, "level")
    parameters = _thinned(post, whole(draws, "draws"))
    rows, absent = new_rows(post, x)
    quantiles = (0.5 - level / 2, 0.5 + level / 2)
    chunk = max(1, CELLS // len(next(iter(parameters.values()))))
    parts = []
    for start in range(0, len(rows), chunk):
        values = means(parameters, rows[start : start + chunk])
        spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])
        parts.append((values.mean(axis=0), spread, *np.quantile(values, quantiles, axis=0)))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    for column in columns:
        column[absent] = np.nan
    mean, sd, low, high = columns
    return Prediction(mean, sd, low, high, float(level))


def new_rows(post: Posterior, x: Any) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return public rows, encoded and bounded as the records were, and which of them have a missing value."""
    public = public_of(post)
    return _bounded(_encoded(post, x, public), public)


def _thinned(post: Posterior, most: int) -> dict[str, Floats]:
    """Return the draws of all chains, thinned evenly, with shape (draw, size)."""
    flat = {name: values.reshape(-1, values.shape[2]) for name, values in post.draws.items()}
    count = len(next(iter(flat.values())))
    if count == 0:
        raise InvalidArgument("the posterior has no draws to predict from: its run was stopped too early")
    chosen = np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64))
    return {name: values[chosen] for name, values in flat.items()}


def _encoded(post: Posterior, x: Any, public: Public) -> Any:
    """Return new records as the run had them: by the schema, or by the names of columns; else as they are."""
    if not (isinstance(x, Mapping) or is_frame(x)):
        return x
    if post.schema is not None:
        return post.schema.encode(x)
    found = dict(x) if isinstance(x, Mapping) else frame_columns(x)
    named = {str(name): column for name, column in found.items()}
    absent = [name for name in public.columns if name not in named]
    if absent:
        raise InvalidArgument(f"x has no column {absent[0]!r}; the run had {list(public.columns)}")
    raw = columns_of(named, list(public.columns), list(public.columns))
    return np.column_stack([numbers(raw[name]) for name in public.columns])


def _bounded(x: npt.ArrayLike, public: Public) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the new records, bounded as the original ones were, and which of them have a missing value."""
    new = reals(x, "x")
    if new.ndim > 2:  # images are flattened, as in Data
        new = new.reshape(len(new), -1)
    if new.ndim != 2 or new.shape[1] != public.width:
        raise InvalidArgument(
            f"x must have one column for each of {list(public.columns)}, but its shape is {new.shape}"
        )
    if len(new) == 0:
        raise InvalidArgument(f"x must have at least one row, but its shape is {new.shape}")
    bounds = None if public.x_bounds is None else tuple(np.array(public.x_bounds).T)
    absent: npt.NDArray[np.bool_] = np.logical_not(np.isfinite(new).all(axis=1))
    present = np.where(absent[:, None], 0.0, new)
    data = Data(present, row_norm=public.row_norm, x_bounds=bounds)
    return np.array(data._rows[:, : public.width], dtype=np.float64), absent
