"""Standardisation by declared bounds, which learns nothing from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InvalidArgument
from .base import Floats


class BoundsScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Clamp features to public bounds and map them to [-1, 1]; divide by sqrt(width), so that rows have norm 1 at most.

    Parameters
    ----------
    low, high
        Public bounds: a number, or one per feature.

    Examples
    --------
    >>> from pydpmc.sklearn import BoundsScaler
    >>> BoundsScaler(low=[0, 0], high=[10, 100]).fit_transform([[5.0, 100.0]]).round(4).tolist()
    [[0.0, 0.7071]]
    """

    def __init__(self, *, low: Any = -1.0, high: Any = 1.0) -> None:
        self.low = low
        self.high = high

    def fit(self, X: Any, y: Any = None) -> Any:
        """Check the shape; nothing is learned."""
        X = validate_data(self, X, dtype=np.float64)
        low, high = (np.broadcast_to(np.asarray(b, dtype=np.float64), X.shape[1]) for b in (self.low, self.high))
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
            raise InvalidArgument("low and high must be finite, with low below high for every feature")
        self.centre_, self.half_range_ = (low + high) / 2, (high - low) / 2
        return self

    def transform(self, X: Any) -> Floats:
        """Return the clamped and scaled features."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        scaled = np.clip((X - self.centre_) / self.half_range_, -1.0, 1.0)
        return np.asarray(scaled / np.sqrt(X.shape[1]))
