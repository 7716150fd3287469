"""Negative binomial regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import positive
from ..data.public import Public
from ..errors import InvalidArgument
from .base import Floats
from .linear_predictor import LinearPredictor
from .poisson_regression import LARGEST_LOG_MEAN

LEAST_DISPERSION, MOST_DISPERSION = 1e-12, 1e12


@dataclass(frozen=True)
class NegativeBinomialRegression(LinearPredictor):
    """Counts with mean m = exp(x . beta) and variance m + dispersion m^2: Poisson with more spread.

    Lipschitz constant: R max(Y, 1/dispersion) with declared ``y_bounds=(low, Y)``, low >= 0, because the slope
    (y - m)/(1 + dispersion m) lies between -1/dispersion and y; none without. Smoothness: R^2 (Y + 1/dispersion)/4.

    Parameters
    ----------
    prior, intercept
        As for LogisticRegression.
    dispersion
        Public; 0 would be Poisson. The size parameter of other parametrisations is 1/dispersion.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=9, columns=("a",), has_target=True, row_norm=1.0, y_bounds=(0.0, 20.0))
    >>> dp.NegativeBinomialRegression(dispersion=0.5).lipschitz(public)
    20.0
    """

    core_name: ClassVar[str] = "negative_binomial_regression"
    has_second_moments: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    dispersion: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.dispersion, "dispersion")
        if not LEAST_DISPERSION <= self.dispersion <= MOST_DISPERSION:
            raise InvalidArgument(
                f"dispersion must lie between {LEAST_DISPERSION:g} and {MOST_DISPERSION:g}, not {self.dispersion!r}; "
                "PoissonRegression has none"
            )

    @property
    def constants(self) -> tuple[float, float]:
        """Return (dispersion, 0)."""
        return (self.dispersion, 0.0)

    def lipschitz(self, public: Public) -> float | None:
        """Return R max(Y, 1/dispersion), or None without a declared range of counts."""
        norm, most = self.norm(public), largest_count(public)
        return None if norm is None or most is None else norm * max(most, 1.0 / self.dispersion)

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return L, where there is one."""
        return self.lipschitz(public)

    def smoothness(self, public: Public) -> float | None:
        """Return R^2 (Y + 1/dispersion)/4: minus the log-likelihood is that many logistic ones."""
        norm, most = self.norm(public), largest_count(public)
        return None if norm is None or most is None else norm**2 * (most + 1.0 / self.dispersion) / 4.0

    def self_concordance(self, public: Public) -> float | None:
        """Return R, as for LogisticRegression."""
        return self.norm(public)

    def information(self, public: Public) -> float | None:
        """Return the forecast R^2 m / (1 + dispersion m) / d at m the geometric middle of the counts."""
        norm, most = self.norm(public), largest_count(public)
        if norm is None or most is None:
            return None
        middle = math.sqrt(max(most, 1.0))
        return norm**2 * middle / (1.0 + self.dispersion * middle) / (public.width + self.intercept)

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return exp(predictor)."""
        mean: Floats = np.exp(np.minimum(predictor, LARGEST_LOG_MEAN))
        return mean


def largest_count(public: Public) -> float | None:
    """Return Y of declared ``y_bounds=(low, Y)`` with low >= 0, or None."""
    return None if public.y_bounds is None or public.y_bounds[0] < 0.0 else max(public.y_bounds[1], 0.0)
