"""The price of a look: how far one record moves (gradient / sigma, curvature / tau). Proofs: docs/privacy/newton.md.

With a = |r x| and b = h |x|^2, two records with an angle of cosine c between r x and -r' x' are apart by
a^2 + a'^2 + 2 a a' c in the gradient and b^2 + b'^2 - 2 b b' c^2 in the curvature (both squared).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import BudgetError

LONGEST_ROOT = 2.0**22  # of csrc/kernels/curvature/look_grid.hpp
NOISE_STEP = 2.0**-32  # of csrc/random/noise/rounded_normal.hpp, over the noise's standard deviation
ARITHMETIC = 1e-11  # roundings of r, h, |x|, sqrt(h) and the grid's factors, relative
LEAST_MU = 1e-5  # of a look: below it the grid would show

# The largest beta/alpha = (B sigma / (A tau))^2 at which the curvature is free.
LOGISTIC_FREE = {"add_remove": 11.09 / 16.0, "replace": 24.67 / 16.0}  # lemma 2
COIN_FREE = {"add_remove": 11.09 / 16.0, "replace": 11.09 / 16.0}  # lemma 2
LINEAR_FREE = {"add_remove": 0.0, "replace": 0.5}  # lemma 3
PROBIT_FREE = {"add_remove": 4.2 / (2.0 * math.pi), "replace": 9.18 / (2.0 * math.pi)}  # lemma 7
NOT_FREE = {"add_remove": 0.0, "replace": 0.0}
LARGEST_SPLIT = 0.29  # of mu^2 for the curvature, where the sum of both prices is the price: lemma 4


@dataclass(frozen=True)
class Bounds:
    """What one record can contribute, and what the model allows between its two terms.

    Attributes
    ----------
    gradient
        A: the largest |r x|.
    curvature
        B: the largest h |x|^2.
    free
        By adjacency, the largest (B sigma / (A tau))^2 at which the curvature costs nothing; 0 if it always costs.
    apart
        How many times A two gradients may be apart under `replace`: 2, or less where a model knows better.
    """

    gradient: float
    curvature: float
    free: dict[str, float]
    apart: float = 2.0

    def weighted(self, most: float) -> Bounds:
        """Return the bounds of records that count up to `most` times: lemma 10."""
        return Bounds(most * self.gradient, most * self.curvature, self.free)  # weights differ: no less than 2 A apart

    def moved(self, sigma: float, tau: float, adjacency: str) -> float:
        """Return a bound on the joint distance, in exact arithmetic, of two neighbouring sums."""
        alpha, beta = (self.gradient / sigma) ** 2, (self.curvature / tau) ** 2
        factor = 1.0 if adjacency == "add_remove" else self.apart
        if beta <= self.free[adjacency] * alpha:
            return factor * math.sqrt(alpha)
        if adjacency == "add_remove":
            return math.sqrt(alpha + beta)
        opposite = 4.0 * alpha + beta
        aslant = 2.0 * alpha + 2.0 * beta + alpha * alpha / (2.0 * beta)  # the maximum over c, where c <= 1
        return math.sqrt(max(opposite, aslant if 2.0 * beta >= alpha else 4.0 * alpha))

    def rounding(self, sigma: float, tau: float, dim: int) -> float:
        """Return what rounding to integers adds to the distance of two neighbouring sums."""
        root = math.sqrt(dim) / LONGEST_ROOT
        of_curvature = self.curvature / tau * (root + root * root / 4.0)
        of_gradient = math.sqrt(dim) / 2.0 * NOISE_STEP
        of_sums = math.sqrt(dim * (dim + 1) / 2.0) * NOISE_STEP
        arithmetic = (ARITHMETIC + dim * 2.0**-50) * (self.gradient / sigma + self.curvature / tau)
        return 2.0 * (of_curvature + of_gradient + arithmetic) + of_sums

    def mu(self, sigma: float, tau: float, adjacency: str, dim: int) -> float:
        """Return the price of a look: it is mu-GDP."""
        return (self.moved(sigma, tau, adjacency) + self.rounding(sigma, tau, dim)) * (1.0 + 1e-12)

    def noise(self, mu: float, adjacency: str, dim: int, share: float) -> tuple[float, float]:
        """Return sigma and tau of a look that costs at most mu, the curvature's share of mu^2 as given if not free."""
        factor = 1.0 if adjacency == "add_remove" else self.apart
        free = self.free[adjacency]
        if free > 0.0:
            sigma = factor * self.gradient / mu
            tau = self.curvature * sigma / (self.gradient * math.sqrt(free)) * (1.0 + 1e-9)
        else:
            sigma = factor * self.gradient / (mu * math.sqrt(1.0 - share))
            tau = self.curvature / (mu * math.sqrt(share))
        return self._louder(sigma, tau, mu, dim)

    def _louder(self, sigma: float, tau: float, mu: float, dim: int) -> tuple[float, float]:
        """Return the noise raised by what rounding adds."""
        extra = self.rounding(sigma, tau, dim) + 1e-11 * mu
        if not extra < mu / 2.0:
            raise BudgetError(f"a look of mu = {mu:.2g} a record is below what rounding moves; raise epsilon")
        louder = mu / (mu - extra)
        return sigma * louder, tau * louder


@dataclass(frozen=True)
class RootBounds(Bounds):
    """Of gradients at most A and curvatures R'R, |R|^2 <= B, that have nothing to do with each other: lemma 11.

    Attributes
    ----------
    rank
        The most rows of R.
    """

    rank: int = 1

    def moved(self, sigma: float, tau: float, adjacency: str) -> float:
        """Return a bound on the joint distance, in exact arithmetic, of two neighbouring sums."""
        gradients, curvatures = _apart(adjacency)
        return math.hypot(gradients * self.gradient / sigma, curvatures * self.curvature / tau)

    def rounding(self, sigma: float, tau: float, dim: int) -> float:
        """Return what rounding to integers adds: of `rank` rows in place of one."""
        root = math.sqrt(self.rank * dim) / LONGEST_ROOT
        one = math.sqrt(dim) / LONGEST_ROOT
        more = self.curvature / tau * (root + root * root / 4.0 - one - one * one / 4.0)
        arithmetic = (self.rank - 1) * dim * 2.0**-50 * self.curvature / tau
        return super().rounding(sigma, tau, dim) + 2.0 * (more + arithmetic)

    def noise(self, mu: float, adjacency: str, dim: int, share: float) -> tuple[float, float]:
        """Return sigma and tau of a look that costs at most mu, the curvature's share of mu^2 as given."""
        gradients, curvatures = _apart(adjacency)
        sigma = gradients * self.gradient / (mu * math.sqrt(1.0 - share))
        tau = curvatures * self.curvature / (mu * math.sqrt(share))
        return self._louder(sigma, tau, mu, dim)


def _apart(adjacency: str) -> tuple[float, float]:
    """Return how many times A two gradients, and how many times B two nonnegative curvatures, may be apart."""
    return (1.0, 1.0) if adjacency == "add_remove" else (2.0, math.sqrt(2.0))
