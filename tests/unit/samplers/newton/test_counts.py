"""Clipped scores of counts: mean zero at the truth, whatever is clipped, and no bias from counts above the bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

import pydpmc as dp
from pydpmc.samplers.newton.clips import Clip, Predictors, Trade
from pydpmc.samplers.newton.counts import PER_UNIT, Counts, clipped_score, count_table

LAWS = [(0.0, 2.0, 9.0), (0.0, 0.7, 30.0), (0.0, 30.0, 30.0), (0.6, 1.3, 12.0), (3.0, 0.8, 60.0)]


def shares_of(dispersion, mean, count=4000):
    k = np.arange(count)
    if dispersion == 0.0:
        return k, poisson.pmf(k, mean)
    return k, nbinom.pmf(k, 1 / dispersion, 1 / (1 + dispersion * mean))


@pytest.mark.parametrize(("dispersion", "clip", "top"), LAWS)
def test_the_score_has_mean_zero_and_the_stated_slope_and_variance(dispersion, clip, top):
    """Sums over the counts' own probabilities, at means far below and above the largest count."""
    means = np.array([1e-4, 0.3, 1.0, 4.0, 0.9 * top, 1.5 * top])
    score = clipped_score(Counts(dispersion), np.log(means), clip, top)
    for j, mean in enumerate(means):
        k, share = shares_of(dispersion, mean)
        r = np.clip(score.weight[j] * np.minimum(k, top) - score.centre[j], -clip, clip)
        assert share @ r == pytest.approx(0.0, abs=1e-8 * clip)
        assert score.variance[j] == pytest.approx(share @ r**2, rel=1e-5, abs=1e-8)
        assert score.slope[j] == pytest.approx(share @ (r * score.weight[j] * (k - mean)), rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(("dispersion", "clip", "top"), LAWS)
def test_expected_scores_between_predictors_are_those_of_the_table(dispersion, clip, top, rng):
    table = count_table(dispersion, clip, top)
    assert table.per_unit == PER_UNIT
    eta = table.first + np.arange(len(table.rows)) / table.per_unit
    for _ in range(40):
        a, t = rng.uniform(-3.0, math.log(top) - 0.7, size=2)
        weight, centre, slope = (np.interp(a, eta, column) for column in table.rows.T)
        k, share = shares_of(dispersion, math.exp(t))
        expected = share @ np.clip(weight * np.minimum(k, top) - centre, -clip, clip)
        assert table.link.score(np.array([a]), np.array([t]))[0] == pytest.approx(expected, abs=0.004 * clip)
        assert table.link.curvature(np.array([a]))[0] == pytest.approx(slope)
    assert table.largest_curvature == table.rows[:, 2].max()


def test_a_clip_follows_the_counts_and_the_noise():
    law, about_one, about_fifty = Counts(), Predictors(0.0, 0.3), Predictors(4.0, 0.3)
    quiet, loud = (Trade(law, about_one, 5000.0, 4.0).best(100.0, mu) for mu in (5.0, 0.1))
    assert loud.residual < quiet.residual
    assert quiet.top == loud.top < 20
    assert Trade(law, about_fifty, 5000.0, 4.0).best(1000.0, 0.2).residual > 2 * loud.residual
    assert Trade(law, about_fifty, 5000.0, 4.0).best(20.0, 0.2).top == 20.0
    trade = Trade(law, about_one, 5000.0, 4.0)
    assert trade.variance(loud, 0.1) <= trade.variance(Clip(100.0, 100.0), 0.1)


@pytest.mark.parametrize("most", [4.0, 1000.0])
def test_counts_above_a_bound_or_far_below_it_do_not_bias(most, rng):
    """Means of 1 to 20 with a declared bound of 4: half of the counts are above it."""
    n, truth = 40_000, np.array([1.5, 0.8, -0.5])
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    y = rng.poisson(np.exp(truth[0] + x @ truth[1:])).astype(float)
    model = dp.PoissonRegression(prior=dp.Normal(scale=5.0), intercept=True)
    data = dp.Data(x, y, row_norm=1.0, y_bounds=(0.0, most), public_n=n)
    post = dp.sample(model, data, dp.Newton(), epsilon=2.0, delta=1e-6, progress=False)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 4.5
    assert draws.std(axis=0).max() < 0.2
    clips = [look.clip for look in post.looks]
    assert clips[0][1] == min(most, clips[0][1])
    assert clips[-1][0] <= clips[0][0]
    assert (clips[-1][0] < 20.0) == (clips[-1] != clips[0] or most == 4.0)  # a wide clip goes once the mean is known


def test_a_declared_mean_count_saves_the_look_that_finds_it(rng):
    public = {"n": 20_000, "columns": ("a",), "has_target": True, "row_norm": 1.0, "y_bounds": (0.0, 500.0)}
    known = dp.Public(**public, base_rate=2.0)
    model = dp.PoissonRegression(intercept=True)
    plan = dp.plan(model, known, dp.Newton(), epsilon=1.0, delta=1e-6)
    x = rng.uniform(-1, 1, size=(20_000, 1))
    data = dp.Data(x, rng.poisson(2.0 * np.exp(0.5 * x[:, 0])).astype(float), row_norm=1.0, y_bounds=(0.0, 500.0),
                   columns=("a",), base_rate=2.0)  # fmt: skip
    post = plan.run(data, progress=False)
    assert len({look.clip for look in post.looks}) == 1
    assert post.looks[0].clip == (plan.settings.clip.residual, plan.settings.clip.top)
    assert abs(post.draws["beta"].mean() - 0.5) < 5 * post.draws["beta"].std()


def spread_of(counts, x):
    data = dp.Data(x, counts.astype(float), row_norm=1.0, y_bounds=(0.0, 50.0), public_n=len(x))
    model = dp.PoissonRegression(prior=dp.Normal(scale=5.0), intercept=True)
    return data, model, dp.sample(model, data, dp.Newton(), epsilon=2.0, delta=1e-6, progress=False, seed=4)


def test_the_spread_of_counts_is_compared_with_the_model(rng):
    n = 30_000
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    mean = np.exp(0.5 + x @ [0.8, -0.5])
    fits = spread_of(rng.poisson(mean), x)[2].agreement
    assert abs(fits.spread - 1) < 4 * fits.spread_error < 0.4
    assert fits.doubt == ""
    with pytest.warns(dp.errors.ConvergenceWarning, match="outcomes spread"):
        wide = spread_of(rng.negative_binomial(1.0, 1 / (1 + mean)), x)[2]
    assert 1.3 < wide.agreement.spread < 3.0
    assert "NegativeBinomial" in wide.agreement.doubt
    assert wide.verdict.kind == "read with caution"
    again = type(wide.agreement).from_dict(vars(wide.agreement))
    assert again == wide.agreement


def test_a_result_can_be_rehearsed_at_its_estimate(rng):
    x = rng.uniform(-1, 1, size=(5000, 2)) / math.sqrt(2)
    data, model, post = spread_of(rng.poisson(np.exp(0.5 + x @ [0.8, -0.5])), x)
    plan = dp.plan(model, data.public, dp.Newton(draws=500), epsilon=2.0, delta=1e-6)
    seen = plan.rehearse(runs=2, truth=post, progress=False)
    assert seen.truths[0] == pytest.approx([post.draws["intercept"].mean(), *post.draws["beta"].mean(axis=(0, 1))])
    mean, covariance = post.agreement.moments
    assert mean[0] == 1.0
    assert np.diag(covariance)[1:] == pytest.approx([1 / 6, 1 / 6], rel=0.5)
    with pytest.raises(dp.errors.InvalidArgument, match="other parameters"):
        dp.plan(dp.PoissonRegression(), data.public, dp.Newton(), epsilon=2.0, delta=1e-6).rehearse(runs=1, truth=post)


@pytest.mark.parametrize("slope", [0.9, 1.6])
def test_steep_slopes_of_counts_are_found_and_the_model_is_not_doubted(slope, rng):
    n, truth = 20_000, slope * np.array([0.0, -0.8, 0.6, -0.4])
    x = rng.uniform(-1, 1, size=(n, 3))
    y = rng.poisson(np.exp(truth[0] + x @ truth[1:])).astype(float)
    data = dp.Data(x, y, row_norm=math.sqrt(3.0), y_bounds=(0.0, 20.0), public_n=n)
    model = dp.PoissonRegression(prior=dp.Normal(scale=2.5), intercept=True)
    for seed in range(4):
        post = dp.sample(model, data, dp.Newton(), epsilon=3.0, delta=1e-6, progress=False, seed=seed)
        assert post.agreement.doubt == ""
        assert abs(post.agreement.spread - 1.0) < 0.2
        far = max(math.dist(look.theta, truth) for look in post.looks[2:])
        assert far < 1.0  # no look after the first two was at a point where the fit went astray
        draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
        assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 4.5
