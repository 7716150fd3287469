"""The smallest epsilon on a curve delta(epsilon) plus a term that grows with e^epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

PRECISION = 1e-6
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def least_epsilon(curve: Callable[[float], float], delta: float, low: float, high: float) -> float:
    """Return nearly the smallest epsilon in [low, high] with curve(epsilon) <= delta; infinite if none is found.

    The curve is convex in e^epsilon, so it falls and then rises. The search finds its minimum first, then the point
    where it falls through delta. The returned epsilon is always checked.

    Examples
    --------
    >>> round(least_epsilon(lambda e: math.exp(-e) + 1e-4 * math.exp(e), 0.1, 0.0, 7.0), 3)
    2.313
    """
    if not low < high:
        return math.inf
    lowest = _lowest(curve, low, high)
    if curve(lowest) > delta:
        return math.inf
    outside, inside = low, lowest
    while inside - outside > PRECISION * max(1.0, inside):
        middle = 0.5 * (outside + inside)
        outside, inside = (outside, middle) if curve(middle) <= delta else (middle, inside)
    return inside


def _lowest(curve: Callable[[float], float], low: float, high: float) -> float:
    while high - low > PRECISION * max(1.0, high):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, right) if curve(left) <= curve(right) else (left, high)
    return 0.5 * (low + high)
