"""The base class of regression models: a linear predictor with an optional intercept, and its public constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..data.public import Public
from ..errors import InvalidArgument
from .base import ROUNDING, Block, Floats, Model, linear_blocks, predictor_norm
from .priors import Normal, Prior


@dataclass(frozen=True)
class LinearPredictor(Model):
    """A model of y given x . beta."""

    prior: Prior | Mapping[str, Prior] = field(default_factory=Normal)
    intercept: bool = False

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the prior, or one prior per block name."""
        return self.prior

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return intercept (if any) and beta."""
        return linear_blocks(public, self.intercept)

    def mean(self, parameters: Mapping[str, Floats], x: Floats) -> Floats:
        """Return the inverse link of the linear predictor, shape (draws, records)."""
        predictor = parameters["beta"] @ x.T
        return self.inverse_link(predictor + parameters["intercept"] if self.intercept else predictor)

    def inverse_link(self, predictor: Floats) -> Floats:
        """Return the mean of y at a value of the linear predictor."""
        raise InvalidArgument(f"{type(self).__name__} has no mean given features; read its draws instead")

    def slope(self) -> float | None:
        """Return the Lipschitz constant of the log-likelihood in the linear predictor, or None."""
        return None

    def curvature(self) -> float | None:
        """Return the largest second derivative of the negative log-likelihood in the linear predictor, or None."""
        return None

    def norm(self, public: Public) -> float | None:
        """Return R, the declared bound on the norm of a record's features (with the intercept's 1)."""
        return predictor_norm(public, self.intercept)

    def lipschitz(self, public: Public) -> float | None:
        """Return R times the slope of the log-likelihood in the predictor, or None."""
        slope, norm = self.slope(), self.norm(public)
        return None if slope is None or norm is None else slope * norm

    def smoothness(self, public: Public) -> float | None:
        """Return R^2 times the curvature in the predictor, or None."""
        curvature, norm = self.curvature(), self.norm(public)
        return None if curvature is None or norm is None else curvature * norm**2

    def gradient_error(self, public: Public, reach: float) -> float | None:
        """Return the error of residual times row: the predictor's error times the curvature, plus 16 roundings.

        A dot product of c columns has a chain of c/8 + 7 roundings; docs/privacy/langevin.md, lemma 3.
        """
        slope, curvature, norm = self.slope(), self.curvature(), self.norm(public)
        if not self.convex or slope is None or curvature is None or norm is None:
            return None
        predictor = (public.width / 8 + 16) * ROUNDING * norm * reach
        return 1.01 * norm * (curvature * predictor + 16 * ROUNDING * slope)

    def largest_factor(self, public: Public, reach: float) -> float | None:
        """Return the largest of R, |theta|, R |theta|, and the slope, the residual scale and their reciprocals."""
        slope, norm = self.slope(), self.norm(public)
        if slope is None or norm is None:
            return None
        if slope == 0.0:  # a positive slope has underflowed
            return float("inf")
        return max(norm, reach, norm * reach, slope, 1.0 / slope, self.residual_scale(), 1.0 / self.residual_scale())

    def residual_scale(self) -> float:
        """Return the unit of y in which residuals are measured."""
        return 1.0

    def information(self, public: Public) -> float | None:
        """Return the forecast R^2 curvature / d, assuming rows at norm R spread evenly over directions."""
        curvature, norm = self.curvature(), self.norm(public)
        if curvature is None or norm is None:
            return None
        return curvature * norm**2 / (public.width + self.intercept)

    def typical_curvature(self, public: Public, spread: float) -> float | None:
        """Return the largest curvature, which models without a constant one replace."""
        return self.curvature()
