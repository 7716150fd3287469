"""The largest parameter that a budget pays for.

The search brackets with the quick bounds, which are valid but loose, then closes the bracket with the full
ones. What it returns was itself found to be within the budget.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

from ..checks import number, positive
from ..errors import BudgetError, InvalidArgument
from .bounds import bounds_of
from .events import Event
from .gaussian import largest_mu
from .guarantee import Guarantee, compose

MakeItems = Callable[..., Iterable[tuple[Event, int] | Guarantee]]
LARGEST_COUNT = 10**12
PRECISION = 1e-5
NEARLY = 1.001
FARTHEST = 64.0  # times what is known to be affordable: how far a guess may reach


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
    """Largest x such that ``compose(make_items(x))`` is (epsilon, delta)-DP; the cost must grow with x.

    Parameters
    ----------
    make_items
        From the parameter to what `compose` takes.
    bracket
        Smallest and largest value allowed; needed if the parameter is real, (1, 10**12) by default otherwise.
    integer
        Whether the parameter is a whole number.
    unit
        What is protected; guarantees among the items must speak of the same.
    unspent
        Share of epsilon that may be left: a search that may stop early is quicker, and what it finds not quite the
        largest.

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
            raise InvalidArgument("a real parameter needs bracket=(smallest, largest)")
        bracket = (1, LARGEST_COUNT)
    if not 0 < bracket[0] <= bracket[1]:
        raise InvalidArgument(f"bracket must be (smallest, largest), positive and in this order, not {bracket!r}")
    enough = epsilon * (1.0 - unspent)
    search = _Search(lambda x: compose(make_items(x), adjacency, unit=unit), epsilon, enough, delta, adjacency, integer)
    return search.largest(*bracket)


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
        self.guarantee, self.target, self.enough, self.budget_delta = guarantee, epsilon, enough, delta
        self.adjacency, self.integer = adjacency, integer
        self.known: dict[float, float] = {}
        self.last = math.nan

    def cost(self, x: float) -> float:
        if x not in self.known:
            self.known[x] = self.guarantee(x).epsilon(self.budget_delta)
        return self.known[x]

    def quick_cost(self, x: float) -> float:
        uses = self.guarantee(x).events
        bounds = bounds_of(uses, self.adjacency, quick=True) if uses else []
        return min((bound.epsilon(self.budget_delta) for bound in bounds), default=math.inf)

    def largest(self, smallest: float, limit: float) -> float:
        low = self._quick_start(smallest, limit)
        if self.cost(low) > self.target:
            low = smallest  # the quick bounds leave out what random numbers of finite precision cost
        if self.cost(low) > self.target:
            raise BudgetError(
                f"even {low:g} costs epsilon = {self.cost(low):.4g} at delta = {self.budget_delta:g}, "
                f"more than the budget {self.target:g}"
            )
        high = limit
        for attempt in itertools.count(1):
            if self._closed(low, high) or self.enough <= self.cost(low) < self.target:
                break
            x = self._between(low, high) if attempt % 8 == 0 else self._guess(low, high)
            self.last = x
            if self.cost(x) <= self.target:
                low = x
            else:
                high = x
            if low == limit:
                break
        return low

    def _quick_start(self, smallest: float, limit: float) -> float:
        """The largest power-of-two multiple, then bisection, that the quick bounds already allow."""
        if self.quick_cost(smallest) > self.target:
            return smallest
        low, high = smallest, limit
        while low < limit:
            x = min(2 * low, limit)
            if self.quick_cost(x) > self.target:
                high = x
                break
            low = x
        while not self._closed(low, high) and high > 1.001 * low:
            x = self._between(low, high)
            low, high = (x, high) if self.quick_cost(x) <= self.target else (low, x)
        return low

    def _closed(self, low: float, high: float) -> bool:
        return high - low <= 1 if self.integer else high <= low * (1 + PRECISION)

    def _between(self, low: float, high: float) -> float:
        middle = math.sqrt(low * high)
        return min(max(math.floor(middle), low + 1), high - 1) if self.integer else middle

    def _guess(self, low: float, high: float) -> float:
        """Where a curve through the two nearest known costs meets the budget, inside (low, high)."""
        nearest = sorted(self.known, key=lambda x: abs(math.log(max(self.known[x], 1e-300) / self.target)))
        if self.integer:
            return self._guess_count(low, high, nearest[:2])
        x = min(self._power_law(nearest[:2]), FARTHEST * low)
        x *= 1 + (PRECISION / 3 if self.last == low else -PRECISION / 3)  # to the side not yet closed
        return x if low < x < high else self._between(low, high)

    def _guess_count(self, low: float, high: float, nearest: list[float]) -> float:
        count = max(math.floor(min(self._linear(nearest), FARTHEST * low)), low + 1)
        if count < high or high not in self.known:
            return min(count, high)
        return high - 1 if self.known[high] < NEARLY * self.target else self._between(low, high)

    def _linear(self, points: list[float]) -> float:
        """Costs of counts: nearly those of a Gaussian mechanism, the square of whose mu grows by the same each use."""
        x, size = points[0], self._size(self.known[points[0]])
        other, far = (points[1], self._size(self.known[points[1]])) if len(points) > 1 else (0.0, 0.0)
        if not math.isfinite(far) or far == size:
            other, far = 0.0, 0.0
        slope = (size - far) / (x - other)
        return x + (self._size(self.target) - size) / slope if slope > 0.0 else math.inf

    def _size(self, epsilon: float) -> float:
        if not (0.0 < epsilon < math.inf) or self.budget_delta == 0.0:
            return epsilon
        return largest_mu(epsilon, self.budget_delta) ** 2

    def _power_law(self, points: list[float]) -> float:
        x, cost = points[0], max(self.known[points[0]], 1e-300)
        exponent = 2.0
        if len(points) > 1 and math.isfinite(other := self.known[points[1]]) and other not in (0.0, cost):
            exponent = math.log(points[1] / x) / math.log(other / cost)
        return x * math.exp(min(max(exponent, 0.0) * math.log(self.target / cost), 60.0))
