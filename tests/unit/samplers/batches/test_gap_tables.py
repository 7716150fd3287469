"""Alias tables of gaps have the geometric law, to the error that is charged (docs/privacy/sgld.md, lemma 4)."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from pydpmc.samplers.base import POISSON_ERROR, SUBSET_ERROR
from pydpmc.samplers.batches.gap_tables import COLUMNS, FULL, GAP_ERROR, SPARSE, gap_tables, most_members, raised_rate

BITS = 1000  # of the interval arithmetic that brackets powers
UNITS = COLUMNS * FULL  # a table gives every outcome a whole number of these
DENSE = [1.0, 1.0 - 2.0**-53, 0.9, 0.5, 0.1, 1e-3, SPARSE]
RARE = [SPARSE * (1.0 - 2.0**-53), 1e-4, 1e-7, 2.0**-31, 2.0**-64]


def weights(table):
    """The probability of every outcome, in units of 1 / UNITS."""
    law = [0] * COLUMNS
    for column, (entry, high, low) in enumerate(zip(table.entry, table.tail_high, table.tail_low, strict=True)):
        threshold = (int(entry) >> 12) << 128 | int(high) << 64 | int(low)
        law[column] += threshold
        law[int(entry) & 4095] += FULL - threshold
    return law


def power(low, high, exponent):
    """Bounds of base^exponent, all in units of 2^-BITS."""
    below = above = 1 << BITS
    while exponent:
        if exponent & 1:
            below, above = below * low >> BITS, -(-above * high >> BITS)
        low, high, exponent = low * low >> BITS, -(-high * high >> BITS), exponent >> 1
    return below, above


def at_least(rate, part):
    """P(outcome >= k) in whole units, rounded down, k = 0 to COLUMNS - 1: proven, since both bounds agree."""
    absent = Fraction(1) - Fraction(rate)
    one = 1 << BITS
    base = (absent.numerator * one // absent.denominator, -(-absent.numerator * one // absent.denominator))
    all_low, all_high = power(*base, COLUMNS)
    found = [UNITS]
    for k in range(1, COLUMNS):
        low, high = power(*((all_low, all_high) if part == "quotient" else base), k)
        if part == "remainder":
            low, high = (low - all_high) * one // (one - all_low), -(-(high - all_low) * one // (one - all_high))
        below, above = low * UNITS >> BITS, high * UNITS >> BITS
        assert below == above
        found.append(below)
    return found


def parts(rate):
    tables = gap_tables(rate)
    if tables.remainder is None:
        return {"gap": tables.gap}
    return {"quotient": tables.gap, "remainder": tables.remainder}


def is_exact(table, edges):
    return weights(table) == [a - b for a, b in zip(edges, [*edges[1:], 0], strict=True)]


@pytest.mark.parametrize("rate", [*DENSE, *RARE])
def test_a_table_has_the_law_to_its_last_unit(rate):
    for part, table in parts(rate).items():
        edges = at_least(rate, part)
        assert is_exact(table, edges)
        changed = table.tail_low.copy()
        changed[1234] ^= np.uint64(1)
        own_alias = int(table.entry[1234]) & 4095 == 1234
        assert is_exact(dataclasses.replace(table, tail_low=changed), edges) == own_alias


def test_whole_units_are_within_the_declared_error():
    # Every P(outcome >= k), k = 1 to COLUMNS - 1, is off by less than a unit and moves two outcomes.
    assert Fraction(COLUMNS - 1, UNITS) < Fraction(GAP_ERROR)


def test_what_is_charged_covers_every_gap_of_a_step_and_the_tail():
    gaps = 2 * 2**31  # two draws for an index at most
    assert 2.01 * gaps * GAP_ERROR < SUBSET_ERROR  # of 2.01 tries on average at most
    assert gaps * GAP_ERROR + 2.0**-71 < POISSON_ERROR


def test_both_tables_together_are_geometric():
    rate = 1e-4
    tables = gap_tables(rate)
    quotient, remainder = weights(tables.gap), weights(tables.remainder)
    for gap in [0, 1, 4095, 4096, 4097, 50_000, 200_001]:
        found = quotient[gap // 4096] / UNITS * (remainder[gap % 4096] / UNITS)
        assert found == pytest.approx(rate * (1 - rate) ** gap, rel=1e-10)
    assert tables.overflow == quotient[4095] / UNITS


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.5, math.nan, 2.0**-65])
def test_rates_that_have_no_table_are_refused(rate):
    with pytest.raises(ValueError, match="rate must lie between"):
        gap_tables(rate)


def test_tails_cut_off_are_small_by_bernsteins_inequality_for_any_spread():
    for spread in [0.0, *(10.0 ** (k / 10) for k in range(-20, 60))]:
        far = 10.0 * spread + 199.0
        assert far**2 / (2.0 * (spread**2 + far / 3.0)) > 50.0
    assert math.exp(-50.0) < 2.0**-71


@pytest.mark.parametrize(("n", "rate"), [(1, 1.0), (50, 0.5), (10**5, 1e-3), (10**6, 0.01), (2**31, 1e-7)])
def test_room_is_for_nearly_all_samples(n, rate):
    most = most_members(n, rate)
    assert most <= n
    assert n * rate <= most
    assert binom.sf(most, n, rate) < 2.0**-71


@pytest.mark.parametrize(("n", "b"), [(1, 0), (1, 1), (2, 1), (9, 7), (10**6, 1000), (10**6, 10**6 - 5), (2**31, 1)])
def test_a_raised_rate_seldom_falls_short(n, b):
    rate = raised_rate(n, b)
    assert b / n <= rate <= 1.0
    assert binom.cdf(b - 1, n, rate) < 0.06
    assert most_members(n, rate) >= b
