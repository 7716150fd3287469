"""Audit of noised gradient sums on worst-case neighbours: the measured leak is nearly the claim, and never above it.

Linear regression at theta = 0 with x = 1: a record's gradient is y, so y = 0 adds nothing and y = +-FAR is clipped.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom, chisquare

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

FAR, CLIP = 1000.0, 0.5
TRIALS, CONFIDENCE, DELTA = 400_000, 1e-6, 1e-3


def query(y, z, *, adjacency, sampling, batch_size=None, public_n=None, method=dp.SGLD, weight=None):
    """Return the plan of one step with noise multiplier z, and the compiled run of it; lists in y are groups."""
    ids = np.repeat(np.arange(len(y)), [len(np.atleast_1d(g)) for g in y])
    groups = {"groups": ids} if any(isinstance(g, list) for g in y) else {}
    if weight is not None:
        groups |= {"sample_weight": np.full(len(ids), weight), "max_weight": 2.0}
    data = dp.Data(np.ones(len(ids)), np.concatenate([np.atleast_1d(g) for g in y]), public_n=public_n, **groups)
    n = data.public.size(adjacency)
    rate = 1.0 if batch_size is None else batch_size / n
    sampler = method(
        steps=1, step_size=2.0 * (rate / (z * CLIP)) ** 2, clip=CLIP, sampling=sampling, batch_size=batch_size
    )
    plan = dp.plan(dp.LinearRegression(sigma=1.0), data.public, sampler, adjacency=adjacency)
    common = {"init": start_points(plan, plan.chains, 1), "draws": np.empty((1, 1, 1)), "warmup": 0, "thin": 1}
    return plan, lambda seed: plan.settings.start(
        _core, core_target(plan, data), _core.Chains(**common, seed=seed), data
    )


def sums(start, seed):
    return start(seed).audit([0.0], 0, TRIALS)[:, 0]


def lower_bound(here, there):
    """The largest epsilon at DELTA that half-lines prove, at this confidence; half of the trials choose, half prove."""
    cuts = np.quantile(there[: TRIALS // 2], np.linspace(0.5, 0.999, 60))
    p, q = (1.0 - np.searchsorted(np.sort(w[: TRIALS // 2]), cuts, "right") / (TRIALS // 2) for w in (here, there))
    cut = cuts[np.argmax(np.log(np.maximum(p - DELTA, 1e-9) / q))]
    m = TRIALS - TRIALS // 2
    hits, misses = (here[-m:] > cut).sum(), (there[-m:] > cut).sum()
    least = beta.ppf(CONFIDENCE, hits, m - hits + 1)
    most = beta.ppf(1 - CONFIDENCE, misses + 1, m - misses)
    return math.log(max(least - DELTA, 1e-9) / most)


PAIRS = {
    "full, replace": ([FAR, 0, 0], [-FAR, 0, 0], {"adjacency": "replace", "sampling": "full"}),
    "full, add_remove": ([FAR, 0, 0], [0, 0], {"adjacency": "add_remove", "sampling": "full"}),
    "poisson, replace": ([FAR, 0], [-FAR, 0], {"adjacency": "replace", "sampling": "poisson", "batch_size": 1}),
    "poisson, add_remove": (
        [FAR, 0, 0],
        [0, 0],
        {"adjacency": "add_remove", "sampling": "poisson", "batch_size": 1, "public_n": 2},
    ),
    "groups, full, replace": (
        [[FAR, FAR, 0.2], [0]],
        [[-FAR], [0]],
        {"adjacency": "replace", "sampling": "full"},
    ),
    "groups, poisson, add_remove": (
        [[FAR, 0.2, FAR], [0, 0], [0]],
        [[0, 0], [0]],
        {"adjacency": "add_remove", "sampling": "poisson", "batch_size": 1, "public_n": 2},
    ),
    "groups, without replacement": (
        [[FAR] * 9, [-FAR, -FAR]],
        [[-FAR], [-FAR, -FAR]],
        {"adjacency": "replace", "sampling": "without_replacement", "batch_size": 1},
    ),
    "weights, full, replace": (  # without their weights these gradients would not reach the clip
        [CLIP / 2, 0, 0],
        [-CLIP / 2, 0, 0],
        {"adjacency": "replace", "sampling": "full", "weight": 9.0},
    ),
    "weights, poisson, add_remove": (
        [CLIP, 0, 0],
        [0, 0],
        {"adjacency": "add_remove", "sampling": "poisson", "batch_size": 1, "public_n": 2, "weight": 2.0},
    ),
    "without replacement": (
        [FAR, -FAR],
        [-FAR, -FAR],
        {"adjacency": "replace", "sampling": "without_replacement", "batch_size": 1},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_query_leaks_what_is_claimed_and_no_more(name):
    here, there, setting = PAIRS[name]
    plan, start = query(here, 1.5, **setting)
    _, other = query(there, 1.5, **setting)
    claimed = plan.guarantee.epsilon(DELTA)
    proven = lower_bound(sums(start, 11), sums(other, 12))
    print(f"{name}: claimed {claimed:.3f}, proven {proven:.3f}")
    assert proven <= claimed
    assert proven > 0.4 * claimed


def test_gradient_and_second_moment_together_leak_what_is_claimed_and_no_more():
    """Along the direction in which a record that comes or goes moves both."""
    here, there, setting = PAIRS["full, add_remove"]
    plan, start = query(here, 1.5, **setting, method=dp.SGFS)
    _, other = query(there, 1.5, **setting, method=dp.SGFS)
    direction = np.array([CLIP, plan.settings.moment_scale * CLIP**2])
    worlds = [run(seed).audit([0.0], 0, TRIALS) @ direction for run, seed in ((start, 11), (other, 12))]
    claimed, proven = plan.guarantee.epsilon(DELTA), lower_bound(*worlds)
    print(f"claimed {claimed:.3f}, proven {proven:.3f}")
    assert proven <= claimed
    assert proven > 0.4 * claimed
    faulty, blind = (query(y, 0.75, **setting, method=dp.SGFS)[1] for y in (here, there))
    assert (
        lower_bound(*(run(11 + k).audit([0.0], 0, TRIALS) @ direction for k, run in enumerate((faulty, blind))))
        > claimed
    )


def test_a_query_with_half_the_noise_is_caught():
    here, there, setting = PAIRS["full, replace"]
    claimed = query(here, 1.5, **setting)[0].guarantee.epsilon(DELTA)
    faulty, other = query(here, 0.75, **setting)[1], query(there, 0.75, **setting)[1]
    assert lower_bound(sums(faulty, 11), sums(other, 12)) > claimed


def test_sample_sizes_are_binomial_in_the_true_number_of_records():
    n, batch_size, public_n = 300, 10, 200
    plan, start = query(np.full(n, FAR), 1e-3, adjacency="add_remove", sampling="poisson", batch_size=10, public_n=200)
    counts = np.rint(sums(start, 13) / CLIP).astype(int)
    assert plan.settings.rate == batch_size / public_n
    law = binom(n, batch_size / public_n)
    edges = np.arange(5, 28)
    observed = np.diff([0, *(np.sum(counts <= k) for k in edges), TRIALS])
    expected = TRIALS * np.diff([0.0, *law.cdf(edges), 1.0])
    assert chisquare(observed, expected).pvalue > CONFIDENCE
