"""Propositions 7 and 8 of Wang et al. (2015): one draw is consistent if the posterior is, and half as efficient."""

import math

import numpy as np
import pytest

import pydpmc as dp

TRUTH = 0.6
INFORMATION = 1.0 / (2.0 + 2.0 * math.cosh(TRUTH))  # of one toss about its log-odds


def errors(n, tables, draws=5, seed=0, **weight):
    """Return the distances of draws from the truth, one row per table of n tosses."""
    rng = np.random.default_rng([n, seed])
    sampler = dp.PosteriorSample(draws=draws, warmup=500, inner_draws=2500, **weight)
    plan = dp.plan(dp.BernoulliLogit(prior=dp.Normal(scale=10.0)), dp.Data(np.zeros(n)).public, sampler)
    found = []
    for table in range(tables):
        tosses = (rng.random(n) < 1.0 / (1.0 + math.exp(-TRUTH))).astype(float)
        found.append(plan.run(dp.Data(tosses), progress=False, seed=table).draws["theta"].ravel() - TRUTH)
    return np.array(found)


def far(n, **weight):
    return float(np.mean(np.abs(errors(n, 6, **weight)) > 0.2))


def test_one_draw_tends_to_the_truth_if_the_posterior_does_and_not_otherwise():
    assert far(100, w=1.0) > 0.1
    assert far(3000, w=1.0) == 0.0  # 0.2 is five standard deviations of such a draw
    assert far(3000, n0=30.0) > 0.3  # weighted down to 30 tosses it does not concentrate


@pytest.mark.slow
def test_one_draw_has_twice_the_variance_of_the_best_estimator():
    """sqrt(n) (draw - truth) tends to N(0, 2 / I). A table's mean square over draws has a relative sd of 1 / sqrt 2."""
    n, tables = 1000, 300
    squares = np.mean(errors(n, tables, draws=10, seed=1, w=1.0) ** 2, axis=1)
    ratio = float(squares.mean()) * n * INFORMATION
    error = float(squares.std() / tables**0.5) * n * INFORMATION
    print(f"asymptotic relative efficiency of one draw: {ratio:.3f} +- {error:.3f}")
    assert abs(ratio - 2.0) < 4.0 * error
    assert error < 0.12
