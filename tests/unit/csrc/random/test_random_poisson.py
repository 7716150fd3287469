"""Poisson samples: each index on its own, in order."""

import itertools

import numpy as np
import pytest
from scipy import stats

from pydpmc import _core
from pydpmc.samplers.base import batch_arguments

random = _core.random
ALPHA = 1e-6


def stream_of(seed, step=0):
    return random.Stream(random.key_from_seed(seed), random.purposes["subsample"], 0, step)


def arguments(n, rate):
    return batch_arguments(_core, "poisson", n, 0, rate)


def line(n, rate, stream):
    return random.Subsampler(n=n, **arguments(n, rate)).line(stream)


@pytest.mark.parametrize(("n", "rate", "most"), [(5000, 0.5, 100), (10**6, 1e-4, 20)])
def test_more_members_than_there_is_room_for_are_cut_off(n, rate, most):
    small = random.Subsampler(arguments(n, rate)["gaps"], n, most)
    np.testing.assert_array_equal(
        small.line(stream_of(53)).draw_poisson(), line(n, rate, stream_of(53)).draw_poisson()[:most]
    )


def test_every_subset_has_its_probability():
    n, rate, count = 7, 0.3, 60_000
    samples = line(n, rate, stream_of(54))
    codes = [int((1 << samples.draw_poisson().astype(np.int64)).sum()) for _ in range(count)]
    subsets = [s for k in range(n + 1) for s in itertools.combinations(range(n), k)]
    observed = np.bincount(codes, minlength=2**n)
    expected = [count * rate ** len(s) * (1 - rate) ** (n - len(s)) for s in subsets]
    found = [observed[sum(1 << i for i in s)] for s in subsets]
    assert min(expected) > 10
    assert stats.chisquare(found, expected).pvalue > ALPHA


@pytest.mark.parametrize("rate", [0.4, 0.02, 2e-4])
def test_what_one_sample_leaves_to_the_next_tells_nothing_of_it(rate):
    n, count = 3, 200_000
    samples = line(n, rate, stream_of(59))
    codes = np.array([int((1 << samples.draw_poisson().astype(np.int64)).sum()) for _ in range(count)])
    each = np.array([rate ** k.bit_count() * (1 - rate) ** (n - k.bit_count()) for k in range(2**n)])
    pairs = np.bincount(codes[0::2] * 2**n + codes[1::2], minlength=4**n)
    expected = count / 2 * np.outer(each, each).ravel()
    common = expected > 5
    found = np.append(pairs[common], pairs[~common].sum())
    wanted = np.append(expected[common], max(expected[~common].sum(), 1e-9))
    assert stats.chisquare(found, wanted * found.sum() / wanted.sum()).pvalue > ALPHA


@pytest.mark.parametrize(("n", "rate"), [(1000, 0.05), (200_000, 2.0**-12), (300_000, 1e-4), (40, 0.999)])
def test_sizes_are_binomial_and_indices_uniform(n, rate):
    drawn = line(n, rate, stream_of(55))
    samples = [drawn.draw_poisson().astype(np.int64) for _ in range(8000)]
    assert all((np.diff(s) > 0).all() and (len(s) == 0 or s[-1] < n) for s in samples)
    sizes = np.bincount([len(s) for s in samples], minlength=n + 1)
    expected = len(samples) * stats.binom.pmf(np.arange(n + 1), n, rate)
    common = expected > 10
    observed, wanted = (
        np.append(sizes[common], sizes[~common].sum()),
        np.append(expected[common], expected[~common].sum()),
    )
    assert stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > ALPHA
    pooled = np.concatenate(samples)
    places = np.bincount(pooled * 40 // n, minlength=40)
    width = np.bincount(np.arange(n) * 40 // n, minlength=40)
    excess = (places - len(samples) * width * rate) / np.sqrt(len(samples) * width * rate * (1 - rate))
    assert stats.chi2(40).sf((excess**2).sum()) > ALPHA


@pytest.mark.parametrize(("n", "rate"), [(1, 0.25), (50_000_000, 1e-7), (2**31, 2.0**-31)])
def test_rare_members_come_as_often_as_they_should(n, rate):
    samples = line(n, rate, stream_of(56))
    count = 4000
    total = sum(len(samples.draw_poisson()) for _ in range(count))
    assert abs(total - count * n * rate) < 5 * np.sqrt(count * n * rate * (1 - rate))


def test_rate_one_takes_everybody():
    for n in [1, 2, 95, 96, 97, 5000]:
        np.testing.assert_array_equal(line(n, 1.0, stream_of(57)).draw_poisson(), np.arange(n))


@pytest.mark.parametrize("rate", [0.02, 1e-4])
def test_samples_are_the_same_on_every_instruction_set(rate):
    before = _core.isa()
    results = []
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        results.append([line(10**6, rate, stream_of(58, step)).draw_poisson() for step in range(5)])
    _core.use_isa(before)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_tables_of_the_wrong_shape_are_refused():
    short, long = np.zeros(5, np.uint32), np.zeros(4096, np.uint64)
    with pytest.raises(ValueError, match="4096 columns"):
        random.GapTables(0.5, 0.0, (short, long, long), None)
    wide = np.full(4096, 1 << 21, np.uint32)
    with pytest.raises(ValueError, match="21 bits"):
        random.GapTables(0.5, 0.0, (wide, long, long), None)
    with pytest.raises(ValueError, match="probabilities"):
        random.GapTables(0.5, 1.0, (wide, long, long), None)
