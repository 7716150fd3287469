"""What a mechanism releases, as immutable descriptions; how one use of it is priced.

An event describes one use. It never knows how often it is used: counts are multiplied in one place only,
`composition/bounds.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..loss.privacy_loss import PrivacyLoss, from_symmetric_profile

Floats = NDArray[np.float64]
ADJACENCIES = frozenset({"replace", "add_remove"})


class Event(ABC):
    """One use of a mechanism. Subclasses are frozen dataclasses.

    A subclass must be able to give its privacy loss; whatever else it knows exactly (a Gaussian parameter, a
    Renyi curve, a pure epsilon, a bounded range) lets the accountant report the least of several bounds.
    """

    adjacencies: ClassVar[frozenset[str]] = ADJACENCIES

    @abstractmethod
    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:
        """Pessimistic privacy loss on the grid ``step * integers``.

        One distribution if the dominating pair is symmetric, otherwise two: record removed, record added.
        """

    @abstractmethod
    def largest_loss(self, adjacency: str) -> float:
        """Where the grid of `privacy_loss` may end: the largest loss of any noticeable probability."""

    @abstractmethod
    def describe(self) -> str:
        """The event in words, for `Guarantee.statement`."""

    def pure_epsilon(self, adjacency: str) -> float:
        """Epsilon of one use at delta = 0."""
        return float("inf")

    def gaussian_mu(self, adjacency: str) -> float | None:
        """The mu of mu-GDP if one use is exactly that."""
        return None

    def bounded_range(self, adjacency: str) -> float | None:
        """The s such that the log-likelihood ratio of one use always lies in some [t - s, t]."""
        return None

    def log_moment(self, orders: Floats, adjacency: str) -> Floats | None:
        """``(a - 1) * D_a`` with D_a the Renyi divergence of order a, for every a > 1 in `orders`."""
        return None

    def roughly(self) -> Event:
        """An event of about the same cost that is priced more quickly: for searches, never for a claim."""
        return self

    @property
    def level(self) -> tuple[tuple[object, ...], float] | None:
        """Family and size: in a family the larger size costs at least as much, and a use about its square."""
        return None


class ProfileEvent(Event):
    """An event known by a rigorous upper bound of its symmetric privacy profile under `replace`.

    A subclass gives `profile`, `epsilon_max` and `describe`. The bound need not be convex: the engine extends
    it below a = 1 by symmetry and takes the greatest convex minorant, which is still an upper bound.
    """

    adjacencies: ClassVar[frozenset[str]] = frozenset({"replace"})

    @abstractmethod
    def profile(self, eps: Floats) -> Floats:
        """Upper bound of the hockey-stick divergence of order exp(eps), eps >= 0 (thousands of points)."""

    @property
    @abstractmethod
    def epsilon_max(self) -> float:
        """Pure epsilon of one use, rounded up: the profile is 0 at and above it."""

    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:  # noqa: D102
        return (from_symmetric_profile(self.profile, self.epsilon_max, step),)

    def largest_loss(self, adjacency: str) -> float:  # noqa: D102
        return self.epsilon_max

    def pure_epsilon(self, adjacency: str) -> float:  # noqa: D102
        return self.epsilon_max
