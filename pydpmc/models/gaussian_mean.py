"""The mean of a Gaussian with known covariance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..checks import positive
from ..data.public import Public
from .base import ROUNDING, Block, Model
from .priors import Normal, Prior

FLOAT32_ROUNDING, FLOAT32_LEAST = 2.0**-23, 2.0**-149  # relative and absolute error of rounding towards zero


@dataclass(frozen=True)
class GaussianMean(Model):
    """x ~ N(theta, sigma^2 I), sigma known.

    Lipschitz constant: none for unbounded theta, because the slope |x - theta| / sigma^2 grows with theta;
    ``clip`` bounds each record's log-likelihood ratio. With a declared bound R on |x| the planner suggests the
    slope 2 R / sigma^2, which is never exceeded while |theta| <= R.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.GaussianMean(sigma=0.5).information(dp.Public(n=9, columns=("x",), has_target=False))
    4.0
    """

    core_name: ClassVar[str] = "gaussian_mean"
    has_second_moments: ClassVar[bool] = True
    needs_target: ClassVar[bool] = False
    convex: ClassVar[bool] = True
    prior: Prior | Mapping[str, Prior] = field(default_factory=Normal)
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.sigma, "sigma")

    @property
    def constants(self) -> tuple[float, float]:
        """Return (sigma, 0)."""
        return (self.sigma, 0.0)

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the prior of theta."""
        return self.prior

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return theta, one coordinate per column."""
        return (Block("theta", public.width, labels=public.columns),)

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return 2 R / sigma^2."""
        norm = public.feature_norm
        return None if norm is None else 2.0 * norm / self.sigma**2

    def smoothness(self, public: Public) -> float:
        """Return 1 / sigma^2."""
        return 1.0 / self.sigma**2

    def strong_convexity(self, public: Public) -> float:
        """Return 1 / sigma^2: the curvature is the same everywhere."""
        return 1.0 / self.sigma**2

    def self_concordance(self, public: Public) -> float:
        """Return 0: the log-likelihood is quadratic."""
        return 0.0

    def gradient_change(self, public: Public, adjacency: str) -> float | None:
        """Return the width of the declared bounds over sigma^2; None under add_remove, where theta - x has no bound."""
        norm = public.feature_norm
        if norm is None or adjacency != "replace":
            return None
        return min(2.0 * norm, _width(public, norm)) / self.sigma**2

    def gradient_error(self, public: Public, reach: float) -> float | None:
        """Return eight roundings of (x - theta) / sigma^2."""
        norm = public.feature_norm
        return None if norm is None else 8 * ROUNDING * (norm + reach) / self.sigma**2

    def largest_factor(self, public: Public, reach: float) -> float | None:
        """Return the largest of |x - theta|, and of sigma^2 and 1 / sigma^2."""
        norm = public.feature_norm
        if norm is None:
            return None
        return max(norm + reach, self.sigma * self.sigma, 1.0 / self.sigma / self.sigma)

    def theta_reach(self, public: Public) -> float | None:
        """Return R: the mean of the records has at most the norm of the largest record."""
        return public.feature_norm

    def information(self, public: Public) -> float:
        """Return 1 / sigma^2."""
        return 1.0 / self.sigma**2


def _width(public: Public, norm: float) -> float:
    """Return the largest distance between two stored records within `x_bounds`.

    If `row_norm` is declared too, a record is first clamped to the box and then scaled down, possibly out of the box,
    and rounded to float32 there. Scaling does not increase the distance of two records, but rounding can.
    """
    if public.x_bounds is None:
        return math.inf
    box = math.hypot(*(high - low for low, high in public.x_bounds))
    rounding = FLOAT32_ROUNDING * norm + FLOAT32_LEAST * math.sqrt(public.width)
    return box if public.row_norm is None else box + 2.0 * rounding
