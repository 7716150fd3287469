"""Gaussian linear regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ..checks import positive
from ..data.public import Public
from .base import Block, Floats
from .linear_predictor import LinearPredictor


@dataclass(frozen=True)
class LinearRegression(LinearPredictor):
    """y ~ N(x . beta, sigma^2).

    Lipschitz constant: none, because a residual has no bound that holds for every beta. ``clip`` bounds each record's
    log-likelihood ratio; it acts, and biases the posterior, only on records with large residuals. With declared
    ``y_bounds`` the planner suggests a clip.

    Parameters
    ----------
    prior
        One prior for every block, or a mapping from ``"beta"``, ``"intercept"`` and ``"sigma"``. The prior of sigma is
        a density of sigma > 0, not of log sigma; the chain moves in log sigma and accounts for the Jacobian.
    intercept
        Whether to add an intercept.
    sigma
        The residual standard deviation if it is known; None makes it a parameter.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> [block.name for block in dp.LinearRegression().blocks(public)]
    ['beta', 'sigma']
    """

    core_name: ClassVar[str] = "linear_regression"
    has_second_moments: ClassVar[bool] = True
    sigma: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sigma is not None:
            positive(self.sigma, "sigma")

    @property
    def constants(self) -> tuple[float, float]:
        """Return (sigma, 0), or (0, 0) when sigma is a parameter."""
        return (self.sigma or 0.0, 0.0)

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return intercept (if any), beta and sigma (if unknown)."""
        blocks = super().blocks(public)
        return blocks if self.sigma is not None else (*blocks, Block("sigma", 1, positive=True))

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return R (y range) / sigma^2, the slope at a residual as large as the declared range of y."""
        norm = self.norm(public)
        if norm is None or public.y_bounds is None:
            return None
        span = public.y_bounds[1] - public.y_bounds[0]
        sigma = self._likely_sigma(public)
        assert sigma is not None
        slope = norm * span / sigma**2
        return slope if self.sigma is not None else math.hypot(slope, (span / sigma) ** 2)

    def information(self, public: Public) -> float | None:
        """Return the forecast R^2 / (sigma^2 d); an unknown sigma is taken as a quarter of the range of y."""
        norm, sigma = self.norm(public), self._likely_sigma(public)
        return None if norm is None or sigma is None else (norm / sigma) ** 2 / (public.width + self.intercept)

    def self_concordance(self, public: Public) -> float:
        """Return 0: the log-likelihood is quadratic in beta."""
        return 0.0

    def curvature(self) -> float | None:
        """Return 1 / sigma^2 if sigma is known."""
        return None if self.sigma is None else 1.0 / self.sigma**2

    def typical_curvature(self, public: Public, spread: float) -> float | None:
        """Return 1 / sigma^2, of a likely sigma where it is not known."""
        sigma = self._likely_sigma(public)
        return None if sigma is None else 1.0 / sigma**2

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return the predictor."""
        return predictor

    def loglik_ceiling(self) -> float:
        """Return 0 if sigma is known; otherwise -log sigma has no bound."""
        return float("inf") if self.sigma is None else 0.0

    def _likely_sigma(self, public: Public) -> float | None:
        if self.sigma is not None or public.y_bounds is None:
            return self.sigma
        return (public.y_bounds[1] - public.y_bounds[0]) / 4
