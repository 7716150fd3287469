"""Tight conversion of Renyi divergence to (epsilon, delta).

Claim: for every b > 0, delta <= exp(K(b) - b epsilon) b^b / (1 + b)^(1 + b), where
K(b) = log E_P[e^{b loss}] = b D_{1+b}.
Source: Canonne, Kamath, Steinke 2020, Proposition 12. Any order is valid, so the search need not be exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..events.base import Floats

LogMoment = Callable[[Floats], Floats]  # maps orders a > 1 to log moments
COARSE = np.geomspace(1e-3, 1e6, 73)


def epsilon_from_moment(log_moment: LogMoment, delta: float) -> float:
    """Return the least epsilon over the orders."""

    def bound(b: Floats) -> Floats:
        return (log_moment(1.0 + b) - math.log(delta) + log_overshoot(b)) / b

    return max(0.0, _least(bound)) * (1 + 1e-14)


def delta_from_moment(log_moment: LogMoment, epsilon: float) -> float:
    """Return the least delta over the orders."""
    least = _least(lambda b: log_moment(1.0 + b) - b * epsilon + log_overshoot(b))
    return min(1.0, math.exp(min(0.0, least)) * (1 + 1e-12))


def log_overshoot(b: Floats) -> Floats:
    """Log max_y (1 - e^-y) e^{-b y} = b log b - (1 + b) log(1 + b)."""
    return -b * np.log1p(1.0 / b) - np.log1p(b)


def classic_epsilon(divergences: Floats, orders: Floats, delta: float) -> float:
    """Mironov's conversion D + log(1/delta)/(a - 1), for comparison with papers that use it."""
    return float(np.min(divergences + math.log(1.0 / delta) / (orders - 1.0)))


def tight_epsilon(divergences: Floats, orders: Floats, delta: float) -> float:
    """D + log(1 - 1/a) - log(a delta)/(a - 1), the least over the given orders."""
    bounds = divergences + np.log1p(-1.0 / orders) - np.log(orders * delta) / (orders - 1.0)
    return max(0.0, float(np.min(bounds)))


def _least(bound: Callable[[Floats], Floats]) -> float:
    grid = COARSE
    least = math.inf
    for _ in range(3):
        values = np.where(np.isnan(found := bound(grid)), np.inf, found)
        best = int(np.argmin(values))
        least = min(least, float(values[best]))
        grid = np.geomspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 13)
    return least
