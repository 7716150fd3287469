"""Probit regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.public import Public
from .base import Floats
from .linear_predictor import LinearPredictor

TYPICAL_SLOPE = 2.3732  # of the log-likelihood at an outcome of probability Phi(-2) = 0.023


@dataclass(frozen=True)
class ProbitRegression(LinearPredictor):
    """P(y = 1) = Phi(x . beta), y in {0, 1}, Phi the standard normal distribution function.

    Lipschitz constant: none, because the slope of log Phi grows with the predictor of an improbable outcome; ``clip``
    bounds each record. The planner suggests 2.37 R, the slope at an outcome of probability 0.023. Smoothness: R^2.
    ``Newton`` needs no clip: it sums y - Phi(x . beta), which is bounded, in place of the log-likelihood's score.

    Parameters
    ----------
    prior, intercept
        As for LogisticRegression.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=2.0)
    >>> dp.ProbitRegression().lipschitz(public) is None, dp.ProbitRegression().smoothness(public)
    (True, 4.0)
    """

    core_name: ClassVar[str] = "probit_regression"
    has_second_moments: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    binary_target: ClassVar[bool] = True

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return 2.37 R."""
        norm = self.norm(public)
        return None if norm is None else TYPICAL_SLOPE * norm

    def curvature(self) -> float:
        """Return 1: -(log Phi)'' lies between 0 and 1."""
        return 1.0

    def information(self, public: Public) -> float | None:
        """Return the forecast (2/pi) R^2 / d, that of outcomes as likely as not."""
        found = super().information(public)
        return None if found is None else 2.0 / np.pi * found

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return Phi(predictor)."""
        from scipy.special import ndtr

        return np.asarray(ndtr(predictor))

    def probabilities(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return P(y = 0) and P(y = 1)."""
        positive = self.mean(parameters, x)
        return np.stack([1.0 - positive, positive], axis=2)

    def loglik_ceiling(self) -> float:
        """Return 0: it is the logarithm of a probability."""
        return 0.0
