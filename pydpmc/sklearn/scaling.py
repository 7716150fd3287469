"""Standardisation by declared bounds, which learns nothing from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import reals
from ..errors import InvalidArgument
from .inputs import Floats, features


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
        X = features(self, X)
        low, high = (_spread(getattr(self, name), name, X.shape[1]) for name in ("low", "high"))
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
            raise InvalidArgument("low and high must be finite, with low below high for every feature")
        self.centre_, self.half_range_ = (low + high) / 2, (high - low) / 2
        return self

    def transform(self, X: Any) -> Floats:
        """Return the clamped and scaled features."""
        check_is_fitted(self)
        X = features(self, X, reset=False)
        with np.errstate(all="ignore"):  # a warning would depend on the records
            scaled = np.clip((X - self.centre_) / self.half_range_, -1.0, 1.0)
        return np.asarray(scaled / np.sqrt(X.shape[1]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _spread(bounds: Any, name: str, width: int) -> Floats:
    found = reals(bounds, name)
    if found.shape not in ((), (1,), (width,)):
        raise InvalidArgument(f"{name} must be one number or {width}, one per feature, but its shape is {found.shape}")
    return np.broadcast_to(found, width)
