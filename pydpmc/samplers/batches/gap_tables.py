"""Alias tables of the gaps between members of a Bernoulli process, computed in exact integers.

A gap drawn from a table is within `GAP_ERROR` of the geometric law in total variation (docs/privacy/sgld.md, lemma 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgument

COLUMN_BITS, HEAD_BITS, TAIL_BITS = 12, 9, 128  # as in csrc/random/sampling/alias_field.hpp and alias_table.hpp
COLUMNS = 1 << COLUMN_BITS
FULL = 1 << (HEAD_BITS + TAIL_BITS)  # the threshold of a column that never uses its alias
PRECISION = 320  # bits to which powers of 1 - rate are computed
GAP_ERROR = 2.0**-137
SPARSE = 2.0**-12  # at smaller rates most gaps do not fit into one table
LEAST_RATE = 2.0**-64


@dataclass(frozen=True)
class AliasTable:
    """An alias table in the format of the compiled sampler, with thresholds in units of 1 / FULL."""

    entry: npt.NDArray[np.uint32]
    tail_high: npt.NDArray[np.uint64]
    tail_low: npt.NDArray[np.uint64]


@dataclass(frozen=True)
class GapTables:
    """The law of a gap; if the rate is below SPARSE, the laws of its quotient and remainder by COLUMNS."""

    rate: float
    overflow: float
    gap: AliasTable
    remainder: AliasTable | None


@lru_cache(maxsize=32)
def gap_tables(rate: float) -> GapTables:
    """Return the tables of a Bernoulli process; the rate is read as an exact rational number."""
    if not LEAST_RATE <= rate <= 1.0:
        raise InvalidArgument(f"rate must lie between 2^-64 and 1, not {rate:.3g}: use a larger batch_size")
    absent = _powers(Fraction(1 - Fraction(rate)))
    if rate >= SPARSE:
        return GapTables(rate, absent[-2] / absent[0], _table(absent[:-1]), None)
    absent_from_all = absent[-1]
    quotient = _powers(Fraction(absent_from_all, absent[0]))
    remainder = [((a - absent_from_all) << PRECISION) // (absent[0] - absent_from_all) for a in absent[:-1]]
    return GapTables(rate, quotient[-2] / quotient[0], _table(quotient[:-1]), _table(remainder))


def _powers(base: Fraction) -> list[int]:
    """Return base^k in units of 2^-PRECISION, k = 0 to COLUMNS, rounded down at every step."""
    powers = [1 << PRECISION]
    for _ in range(COLUMNS):
        powers.append(powers[-1] * base.numerator // base.denominator)
    return powers


def _table(at_least: Sequence[int]) -> AliasTable:
    """Return the alias table of a law on 0 to COLUMNS - 1, given as P(outcome >= k) in units of 2^-PRECISION."""
    shift = PRECISION - COLUMN_BITS - HEAD_BITS - TAIL_BITS
    edges = [p >> shift for p in at_least] + [0]
    thresholds, alias = _vose([edges[k] - edges[k + 1] for k in range(COLUMNS)])
    heads = [t >> TAIL_BITS for t in thresholds]
    mask = (1 << 64) - 1
    return AliasTable(
        np.array([head << COLUMN_BITS | a for head, a in zip(heads, alias, strict=True)], np.uint32),
        np.array([t >> 64 & mask for t in thresholds], np.uint64),
        np.array([t & mask for t in thresholds], np.uint64),
    )


def _vose(weights: list[int]) -> tuple[list[int], list[int]]:
    """Return thresholds and aliases that give every outcome exactly its weight out of COLUMNS * FULL."""
    left = list(weights)
    small = [k for k, w in enumerate(left) if w < FULL]
    large = [k for k, w in enumerate(left) if w >= FULL]
    thresholds, alias = [0] * COLUMNS, list(range(COLUMNS))  # a column that is its own alias ignores its threshold
    while small:
        column, donor = small.pop(), large[-1]
        thresholds[column], alias[column] = left[column], donor
        left[donor] -= FULL - left[column]
        if left[donor] < FULL:
            small.append(large.pop())
    return thresholds, alias


def most_members(n: int, rate: float) -> int:
    """Return a bound on the number of members that fails with probability below 2^-71 (Bernstein's inequality)."""
    spread = math.sqrt(n * rate * (1.0 - rate))
    return min(n, int((n + 1) * Fraction(rate)) + math.ceil(10.0 * spread + 200.0))


def raised_rate(n: int, b: int) -> float:
    """Return a rate at which a process on n indices rarely has fewer than b members, but not many more than b."""
    return min(1.0, (b + 2.0 * math.sqrt((b + 1) * (1.0 - b / n))) / n)
