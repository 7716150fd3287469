"""A privacy filter: which releases still fit a budget if each is chosen after the earlier ones were seen.

Claim: all admitted releases together are (epsilon, delta)-DP, however adaptively they were chosen. Ordinary composition
does not prove that, because it needs parameters that are fixed in advance. Proof: docs/privacy/ledger.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..errors import BudgetError
from ..rounding import lower, upper
from .events.gaussian import gdp_delta, gdp_epsilon
from .filter_cover import cover, exact_square
from .guarantee import Guarantee

# Shares of delta for the Gaussian covers, for what the covers miss, and for the total variation.
GAUSSIAN_SHARE, BESIDE_SHARE, VARIATION_SHARE = 0.74, 0.25, 0.01
NEXT_PART = 1 / 8  # each release may take this part of what remains of the second share


@dataclass(frozen=True)
class Charge:
    """What one release takes of each part of the budget.

    Attributes
    ----------
    mu_squared
        mu^2 of the Gaussian mechanism that covers it; infinite if it was admitted as the only release.
    beside
        The delta by which it may exceed that Gaussian mechanism.
    total_variation
        Distance of the released random numbers from the laws that are accounted.
    pure_epsilon
        Sum of the pure epsilons of its events.
    """

    mu_squared: float
    beside: float
    total_variation: float
    pure_epsilon: float


@dataclass(frozen=True)
class PrivacyFilter:
    """A budget and the charges against it.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> run = acc.compose([(acc.Gaussian(noise_multiplier=10.0), 1)])
    >>> budget = PrivacyFilter(epsilon=1.0, delta=1e-6)
    >>> after = budget.after(budget.charge(run))
    >>> 0 < after.remaining < budget.remaining
    True
    """

    epsilon: float
    delta: float
    charges: tuple[Charge, ...] = field(default=())

    @cached_property
    def mu_squared(self) -> float:
        """mu^2 of the largest Gaussian mechanism that fits the Gaussian share of delta."""
        low, high = 0.0, 1.0
        while self._pays(high):
            low, high = high, 2.0 * high
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._pays(middle) else (low, middle)
        return low * low

    def charge(self, guarantee: Guarantee) -> Charge:
        """Return what this release takes; raise `BudgetError` if that is more than remains."""
        beside = 0.0 if exact_square(guarantee) is not None else NEXT_PART * self._left_beside
        mu = cover(guarantee, beside) if beside > 0.0 or exact_square(guarantee) is not None else math.inf
        asked = Charge(mu * mu, beside, guarantee.total_variation, _pure(guarantee))
        after = self.after(asked)
        if after._variation_fits and (after._gaussians_fit or after._pure_fits):
            return asked
        if not self.charges and guarantee.epsilon(self.delta) <= self.epsilon:
            return replace(asked, mu_squared=math.inf, pure_epsilon=math.inf)
        raise BudgetError(self._refusal(guarantee) if after._variation_fits else self._imprecise())

    def after(self, charge: Charge) -> PrivacyFilter:
        """Return the same budget with one more charge."""
        return replace(self, charges=(*self.charges, charge))

    @property
    def remaining(self) -> float:
        """Epsilon, at the budget's delta, of the largest Gaussian mechanism that still fits."""
        if not self.charges:
            return self.epsilon
        left = self.mu_squared - self._taken("mu_squared")
        return gdp_epsilon(math.sqrt(left), self.delta) * (1 - 1e-9) if left > 0.0 else 0.0

    @property
    def remaining_pure(self) -> float:
        """Epsilon of the largest pure release that still fits."""
        return max(0.0, self.epsilon - self._taken("pure_epsilon"))

    def in_words(self) -> str:
        """Return the remaining budget as text."""
        pure = self.remaining_pure
        words = f"epsilon = {lower(self.remaining, 4)} at delta = {self.delta!r}"
        return words + (f", or pure epsilon = {lower(pure, 4)}" if pure > self.remaining else "")

    def _refusal(self, guarantee: Guarantee) -> str:
        return (
            f"the ledger cannot pay for this run, which costs epsilon = {upper(guarantee.epsilon(self.delta), 4)} at "
            f"delta = {self.delta!r}: of its budget ({self.epsilon:g}, {self.delta!r}) there remains "
            f"{self.in_words()}. Nothing was spent; plan a smaller run"
        )

    def _imprecise(self) -> str:
        return (
            f"at epsilon = {self.epsilon:g} the finite precision of this run's random numbers, which is charged "
            f"1 + e^epsilon times, takes more of delta = {self.delta!r} than is set aside for it. Nothing was spent; "
            "use a ledger with a smaller epsilon, or plan a run with fewer steps"
        )

    def _pays(self, mu: float) -> bool:
        return float(gdp_delta(mu, np.array([self.epsilon]))[0]) <= GAUSSIAN_SHARE * self.delta

    def _taken(self, purse: str) -> float:
        return math.fsum(getattr(charge, purse) for charge in self.charges)

    @property
    def _left_beside(self) -> float:
        return max(0.0, BESIDE_SHARE * self.delta - self._taken("beside"))

    @property
    def _gaussians_fit(self) -> bool:
        spent = self._taken("mu_squared") * (1 + 1e-12)
        return spent <= self.mu_squared and self._taken("beside") <= BESIDE_SHARE * self.delta

    @property
    def _pure_fits(self) -> bool:
        return math.isfinite(self._taken("pure_epsilon")) and (
            sum(Fraction(charge.pure_epsilon) for charge in self.charges) <= Fraction(self.epsilon)
        )

    @property
    def _variation_fits(self) -> bool:
        return self._taken("total_variation") * (1.0 + math.exp(min(self.epsilon, 700.0))) <= (
            VARIATION_SHARE * self.delta
        )


def _pure(guarantee: Guarantee) -> float:
    """Return the sum of the pure epsilons, rounded up."""
    parts = [(event.pure_epsilon(guarantee.adjacency), n) for event, n in guarantee.events]
    if any(math.isinf(epsilon) for epsilon, _ in parts):
        return math.inf
    exact = sum((n * Fraction(epsilon) for epsilon, n in parts), Fraction(0))
    return float(exact) if Fraction(float(exact)) >= exact else math.nextafter(float(exact), math.inf)
