"""An audit of private scores on neighbours: the best attack proves most of epsilon, and never more."""

import math

import numpy as np
import pytest
from scipy.stats import beta

pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")

from pydpmc.sklearn.scores import _noised_share

EPSILON, RUNS, CONFIDENCE = 1.0, 40_000, 1e-6


def shares(points, most, adjacency, epsilon, first_seed):
    points = np.array(points, dtype=np.int64)
    seeds = range(first_seed, first_seed + RUNS)
    return np.array([_noised_share(points, most, epsilon, adjacency, seed) for seed in seeds])


def proven(here, there):
    """Return the largest epsilon that thresholds prove with confidence, both orders."""
    best = 0.0
    for at in np.quantile(np.concatenate([here, there]), [0.3, 0.5, 0.7]):
        for a, b in ((here >= at, there >= at), (here < at, there < at)):
            for hits, misses in ((a.sum(), b.sum()), (b.sum(), a.sum())):
                low = beta.ppf(CONFIDENCE, hits, RUNS - hits + 1)
                high = beta.ppf(1 - CONFIDENCE, misses + 1, RUNS - misses)
                best = max(best, math.log(low / high)) if low > 0 else best
    return best


PAIRS = {
    "replace": ([1] * 20 + [0] * 20, [1] * 19 + [0] * 21, 1, "replace"),
    "replace, points": ([8] * 20, [8] * 19 + [0], 8, "replace"),
    "add": ([1] * 20 + [0] * 20, [1] * 19 + [0] * 20, 1, "add_remove"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_an_attack_proves_no_more_than_epsilon(case):
    here, there, most, adjacency = PAIRS[case]
    found = proven(shares(here, most, adjacency, EPSILON, 10**6), shares(there, most, adjacency, EPSILON, 10**7))
    assert found <= EPSILON
    if case == "replace":
        assert found > 0.9 * EPSILON


def test_noise_that_is_a_fifth_too_small_is_caught():
    here, there, most, adjacency = PAIRS["replace"]
    louder = 1.25 * EPSILON
    assert proven(shares(here, most, adjacency, louder, 10**6), shares(there, most, adjacency, louder, 10**7)) > EPSILON
