"""Subsets without replacement: distinct, in order, every one equally likely."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from pydpmc import _core
from pydpmc.samplers.base import subset_arguments

random = _core.random
ALPHA = 1e-6


def subsample_stream(seed: int):
    return random.Stream(random.key_from_seed(seed), random.purposes["subsample"], 0, 0)


def subsampler(n: int, b: int):
    return random.Subsampler(n=n, **subset_arguments(_core, n, b))


def draws(n: int, b: int, count: int, seed: int) -> np.ndarray:
    line = subsampler(n, b).line(subsample_stream(seed))
    return np.array([line.draw_exactly(b) for _ in range(count)])


SIZES = [(1, 0), (1, 1), (2, 1), (63, 5), (64, 64), (65, 64), (65, 1), (128, 100), (4096, 2048), (4097, 2049)]
SIZES += [(1000, 0), (1000, 999), (1000, 1000), (10**5, 3), (10**5, 99_990), (262_145, 1000), (10**6, 1000)]


@pytest.mark.parametrize(("n", "b"), SIZES)
def test_subsets_are_distinct_in_order_and_in_range(n: int, b: int) -> None:
    line = subsampler(n, b).line(subsample_stream(30))
    for _ in range(30):
        subset = line.draw_exactly(b).astype(np.int64)
        assert subset.shape == (b,)
        assert (np.diff(subset) > 0).all()
        assert b == 0 or subset[-1] < n


@pytest.mark.parametrize(("n", "b"), [(1, 1), (5, 1), (5, 4), (6, 3), (7, 2), (7, 5), (8, 4), (9, 7)])
def test_every_subset_is_equally_likely(n: int, b: int) -> None:
    subsets = list(itertools.combinations(range(n), b))
    count = 300 * len(subsets)
    codes = (np.int64(1) << draws(n, b, count, seed=31).astype(np.int64)).sum(axis=1)
    observed = [int((codes == sum(1 << i for i in subset)).sum()) for subset in subsets]
    assert sum(observed) == count
    assert len(subsets) == 1 or stats.chisquare(observed).pvalue > ALPHA


@pytest.mark.parametrize("b", [10, 40])
def test_inclusion_rates_and_pairwise_correlations(b: int) -> None:
    n, count = 50, 100_000
    included = np.zeros((count, n))
    np.put_along_axis(included, draws(n, b, count, seed=32).astype(np.int64), 1.0, axis=1)
    rate = b / n
    assert (np.abs(included.mean(axis=0) - rate) < 4 * math.sqrt(rate * (1 - rate) / count)).all()
    correlations = np.corrcoef(included, rowvar=False)[np.triu_indices(n, 1)]
    # 1225 pairs, hence a bound for their largest deviation rather than four standard errors for each.
    bound = stats.norm.isf(ALPHA / 2 / correlations.size) / math.sqrt(count)
    assert (np.abs(correlations + 1 / (n - 1)) < bound).all()


def test_successive_subsets_are_independent() -> None:
    n, b = 1000, 100
    subsets = draws(n, b, 4000, seed=33)
    overlaps = [np.intersect1d(x, y, assume_unique=True).size for x, y in itertools.pairwise(subsets)]
    law = stats.hypergeom(n, b, b)
    assert abs(np.mean(overlaps) - law.mean()) < 5 * law.std() / math.sqrt(len(overlaps))


def test_two_subsets_after_each_other_have_every_pair_of_values() -> None:
    n, b = 5, 2
    codes = (np.int64(1) << draws(n, b, 60_000, seed=38).astype(np.int64)).sum(axis=1)
    kinds, codes = np.unique(codes, return_inverse=True)
    assert len(kinds) == math.comb(n, b)
    pairs = np.bincount(codes[0::2] * len(kinds) + codes[1::2], minlength=len(kinds) ** 2)
    assert stats.chisquare(pairs).pvalue > ALPHA


@pytest.mark.parametrize(("n", "b"), [(10**6, 1000), (3_000_000, 1000), (2**31, 1000), (2**31 - 1, 7)])
def test_large_populations_are_covered_evenly(n: int, b: int) -> None:
    positions = draws(n, b, 60, seed=34).astype(np.float64).ravel()
    assert stats.kstest((positions + 0.5) / n, "uniform").pvalue > ALPHA
    lowest_bits = np.bincount(positions.astype(np.int64) % 64, minlength=64)
    expected = positions.size * np.bincount(np.arange(n - n % 64, n) % 64, minlength=64) / n
    expected += positions.size * (n // 64) / n
    assert stats.chisquare(lowest_bits, expected).pvalue > ALPHA


def test_the_same_stream_gives_the_same_subset_on_every_instruction_set() -> None:
    before = _core.isa()
    results = []
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        results.append(draws(10_000, 500, 20, seed=35))
    _core.use_isa(before)
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_a_used_sampler_is_as_good_as_a_new_one() -> None:
    for n, b in [(500, 20), (500, 480)]:
        used = subsampler(n, b)
        old = used.line(subsample_stream(36))
        for _ in range(50):
            old.draw_exactly(b)
        again, fresh = subsample_stream(37), subsample_stream(37)
        repeated, new = used.line(again), subsampler(n, b).line(fresh)
        for _ in range(3):
            np.testing.assert_array_equal(repeated.draw_exactly(b), new.draw_exactly(b))
        assert again.next64() == fresh.next64()


@pytest.mark.parametrize(
    ("n", "most", "b", "words"),
    [
        (0, 1, 0, "1 to 2"),
        (2**31 + 1, 5, 5, "1 to 2"),
        (5, 6, 5, "most must be"),
        (5, 0, 0, "most must be"),
        (9, 4, 5, "b must"),
    ],
)
def test_impossible_sizes_are_refused(n: int, most: int, b: int, words: str) -> None:
    gaps = subset_arguments(_core, 9, 5)["gaps"]
    with pytest.raises(ValueError, match=words):
        random.Subsampler(gaps, n, most).line(subsample_stream(1)).draw_exactly(b)
