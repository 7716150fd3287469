"""Events: immutable descriptions of what one use of a mechanism releases, with the rules that price it.

An event does not know how often it is used: counts are multiplied in one place only, `composition/uses.py`.
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

    A subclass must give its privacy loss. If it also gives an exact Gaussian parameter, Renyi curve, pure epsilon or
    bounded range, the accountant reports the least of several bounds.
    """

    adjacencies: ClassVar[frozenset[str]] = ADJACENCIES

    @abstractmethod
    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:
        """Return the pessimistic privacy loss on the grid ``step * integers``.

        There is one distribution if the dominating pair is symmetric, otherwise one for a removed and one for an added
        record.
        """

    @abstractmethod
    def largest_loss(self, adjacency: str) -> float:
        """Return where the grid of `privacy_loss` may end: the largest loss of non-negligible probability."""

    @abstractmethod
    def describe(self) -> str:
        """Return a description of the event for `Guarantee.statement`."""

    def pure_epsilon(self, adjacency: str) -> float:
        """Return epsilon of one use at delta = 0."""
        return float("inf")

    def gaussian_mu(self, adjacency: str) -> float | None:
        """Return mu if one use is exactly mu-GDP, otherwise None."""
        return None

    def bounded_range(self, adjacency: str) -> float | None:
        """Return s such that the log-likelihood ratio of one use always lies in some [t - s, t], or None."""
        return None

    def log_moment(self, orders: Floats, adjacency: str) -> Floats | None:
        """Return ``(a - 1) * D_a``, D_a the Renyi divergence of order a, for every a > 1 in `orders`, or None."""
        return None

    def roughly(self) -> Event:
        """Return an event of similar cost that is faster to price, for searches and never for a claim."""
        return self

    @property
    def level(self) -> tuple[tuple[object, ...], float] | None:
        """Family and size: within a family a larger size costs at least as much, about the square of the size."""
        return None


class ProfileEvent(Event):
    """An event known by a rigorous upper bound of its symmetric privacy profile under `replace`.

    A subclass gives `profile`, `epsilon_max` and `describe`. The bound need not be convex: it is extended below a = 1
    by symmetry and replaced by its greatest convex minorant, which is still an upper bound.
    """

    adjacencies: ClassVar[frozenset[str]] = frozenset({"replace"})

    @abstractmethod
    def profile(self, eps: Floats) -> Floats:
        """Return an upper bound of the hockey-stick divergence of order exp(eps) at thousands of eps >= 0."""

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
