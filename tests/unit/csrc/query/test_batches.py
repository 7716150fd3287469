"""Which records the steps of the compiled query look at."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target
from pydpmc.samplers.base import POISSON_ERROR, SUBSET_ERROR


def batches(n, rate_of, count, seed, sampling="poisson"):
    """Which records are in each batch: record i adds 1 to coordinate i, with next to no noise."""
    batch, public_n = rate_of
    data = dp.Data(np.eye(n), public_n=public_n)
    rate = batch / public_n
    sampler = dp.SGLD(steps=1, step_size=2.0 * (rate / 1e-3) ** 2, batch_size=batch, sampling=sampling, clip=1.0)
    plan = dp.plan(
        dp.GaussianMean(sigma=1.0), data.public, sampler, adjacency="replace" if sampling != "poisson" else "add_remove"
    )
    common = {
        "init": start_points(plan, plan.chains, None),
        "draws": np.empty((1, 0, n)),
        "warmup": 0,
        "thin": 1,
        "seed": seed,
    }
    sums = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data).audit([0.0] * n, 0, count)
    included = np.rint(sums)
    assert np.abs(sums - included).max() < 0.01  # noise sd 0.001
    assert set(np.unique(included)) == {0.0, 1.0}
    return included


def test_poisson_batches_of_the_compiled_query_are_independent_coins():
    n, rate, count = 50, 0.1, 100_000
    included = batches(n, (10, 100), count, 41)
    assert (np.abs(included.mean(axis=0) - rate) < 4.5 * math.sqrt(rate * (1 - rate) / count)).all()
    correlations = np.corrcoef(included, rowvar=False)[np.triu_indices(n, 1)]
    assert np.abs(correlations).max() < stats.norm.isf(1e-6 / 2 / correlations.size) / math.sqrt(count)
    sizes = np.bincount(included.sum(axis=1).astype(int), minlength=n + 1)
    expected = count * stats.binom.pmf(np.arange(n + 1), n, rate)
    common = expected > 10
    observed = np.append(sizes[common], sizes[~common].sum())
    assert stats.chisquare(observed, np.append(expected[common], expected[~common].sum())).pvalue > 1e-4


def test_batches_without_replacement_have_their_size():
    included = batches(20, (7, 20), 2000, 42, "without_replacement")
    assert (included.sum(axis=1) == 7).all()
    assert np.abs(included.mean(axis=0) - 0.35).max() < 4.5 * math.sqrt(0.35 * 0.65 / 2000)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_any_number_of_records_can_be_sampled(n):
    included = batches(n, (30, 100), 3000, 43)
    assert np.abs(included.mean() - 0.3) < 4.5 * math.sqrt(0.21 / 3000 / n)


@pytest.mark.parametrize(
    ("sampler", "charged"),
    [
        (dp.SGLD(steps=50, step_size=1e-6, sampling="full"), 2 * 2.0**-63),
        (dp.SGLD(steps=50, step_size=1e-6, batch_size=500, sampling="poisson"), 2 * 2.0**-63 + POISSON_ERROR),
        (
            dp.SGLD(steps=50, step_size=1e-6, batch_size=500, sampling="without_replacement"),
            2 * 2.0**-63 + SUBSET_ERROR,
        ),
        (dp.Barker(steps=50, scale=1e-4, batch_size=500), SUBSET_ERROR),
        (dp.Barker(steps=50, scale=1e-4), 0.0),
    ],
    ids=["SGLD full", "SGLD poisson", "SGLD without replacement", "Barker batches", "Barker full"],
)
def test_what_the_precision_of_batches_costs_is_in_the_guarantee(sampler, charged):
    public = dp.Public(n=10_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), public, sampler, chains=3)
    assert plan.guarantee.total_variation == 3 * 50 * charged
    assert (plan.guarantee.epsilon(0.0) == math.inf) == (charged > 0.0)
