"""A pure epsilon-DP release, which randomised response dominates.

Claim: every epsilon-DP step is post-processing of randomised response, one bit that is true with odds e^epsilon.
Neighbours: those for which epsilon was computed. Source: Kairouz, Oh, Viswanath 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...checks import positive
from ...rounding import upper
from .base import ADJACENCIES, Floats, ProfileEvent


@dataclass(frozen=True)
class PureDP(ProfileEvent):
    """One epsilon-DP release about which nothing else is known.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> acc.compose([(acc.PureDP(epsilon=0.1), 3)]).epsilon(1e-300) <= 0.3 + 1e-9
    True
    """

    epsilon: float
    adjacencies: ClassVar[frozenset[str]] = ADJACENCIES

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")

    @property
    def epsilon_max(self) -> float:  # noqa: D102
        return self.epsilon

    def profile(self, eps: Floats) -> Floats:  # noqa: D102
        return -np.expm1(np.minimum(eps, self.epsilon) - self.epsilon) / (1.0 + math.exp(-self.epsilon))

    def log_moment(self, orders: Floats, adjacency: str) -> Floats:  # noqa: D102
        b = (orders - 1.0) * self.epsilon
        truth = -math.log1p(math.exp(-self.epsilon))
        return np.logaddexp(truth + b, truth - self.epsilon - b) + 1e-15 * (1.0 + b)

    def describe(self) -> str:  # noqa: D102
        return f"a release that is {upper(self.epsilon)}-DP"
