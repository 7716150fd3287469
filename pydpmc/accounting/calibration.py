"""The largest parameter that fits a budget.

The first guess matches the variance of the losses, the second a rough cost; later guesses interpolate the exact costs,
which nearly follow those of mu-GDP. The exact cost of the result is always checked against the budget.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable
from functools import lru_cache

from ..checks import number, positive
from ..errors import BudgetError, InvalidArgument
from .composition.bounds import quick_bounds_of, rough_epsilon, rough_variance
from .events.base import Event
from .events.gaussian import largest_mu
from .guarantee import Guarantee, compose

MakeItems = Callable[..., Iterable[tuple[Event, int] | Guarantee]]
LARGEST_COUNT = 10**12
PRECISION = 1e-5
NEARLY = 1.001
FARTHEST = 64.0  # a guess is at most this many times the largest parameter known to fit
MOST_FIRST_GUESSES, CLOSE, CLOSER, VERY_CLOSE = 6, 0.1, 0.05, 0.01
TOO_FAR = 16.0  # a parameter of infinite cost is divided by this


def calibrate(
    make_items: MakeItems,
    *,
    epsilon: float,
    delta: float,
    adjacency: str = "replace",
    bracket: tuple[float, float] | None = None,
    integer: bool = True,
    unit: str = "one record",
    unspent: float = 0.0,
) -> float:
    """Return the largest x such that ``compose(make_items(x))`` is (epsilon, delta)-DP; the cost must grow with x.

    Parameters
    ----------
    make_items
        Maps the parameter to the items that `compose` takes.
    bracket
        Smallest and largest value allowed; needed if the parameter is real, (1, 10**12) by default otherwise.
    integer
        Whether the parameter is a whole number.
    unit
        What is protected; guarantees among the items must protect the same unit.
    unspent
        Share of epsilon that may be left over: the search then stops earlier, slightly below the largest x.

    Raises
    ------
    BudgetError
        If even the smallest value allowed costs too much.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> bit = acc.AcceptBit(shift=0.1)
    >>> steps = acc.calibrate(lambda steps: [(bit, steps)], epsilon=1.0, delta=1e-6)
    >>> acc.compose([(bit, steps)]).epsilon(1e-6) <= 1.0
    True
    """
    positive(epsilon, "epsilon")
    if not 0.0 <= number(delta, "delta") < 1.0:
        raise InvalidArgument(f"delta must lie in [0, 1), not {delta!r}")
    if bracket is None:
        if not integer:
            raise InvalidArgument("bracket must be given as (smallest, largest) if integer is False")
        bracket = (1, LARGEST_COUNT)
    if not 0 < bracket[0] <= bracket[1]:
        raise InvalidArgument(f"bracket must be (smallest, largest), positive and in this order, not {bracket!r}")
    enough = epsilon * (1.0 - unspent)
    search = _Search(lambda x: compose(make_items(x), adjacency, unit=unit), epsilon, enough, delta, adjacency, integer)
    return search.largest(*bracket)


def approximate_largest(
    guarantee: Callable[[float], Guarantee],
    epsilon: float,
    delta: float,
    adjacency: str,
    bracket: tuple[float, float],
    integer: bool,
) -> float:
    """Approximate `calibrate` for delta > 0, for ranking only: the result may exceed the budget."""
    return _Search(guarantee, epsilon, epsilon, delta, adjacency, integer).approximate_largest(*bracket)


class _Search:
    def __init__(
        self,
        guarantee: Callable[[float], Guarantee],
        epsilon: float,
        enough: float,
        delta: float,
        adjacency: str,
        integer: bool,
    ) -> None:
        self.guarantee = lru_cache(maxsize=2)(guarantee)
        self.target, self.enough, self.budget_delta = epsilon, enough, delta
        self.aim = 0.5 * (enough + epsilon)
        self.adjacency, self.integer = adjacency, integer
        self.fixed = 0.0  # the part of the size that does not depend on the parameter
        self.exponent = 1.0 if integer else 0.5  # parameter ~ size^exponent; refined once two points are known
        self.known: dict[float, float] = {}
        self.last = math.nan

    def cost(self, x: float) -> float:
        """Exact cost; a rough one if the events alone exceed the budget."""
        if x not in self.known:
            given = self.guarantee(x)
            alone = dataclasses.replace(given, total_variation=0.0)
            least = alone.epsilon(self.budget_delta)
            beyond = least > self.target
            self.known[x] = max(least, alone.epsilon(self._left(given))) if beyond else given.epsilon(self.budget_delta)
        return self.known[x]

    def _left(self, given: Guarantee) -> float:
        """Approximate delta that remains after the total variation is paid, at least half."""
        paid = (1.0 + math.exp(min(self.target, 700.0))) * given.total_variation
        return max(self.budget_delta - paid, 0.5 * self.budget_delta)

    def largest(self, smallest: float, limit: float) -> float:
        low = self._affordable(smallest, limit)
        high = min((x for x, cost in self.known.items() if cost > self.target), default=limit)
        for attempt in itertools.count(1):
            if low == limit or self._closed(low, high) or self.enough <= self.cost(low) < self.target:
                break
            x = self._between(low, high) if attempt % 8 == 0 else self._guess(low, high)
            self.last = x
            low, high = (x, high) if self.cost(x) <= self.target else (low, x)
        return low

    def approximate_largest(self, smallest: float, limit: float) -> float:
        x = self._first_guess(smallest, limit, CLOSER)
        if x == smallest and self._rough_size(x) > self._size(self.target):
            raise BudgetError(f"even {smallest:g} costs more than the budget {self.target:g}")
        return x

    def _affordable(self, smallest: float, limit: float) -> float:
        """Return a parameter that fits the budget and is close to the largest."""
        x = self._first_guess(smallest, limit, VERY_CLOSE)
        if x == limit and self._quick_cost(x) <= self.target:
            return x
        for _ in range(MOST_FIRST_GUESSES):
            if self.cost(x) <= self.target:
                return x
            x = x / TOO_FAR if math.isinf(self.cost(x)) else min(self._towards_budget(), 0.99999 * x)
            x = max(math.floor(x) if self.integer else x, smallest)
        if self.cost(smallest) > self.target:
            raise BudgetError(
                f"even {smallest:g} costs epsilon = {self.cost(smallest):.4g} at delta = {self.budget_delta:g}, "
                f"more than the budget {self.target:g}"
            )
        return smallest

    def _quick_cost(self, x: float) -> float:
        """Return a valid but loose cost that needs no grid; infinite if there is none."""
        given = self.guarantee(x)
        if self.budget_delta == 0.0 or not given.events or given.total_variation > 0.0 or given.void is not None:
            return math.inf
        quick = quick_bounds_of(given.events, self.adjacency)
        return min((bound.epsilon(self.budget_delta) for bound in quick), default=math.inf)

    def _first_guess(self, smallest: float, limit: float, close: float) -> float:
        """Match the variance of the loss, then a rough cost, to the largest Gaussian mechanism within the budget."""
        if self.budget_delta == 0.0 or smallest == limit:
            return smallest
        x = limit
        if self.integer:
            x = min(2 * smallest, limit)
            slope = (self._variance(x) - self._variance(smallest)) / (x - smallest)
            self.fixed = max(0.0, self._variance(smallest) - smallest * slope)
        x = self._approach(self._variance, x, (smallest, limit), CLOSE)
        return self._approach(self._rough_size, x, (smallest, limit), close)

    def _approach(self, size: Callable[[float], float], x: float, bracket: tuple[float, float], close: float) -> float:
        sizes: dict[float, float] = {}
        for _ in range(MOST_FIRST_GUESSES):
            here = size(x)
            if here == 0.0:
                break
            if here < math.inf:
                sizes[x] = here
            guess = min(max(self._meeting_point(sizes) if here < math.inf else x / TOO_FAR, bracket[0]), bracket[1])
            before, x = x, math.floor(guess) if self.integer else guess
            if abs(math.log(x / before)) < close:
                break
        return x

    def _variance(self, x: float) -> float:
        return rough_variance(self.guarantee(x).events, self.adjacency)

    def _rough_size(self, x: float) -> float:
        given = self.guarantee(x)
        if given.void is not None:
            return math.inf
        return self._size(rough_epsilon(given.events, self.adjacency, self._left(given)))

    def _closed(self, low: float, high: float) -> bool:
        return high - low <= 1 if self.integer else high <= low * (1 + PRECISION)

    def _between(self, low: float, high: float) -> float:
        middle = math.sqrt(low * high)
        return min(max(math.floor(middle), low + 1), high - 1) if self.integer else middle

    def _guess(self, low: float, high: float) -> float:
        """Interpolate the two costs nearest to the budget; the guess lies inside (low, high)."""
        x = min(self._towards_budget(), FARTHEST * low)
        if self.integer:
            return self._guess_count(low, high, x)
        x *= 1 + (PRECISION / 3 if self.last == low else -PRECISION / 3)  # towards the end that moved less recently
        return x if low < x < high else self._between(low, high)

    def _guess_count(self, low: float, high: float, x: float) -> float:
        count = max(math.floor(x), low + 1)
        if count < high or high not in self.known:
            return min(count, high)
        return high - 1 if self.known[high] < NEARLY * self.target else self._between(low, high)

    def _towards_budget(self) -> float:
        nearest = sorted(self.known, key=lambda x: abs(math.log(max(self.known[x], 1e-300) / self.target)))
        return self._meeting_point({x: self._size(self.known[x]) for x in nearest[1::-1]})

    def _meeting_point(self, sizes: dict[float, float]) -> float:
        """Solve size(x) = size of the budget, where size - fixed is a power of x.

        For counts the power is nearly 1, because mu^2 of a Gaussian mechanism grows linearly in the number of uses.
        """
        (other, far), (x, size) = [(0.0, 0.0), *sizes.items()][-2:]
        wanted, here, there = (self._beyond_fixed(value) for value in (self._size(self.aim), size, far))
        if other > 0.0 and 0.0 < there < math.inf and there != here > 0.0:
            self.exponent = max(math.log(other / x) / math.log(there / here), 0.0)
        return x * math.exp(min(self.exponent * math.log(wanted / max(here, 1e-300)), 60.0))

    def _beyond_fixed(self, size: float) -> float:
        return max(size - self.fixed, 1e-6 * size)

    def _size(self, epsilon: float) -> float:
        """Return mu^2 of the Gaussian mechanism that costs this epsilon."""
        if not (0.0 < epsilon < math.inf) or self.budget_delta == 0.0:
            return epsilon
        return largest_mu(epsilon, self.budget_delta) ** 2
