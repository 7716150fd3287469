"""The size of a Poisson sample has the binomial law, to the error that is charged (docs/privacy/sgld.md, lemma 4)."""

import math
from fractions import Fraction

import pytest
from scipy.stats import binom

from pydpmc.samplers.binomial import COUNT_ERROR, count_table


def cumulative(table):
    """In units of 2^-128."""
    return [(high << 64) | low for high, low in zip(table.high, table.low, strict=True)]


def exact_distance(n, rate):
    """Total variation between the table's law and Binomial(n, rate), in integers of a common denominator."""
    table, q = count_table(n, rate), Fraction(rate)
    yes, no, one = q.numerator, q.denominator - q.numerator, q.denominator**n
    edges = [0, *cumulative(table), 2**128]
    law = {table.first + k: edges[k + 1] - edges[k] for k in range(len(edges) - 1)}
    assert min(law.values()) >= 0
    twice = sum(abs(law.get(m, 0) * one - 2**128 * math.comb(n, m) * yes**m * no ** (n - m)) for m in range(n + 1))
    return twice / (one * 2**129)


@pytest.mark.parametrize(("n", "rate"), [(1, 0.5), (1, 1e-9), (30, 0.3), (200, 0.01), (150, 0.999)])
def test_a_table_that_leaves_nothing_out_is_off_by_its_last_bits_only(n, rate):
    assert exact_distance(n, rate) < (n + 2) * 2.0**-128


def test_what_a_table_leaves_out_is_below_the_charge():
    assert exact_distance(400, 0.01) < 2.0**-70 < COUNT_ERROR


@pytest.mark.parametrize(("n", "rate"), [(50_000, 0.002), (10**6, 0.001), (10**6, 0.9), (2**31 - 1, 1e-6)])
def test_large_tables_agree_with_scipy(n, rate):
    table = count_table(n, rate)
    counts = [table.first + k for k in range(len(table.high))]
    assert [c / 2**128 for c in cumulative(table)] == pytest.approx(list(binom.cdf(counts, n, rate)), abs=1e-9)
    assert table.most <= n


def test_tails_left_out_are_small_by_bernsteins_inequality_for_any_spread():
    for spread in [0.0, *(10.0 ** (k / 10) for k in range(-20, 60))]:
        far = 10.0 * spread + 199.0
        assert far**2 / (2.0 * (spread**2 + far / 3.0)) > 50.0
    assert 2.0 * math.exp(-50.0) < 2.0**-71 < COUNT_ERROR
