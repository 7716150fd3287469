"""Regression with noise of density proportional to 1 / cosh. A template: CONTRIBUTING.md, "Add a model"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import Floats
from .linear_predictor import LinearPredictor


@dataclass(frozen=True)
class ToyRegression(LinearPredictor):
    """log p(y | x) = -log cosh(y - x . beta), up to a constant.

    Lipschitz constant: R, the declared bound on the norm of a row, because tanh is at most 1. Smoothness: R^2.

    Parameters
    ----------
    prior
        One prior for every coefficient, or a mapping from ``"beta"`` and ``"intercept"`` to priors.
    intercept
        Whether to add an intercept; R is then sqrt(row_norm^2 + 1).

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.ToyRegression().lipschitz(dp.Public(n=100, columns=("a",), has_target=True, row_norm=1.5))
    1.5
    """

    core_name: ClassVar[str] = "toy_regression"
    has_second_moments: ClassVar[bool] = True  # one predictor a record
    # `convex` stays False until gradient_error is proven for this likelihood: Langevin's price needs it.

    def slope(self) -> float:
        """Return 1, the largest |tanh|."""
        return 1.0

    def curvature(self) -> float:
        """Return 1, the largest derivative of tanh."""
        return 1.0

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return the predictor: the noise is symmetric."""
        return predictor

    def loglik_ceiling(self) -> float:
        """Return 0: log cosh is never negative."""
        return 0.0
