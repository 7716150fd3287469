"""Bernoulli model with a parameter on the logit scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..data.public import Public
from .base import ROUNDING, Block, Model, mean_of_p_q
from .priors import Normal, Prior


@dataclass(frozen=True)
class BernoulliLogit(Model):
    """x in {0, 1} with P(x = 1) = logistic(theta) (Minami et al. 2016, example 17).

    Lipschitz constant: 1. Smoothness: 1/4.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.BernoulliLogit().lipschitz(dp.Public(n=9, columns=("x",), has_target=False))
    1.0
    """

    core_name: ClassVar[str] = "bernoulli_logit"
    has_second_moments: ClassVar[bool] = True
    needs_target: ClassVar[bool] = False
    one_column: ClassVar[bool] = True
    steepness_at_zero: ClassVar[float] = 0.5  # a label is 1/2 from its probability
    convex: ClassVar[bool] = True
    prior: Prior | Mapping[str, Prior] = field(default_factory=Normal)

    @property
    def label_count(self) -> int:
        """Return 2: x is 0 or 1."""
        return 2

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the prior of theta."""
        return self.prior

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return theta."""
        return (Block("theta", 1),)

    def lipschitz(self, public: Public) -> float:
        """Return 1."""
        return 1.0

    def smoothness(self, public: Public) -> float:
        """Return 1/4."""
        return 0.25

    def self_concordance(self, public: Public) -> float:
        """Return 1: the third derivative is the second one times 1 - 2p."""
        return 1.0

    def gradient_change(self, public: Public, adjacency: str) -> float:
        """Return 1 under both adjacencies: a gradient is x - p, and x is 0 or 1."""
        return 1.0

    def gradient_error(self, public: Public, reach: float) -> float:
        """Return 16 roundings of a gradient that is at most 1."""
        return 16 * ROUNDING

    def largest_factor(self, public: Public, reach: float) -> float:
        """Return max(|theta|, 1): theta is not multiplied with any record."""
        return max(1.0, reach)

    def loglik_ceiling(self) -> float:
        """Return 0: it is the logarithm of a probability."""
        return 0.0

    def information(self, public: Public) -> float:
        """Return 1/4, the information of a fair coin."""
        return 0.25

    def typical_curvature(self, public: Public, spread: float) -> float:
        """Return the mean of p (1 - p) over thetas of this spread, around the declared base rate."""
        return mean_of_p_q(public.base_rate, spread)
