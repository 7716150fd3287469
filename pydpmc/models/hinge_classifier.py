"""Hinge-loss classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.public import Public
from .base import Floats
from .linear_predictor import LinearPredictor


@dataclass(frozen=True)
class HingeClassifier(LinearPredictor):
    """Pseudo-likelihood exp(-max(0, 1 - (2y - 1) x . beta)), y in {0, 1}: the Gibbs posterior of the hinge loss.

    Lipschitz constant: R. Convex, not smooth.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.HingeClassifier().lipschitz(dp.Public(n=9, columns=("a",), has_target=True, row_norm=2.0))
    2.0
    """

    core_name: ClassVar[str] = "hinge_classifier"
    has_second_moments: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    binary_target: ClassVar[bool] = True

    def slope(self) -> float:
        """Return 1."""
        return 1.0

    def information(self, public: Public) -> float | None:
        """Return a forecast: the hinge has curvature only within a margin of width about 2."""
        norm = self.norm(public)
        return None if norm is None else 0.25 * norm**2 / (public.width + self.intercept)

    def typical_curvature(self, public: Public, spread: float) -> float:
        """Return a forecast only: the hinge bends within a margin of width about 2."""
        return 0.25

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return the class: 1 where the predictor is positive."""
        return np.asarray(predictor > 0, dtype=np.float64)

    def loglik_ceiling(self) -> float:
        """Return 0: the log-likelihood is the negative of a loss."""
        return 0.0
