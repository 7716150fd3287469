"""Uniform, Bernoulli, logistic and normal variates. Seeds are fixed, so every test is deterministic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from pydpmc import _core

random = _core.random
ALPHA = 1e-6
TEST = random.purposes["test"]
TWO_64 = 2**64


def stream(seed: int, step: int = 0):
    return random.Stream(random.key_from_seed(seed), TEST, 0, step)


def below_by_hand(words: list[int], n: int, size: int) -> list[int]:
    """Every value has exactly floor(2^64 / n) words: those whose product leaves a remainder >= 2^64 mod n."""
    accepted = [word * n // TWO_64 for word in words if word * n % TWO_64 >= TWO_64 % n]
    return accepted[:size]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 2**32, 2**32 + 1, 2**63, 2**63 + 1, 3 * 2**62, 2**64 - 1])
def test_below_accepts_equally_many_words_for_every_value(n: int) -> None:
    words = [int(word) for word in stream(10).fill(2000)]
    assert random.below(stream(10), n, 500).tolist() == below_by_hand(words, n, 500)


@pytest.mark.parametrize(("n", "cells"), [(6, 6), (1000, 1000), (3 * 2**62, 3)])
def test_below_is_uniform(n: int, cells: int) -> None:
    counts = np.bincount((random.below(stream(11), n, 300_000) % cells).astype(np.int64), minlength=cells)
    assert stats.chisquare(counts).pvalue > ALPHA


def test_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        random.below(stream(11), 0, 1)


def test_open_unit_is_a_half_odd_multiple_and_uniform() -> None:
    u = random.open_unit(stream(12), 200_000)
    words = stream(12).fill(200_000)
    assert [Fraction(x) for x in u[:1000]] == [Fraction(2 * (int(w) >> 12) + 1, 2**53) for w in words[:1000]]
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > ALPHA


def exact_probability(probability: tuple[int, bool]) -> Fraction:
    threshold, complement = probability
    p = Fraction(threshold, TWO_64)
    return 1 - p if complement else p


def logistic_exactly(d: float) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction(1 / (1 + (-Decimal(d)).exp()))


LOGITS = [0.0, 5e-324, -5e-324, 1e-17, -1e-17, 0.5, -0.5, 23.999999, 24.0, -24.0]
LOGITS += np.random.default_rng(13).uniform(-24, 24, 1000).tolist()


def test_thresholds_are_accurate_for_both_outcomes() -> None:
    for d in LOGITS:
        p, exact = exact_probability(random.probability_from_logit(d)), logistic_exactly(d)
        assert abs(p - exact) <= exact / 2**29, d
        assert abs(p - exact) <= (1 - exact) / 2**29, d


def test_thresholds_are_the_nearest_that_a_double_can_give() -> None:
    for d in LOGITS:
        threshold, complement = random.probability_from_logit(d)
        smaller = min(logistic_exactly(d), 1 - logistic_exactly(d))
        assert complement == (d > 0)
        assert abs(threshold - smaller * TWO_64) <= Fraction(1, 2) + smaller * TWO_64 / 2**51


@pytest.mark.parametrize(
    ("d", "as_if"), [(math.nan, -24), (-math.inf, -24), (math.inf, 24), (-25, -24), (25, 24), (1e308, 24)]
)
def test_logits_are_clamped_and_nan_rejects(d: float, as_if: float) -> None:
    assert random.probability_from_logit(d) == random.probability_from_logit(as_if)


def test_a_pair_uses_its_smaller_member() -> None:
    for d in LOGITS:
        p, q = 1 / (1 + math.exp(-d)), 1 / (1 + math.exp(d))
        probability, exact = exact_probability(random.probability_from_pair(p, q)), logistic_exactly(d)
        assert abs(probability - exact) <= min(exact, 1 - exact) / 2**29


@pytest.mark.parametrize(
    ("p", "q", "logit"),
    [
        (0, 1, -24),
        (1, 0, 24),
        (1e-300, 1, -24),
        (1, 1e-300, 24),
        (math.nan, 0.5, -24),
        (0.5, math.nan, -24),
        (-0.1, 1.1, -24),
        (1.1, -0.1, -24),
        (0.5, 0.5, 0),
        (0.7, 0.7, 0),
    ],
)
def test_a_pair_is_clamped_like_a_logit(p: float, q: float, logit: float) -> None:
    assert random.probability_from_pair(p, q) == random.probability_from_logit(logit)


@pytest.mark.parametrize("d", [-24.0, -3.0, 0.0, 0.3, 24.0])
def test_bernoulli_compares_exactly_one_word(d: float) -> None:
    threshold, complement = random.probability_from_logit(d)
    used, fresh = stream(14), stream(14)
    bits = random.bernoulli(used, threshold, complement, 1000)
    np.testing.assert_array_equal(bits, (fresh.fill(1000) < np.uint64(threshold)) != complement)
    assert used.next64() == fresh.next64()


@pytest.mark.parametrize("d", [-6.0, -1.0, 0.0, 0.7, 5.0])
def test_bernoulli_frequencies(d: float) -> None:
    bits = random.bernoulli(stream(15), *random.probability_from_logit(d), 400_000)
    assert stats.binomtest(int(bits.sum()), bits.size, float(logistic_exactly(d))).pvalue > ALPHA


@pytest.mark.parametrize("draw", [random.normal, random.fill_normal], ids=["normal", "fill_normal"])
def test_normal_law(draw) -> None:
    z = draw(stream(16), 1_000_000)
    assert stats.kstest(z, "norm").pvalue > ALPHA
    cells = np.linspace(-4.5, 4.5, 1801)
    observed = np.histogram(z, np.concatenate([[-np.inf], cells, [np.inf]]))[0]
    expected = z.size * np.diff(np.concatenate([[0], stats.norm.cdf(cells), [1]]))
    assert stats.chisquare(observed, expected).pvalue > ALPHA


def assert_tails(x: np.ndarray, law: stats.rv_continuous, points: list[float]) -> None:
    for point in points:
        for beyond in (int((x > point).sum()), int((x < -point).sum())):
            assert stats.binomtest(beyond, x.size, law.sf(point)).pvalue > ALPHA, point


def test_normal_tails_and_moments() -> None:
    z = random.fill_normal(stream(17), 8_000_000)
    assert_tails(z, stats.norm, [3.0, 3.4426, 3.5, 4.0, 4.5, 5.0])
    beyond = np.abs(z[np.abs(z) > 3.4427])
    assert stats.kstest(beyond, lambda x: 1 - stats.norm.sf(x) / stats.norm.sf(3.4427)).pvalue > ALPHA
    for power, moment, spread in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        assert abs(np.mean(z**power) - moment) < 5 * math.sqrt(spread / z.size)


def test_normals_come_one_by_one_or_in_bulk() -> None:
    one_by_one, bulk = stream(18), stream(18)
    np.testing.assert_array_equal(random.normal(one_by_one, 9_999), random.fill_normal(bulk, 9_999))
    assert one_by_one.next64() == bulk.next64()


def test_logistic_law_and_tails() -> None:
    x = random.logistic(stream(19), 2_000_000)
    assert stats.kstest(x, "logistic").pvalue > ALPHA
    assert_tails(x, stats.logistic, [4.0, 8.0, 10.0, 12.0])


def test_logistic_is_the_inverse_of_its_word() -> None:
    words, x = stream(20).fill(1000), random.logistic(stream(20), 1000)
    for word, value in zip(words.tolist(), x.tolist(), strict=True):
        u = Fraction(2 * (word >> 1) + 1, 2**65)
        assert float(u / (1 - u)) == pytest.approx(math.exp(-abs(value)), rel=1e-14)
        assert (value < 0) == bool(word & 1)
