"""Robust linear regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..checks import positive
from ..data.public import Public
from .base import Floats
from .linear_predictor import LinearPredictor


@dataclass(frozen=True)
class HuberRegression(LinearPredictor):
    """Log-likelihood -huber((y - x . beta)/sigma): quadratic within `threshold`, linear beyond.

    Lipschitz constant: R threshold / sigma. Smoothness: R^2/sigma^2.

    Parameters
    ----------
    prior, intercept
        As for LogisticRegression.
    sigma
        Public scale of the residuals.
    threshold
        Residual, in units of sigma, beyond which the loss is linear.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.HuberRegression(threshold=1.5).lipschitz(dp.Public(9, ("a",), True, row_norm=2.0))
    3.0
    """

    core_name: ClassVar[str] = "huber_regression"
    has_second_moments: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    sigma: float = 1.0
    threshold: float = 1.345

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.sigma, "sigma")
        positive(self.threshold, "threshold")

    @property
    def constants(self) -> tuple[float, float]:
        """Return (sigma, threshold)."""
        return (self.sigma, self.threshold)

    def slope(self) -> float:
        """Return threshold / sigma."""
        return self.threshold / self.sigma

    def curvature(self) -> float:
        """Return 1 / sigma^2."""
        return 1.0 / self.sigma**2

    def typical_curvature(self, public: Public, spread: float) -> float:
        """Return the share of residuals within the threshold, if errors have the model's own density, over sigma^2."""
        inside = math.sqrt(2.0 * math.pi) * math.erf(self.threshold / math.sqrt(2.0))
        return inside / (inside + 2.0 / self.threshold * math.exp(-(self.threshold**2) / 2.0)) / self.sigma**2

    def residual_scale(self) -> float:
        """Return sigma."""
        return self.sigma

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return the predictor."""
        return predictor

    def loglik_ceiling(self) -> float:
        """Return 0: the log-likelihood is the negative of a loss."""
        return 0.0
