"""The size of a Poisson sample, as a table of exact cumulative probabilities.

Binomial(n, q) records chosen uniformly without replacement is the same as each record on its own with probability q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

PRECISION = 256  # bits of the recursion, in integers
TAIL = 2.0**-70  # probability left out on each side


@dataclass(frozen=True)
class CountTable:
    """P(count <= first + k) in 128 fractional bits, split into two words; total-variation error below 2^-60."""

    first: int
    high: tuple[int, ...]
    low: tuple[int, ...]

    @property
    def most(self) -> int:
        """The largest count the table can give."""
        return self.first + len(self.high)


COUNT_ERROR = 2.0**-60


@lru_cache(maxsize=64)
def count_table(n: int, rate: float) -> CountTable:
    """Return the table of Binomial(n, rate), rate taken as the exact rational number it is."""
    q = Fraction(rate)
    spread = math.sqrt(n * rate * (1.0 - rate))
    width = math.ceil(10.0 * spread + 200.0)  # beyond: less than TAIL, by Bernstein's inequality
    mode = min(n, int((n + 1) * q))
    low, high = max(0, mode - width), min(n, mode + width)
    weights = _weights(n, q, mode, low, high)
    total = sum(weights)
    cumulative, bits = 0, []
    for weight in weights[:-1]:
        cumulative += weight
        bits.append(min((cumulative << 128) // total, (1 << 128) - 1))
    mask = (1 << 64) - 1
    return CountTable(low, tuple(b >> 64 for b in bits), tuple(b & mask for b in bits))


def _weights(n: int, q: Fraction, mode: int, low: int, high: int) -> list[int]:
    """Binomial probabilities relative to the mode's, as integers of PRECISION bits."""
    odds_top, odds_bottom = q.numerator, q.denominator - q.numerator
    weights = {mode: 1 << PRECISION}
    for m in range(mode, high):
        weights[m + 1] = weights[m] * (n - m) * odds_top // ((m + 1) * odds_bottom)
    for m in range(mode, low, -1):
        weights[m - 1] = weights[m] * m * odds_bottom // ((n - m + 1) * odds_top)
    return [weights[m] for m in range(low, high + 1)]
