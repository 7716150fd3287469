"""Logistic regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.public import Public
from .base import Floats, mean_of_p_q
from .linear_predictor import LinearPredictor


@dataclass(frozen=True)
class LogisticRegression(LinearPredictor):
    """P(y = 1) = logistic(x . beta), y in {0, 1}.

    Lipschitz constant: R, the declared bound on the norm of a row. Smoothness: R^2/4.

    Parameters
    ----------
    prior
        One prior for every coefficient, or a mapping from ``"beta"`` and ``"intercept"`` to priors.
    intercept
        Whether to add an intercept; R is then sqrt(row_norm^2 + 1).

    Examples
    --------
    >>> import pydpmc as dp
    >>> model = dp.LogisticRegression(prior=dp.Normal(scale=2.0))
    >>> model.lipschitz(dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.5))
    1.5
    """

    core_name: ClassVar[str] = "logistic_regression"
    has_second_moments: ClassVar[bool] = True
    steepness_at_zero: ClassVar[float] = 0.5  # a label is 1/2 from its probability
    convex: ClassVar[bool] = True
    binary_target: ClassVar[bool] = True

    def slope(self) -> float:
        """Return 1."""
        return 1.0

    def curvature(self) -> float:
        """Return 1/4."""
        return 0.25

    def typical_curvature(self, public: Public, spread: float) -> float:
        """Return the mean of p (1 - p) over predictors of this spread around the declared base rate."""
        return mean_of_p_q(public.base_rate, spread)

    def self_concordance(self, public: Public) -> float | None:
        """Return R: in the predictor, the third derivative is the second one times 1 - 2p."""
        return self.norm(public)

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return logistic(predictor)."""
        from scipy.special import expit

        return np.asarray(expit(predictor))

    def probabilities(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return P(y = 0) and P(y = 1)."""
        positive = self.mean(parameters, x)
        return np.stack([1.0 - positive, positive], axis=2)

    def loglik_ceiling(self) -> float:
        """Return 0: it is the logarithm of a probability."""
        return 0.0
