"""Poisson regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.public import Public
from .base import Floats
from .linear_predictor import LinearPredictor

LARGEST_LOG_MEAN = 700.0  # exp of more would overflow


@dataclass(frozen=True)
class PoissonRegression(LinearPredictor):
    """y ~ Poisson(exp(x . beta)).

    Lipschitz constant: none, because exp has no bounded slope. ``clip`` bounds each record's log-likelihood ratio. With
    declared ``y_bounds`` the planner suggests the slope R times the largest y.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=9, columns=("a",), has_target=True, row_norm=1.0, y_bounds=(0.0, 20.0))
    >>> dp.PoissonRegression().lipschitz(public) is None
    True
    >>> dp.PoissonRegression().typical_lipschitz(public)
    20.0
    """

    core_name: ClassVar[str] = "poisson_regression"
    has_second_moments: ClassVar[bool] = True

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return R times the largest declared y."""
        norm = self.norm(public)
        return None if norm is None or public.y_bounds is None else norm * max(public.y_bounds[1], 1.0)

    def self_concordance(self, public: Public) -> float | None:
        """Return R: exp is its own second and third derivative."""
        return self.norm(public)

    def information(self, public: Public) -> float | None:
        """Return the forecast R^2 m / d, with m the square root of the largest declared count."""
        norm = self.norm(public)
        if norm is None or public.y_bounds is None:
            return None
        return norm**2 * math.sqrt(max(public.y_bounds[1], 1.0)) / (public.width + self.intercept)

    def typical_curvature(self, public: Public, spread: float) -> float:
        """Return the declared mean count; without one the mean of exp over predictors of this spread, at most 1."""
        return math.exp(min(spread, 1.0) ** 2 / 2.0) if public.base_rate is None else public.base_rate

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return exp(predictor)."""
        mean: Floats = np.exp(np.minimum(predictor, LARGEST_LOG_MEAN))
        return mean
