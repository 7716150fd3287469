"""X and y of an estimator, read value by value; scikit-learn checks names and shapes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ..data.columns import RawColumn
from ..data.data import Data
from ..data.frames import frame_columns, is_frame
from ..data.matrix import label_column, number_array
from ..errors import InvalidArgument, PydpmcError, WrongType

Floats = npt.NDArray[np.float64]
COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, )"
)


def features(estimator: Any, X: Any, y: Any = "no_validation", reset: bool = True) -> Floats:
    """Return X as numbers, each value by itself, NaN for one that is none; what has no shape of a table is refused.

    Names and shapes are scikit-learn's to check. Its own conversion of values is not used: it refuses, or converts
    all values, because of one.
    """
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise InvalidArgument("Complex data not supported: X must hold real numbers")
    with _own_refusals():
        table = X if hasattr(X, "tocsr") else number_array(X, "X")
        fewest = 0 if getattr(estimator, "adjacency", "") == "add_remove" else 1  # there their number is private
        checked: Floats = check_array(
            table, dtype=np.float64, ensure_all_finite=False, input_name="X", ensure_min_samples=fewest
        )
        shaped = X if hasattr(X, "shape") else checked  # of a list scikit-learn would count the first record's values
        validate_data(estimator, shaped, y, skip_check_array=True, reset=reset)
    return checked


def declared_table(estimator: Any, data: Data, y: Any, sample_weight: Any) -> Data:
    """Return a `Data` that takes the place of X and y; refuse what it declares itself."""
    given = {"y": y, "sample_weight": sample_weight}
    given |= {name: getattr(estimator, name) for name in ("row_norm", "x_bounds", "public_n", "max_weight")}
    twice = [name for name, value in given.items() if value is not None]
    if twice:
        raise InvalidArgument(
            f"{twice[0]}: a Data declares it itself; leave it out of the estimator, or give X as a table"
        )
    if not data.public.has_target:
        raise InvalidArgument("X: this Data has no target")
    estimator.n_features_in_ = data.public.width
    vars(estimator).pop("feature_names_in_", None)  # what is predicted for has the columns of Schema.encode, an array
    return data


def target_column(y: Any, records: int) -> RawColumn:
    """Return y as a column of values as they stand, one per record."""
    with _own_refusals():
        column = label_column(_flat(y), "y")
        if len(column) != records:
            raise InvalidArgument(f"X has {records} records, but y has {len(column)} values")
    return column


def _flat(y: Any) -> Any:
    """Return the one column of a y of two dimensions, as it stands: scikit-learn would convert it by what it holds."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1:
        return y
    warnings.warn(COLUMN_VECTOR, DataConversionWarning, stacklevel=4)
    return next(iter(frame_columns(y).values())) if is_frame(y) else y.reshape(-1)


@contextmanager
def _own_refusals() -> Iterator[None]:
    """Make scikit-learn's refusals ours, without the value of a record."""
    try:
        yield
    except PydpmcError:
        raise
    except (ValueError, TypeError) as error:
        kind = WrongType if isinstance(error, TypeError) else InvalidArgument
        raise kind(_without_values(str(error))) from None


def _without_values(message: str) -> str:
    """Return a refusal of scikit-learn's, of which the lines after the first may print an array."""
    what = message.splitlines()[0].rstrip(":.")
    return f"{what}. Reshape your data if need be: X has the shape (records, features), y one value per record"
