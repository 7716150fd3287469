"""The verdict on usefulness: a function of draws and public facts that says when not to use a result."""

import dataclasses
import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.accounting import Guarantee
from pydpmc.posterior.prior_share import wider_than_without_privacy
from pydpmc.posterior.verdict import percent


def made(draws, *, precision=1.0, w=1.0, independent=True, private=True, **plan):
    """Return a posterior of these draws of theta, shape (chain, draw, size), under a Normal prior at zero."""
    size = draws.shape[2]
    plan |= {
        "prior_mean": [0.0] * size,
        "prior_precision": [precision] * size,
        "w": w,
        "independent_draws": independent,
    }
    guarantee = Guarantee(events=(), adjacency="replace", void=None if private else "private=False")
    return dp.Posterior({"theta": draws}, {"theta": ()}, guarantee, plan, ())


@pytest.mark.parametrize("spread", [0.05, 0.5, 0.9])
def test_the_records_share_is_one_less_the_variance_in_units_of_the_priors(rng, spread):
    post = made(rng.normal(1.0, math.sqrt(spread), (1, 20_000, 3)))
    assert post.verdict.records == pytest.approx(1.0 - spread, abs=4 * math.sqrt(2 / 60_000) * spread)
    assert post.verdict.kind == ("useful" if spread == 0.05 else "pulled to the prior")


def test_the_share_without_privacy_is_that_of_the_untempered_likelihood(rng):
    """Precision 1 of the prior and 1 of the likelihood tempered by 1/9: without it the records have 9 of 10 parts."""
    post = made(rng.normal(0.0, math.sqrt(0.5), (1, 50_000, 1)), w=1 / 9)
    assert post.verdict.reason.startswith("the records had 50 % of the weight (90 % without privacy)")
    assert post.verdict.weights() == "tempered, w = 0.111; the prior has 50 % of the weight"


def test_a_tempered_flat_posterior_is_as_wide_as_its_draws_allow(rng):
    """With k draws the estimate's variance is that of the full likelihood plus 1/(w k) of it; Student's t is beyond."""
    k, w = 20, 0.01
    post = made(rng.normal(size=(1, k, 2)), precision=0.0, w=w)
    t_over_z = 1.7291328115 / 1.6448536270
    assert wider_than_without_privacy(post) == pytest.approx(t_over_z * math.sqrt(1.0 + 1.0 / (w * k)), rel=1e-6)


def test_a_chain_that_stands_still_or_does_not_mix_must_not_be_used(rng):
    assert str(made(np.ones((1, 500, 2)), independent=False).verdict) == "do not use: the chain did not move"
    walk = np.cumsum(rng.normal(size=(2, 500, 1)), axis=1)
    found = made(walk, precision=0.0, independent=False).verdict
    assert found.kind == "do not use"
    assert found.reason.startswith("a chain did not mix: R-hat is ")
    short = made(np.arange(6.0).reshape(2, 3, 1), independent=False).verdict
    assert short.reason == "there are too few draws to tell whether the chain moved"


def test_one_chain_of_several_that_stands_still_is_noticed(rng):
    draws = rng.normal(size=(2, 500, 1))
    draws[1] = 0.3
    assert made(draws, precision=0.0, independent=False).verdict.reason == "a chain did not move"


def test_a_run_without_draws_must_not_be_used():
    assert made(np.ones((1, 0, 2))).verdict.reason == "the run was stopped before it made a draw"


def test_few_effective_draws_call_for_caution(rng):
    noise = rng.normal(size=(4, 2000, 1))
    for i in range(1, 2000):
        noise[:, i] += 0.985 * noise[:, i - 1]
    found = made(noise, precision=0.0, independent=False).verdict
    assert found.kind in ("read with caution", "do not use")
    assert "are worth" in found.reason


def test_one_independent_draw_says_that_no_spread_follows(rng):
    assert "no spread" in made(rng.normal(size=(1, 1, 4))).verdict.reason


def test_a_softmax_quotes_the_forecast_of_its_plan(rng):
    x, y = rng.uniform(-0.5, 0.5, (20_000, 2)), rng.integers(0, 3, 20_000)
    data = dp.Data(x, y, row_norm=1.0)
    plan = dp.plan(dp.SoftmaxRegression(classes=3), data.public, dp.Newton(), epsilon=0.5, delta=1e-6)
    post = plan.run(data, progress=False)
    assert post.verdict.reason.endswith(
        f"forecast to be about {plan.outlook.width:.2g} times as wide as without privacy"
    )


def test_softmax_directions_that_no_record_determines_do_not_count(rng):
    """The classes' common shift has the prior's variance 1, their differences none: the records decide everything."""
    shift = rng.normal(size=(1, 5000, 1, 2))
    draws = np.broadcast_to(shift / math.sqrt(3), (1, 5000, 3, 2)).reshape(1, 5000, 6)
    post = made(np.array(draws), model_spec={"classes": 3})
    assert post.verdict.records == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("broken", [{"w": "much"}, {"w": -1.0}, {"prior_precision": "x"}, {"prior_precision": [1.0]}])
def test_a_plan_from_a_strange_file_does_not_break_the_verdict(rng, broken):
    post = made(rng.normal(size=(1, 50, 2)))
    assert str(dataclasses.replace(post, plan=dict(post.plan) | broken).verdict)


def test_everything_that_shows_a_result_shows_the_verdict(rng):
    post = made(rng.normal(0.0, 1.5, size=(1, 400, 2)), w=0.1, model="M()", sampler="S")
    line = str(post.verdict)
    assert line.startswith("pulled to the prior: the records had under 1 % of the weight")
    for text in (str(post.summary()), str(post), post._repr_html_()):
        assert line in text
    assert f"P{line[1:]}." in post.table()
    assert "(tempered, w = 0.1; the prior has over 99 % of the weight)" in post.table()


def test_shares_are_rounded_to_whole_percents():
    assert [percent(s) for s in (0.0, 0.014, 0.5, 0.995)] == ["under 1 %", "1 %", "50 %", "over 99 %"]


def test_draws_that_ignore_correlations_are_to_be_read_with_caution(rng):
    draws = rng.normal(1.0, 0.1, (1, 4000, 2))
    assert made(draws, outlook={"approximate": False}).verdict.kind == "useful"
    found = made(draws, outlook={"approximate": True}).verdict
    assert found.kind == "read with caution"
    assert "too narrow where columns are correlated" in found.reason


def test_dpvi_says_so_and_newton_does_not(rng):
    x = rng.uniform(-0.5, 0.5, (4000, 2))
    data = dp.Data(x, (rng.random(4000) < 0.5).astype(float), row_norm=1.0, public_n=4000)
    for sampler, approximate in ((dp.DPVI(steps=30), True), (dp.Newton(), False)):
        plan = dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=5.0, delta=1e-5)
        post = plan.run(data, progress=False, anyway=True, seed=3)
        assert plan.outlook.approximate == approximate
        assert ("too narrow" in post.verdict.reason) == approximate
