"""DPVI: q against closed forms, the variance of the fit against repeated runs, its price, and its refusals."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument

N, SIGMA = 4000, 1.0
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 2)) * 0.4
    return x, x @ [0.8, -0.5] + rng.normal(size=N) * SIGMA


def exact(x, y):
    precision = x.T @ x / SIGMA**2 + np.eye(2)
    return np.linalg.solve(precision, x.T @ y / SIGMA**2), 1.0 / np.sqrt(np.diag(precision))


def test_q_without_privacy_is_the_posterior_of_a_linear_model(table):
    x, y = table
    data = dp.Data(x, y, row_norm=3.0, y_bounds=(-6.0, 6.0))
    model = dp.LinearRegression(sigma=SIGMA, intercept=False)
    post = dp.sample(model, data, dp.DPVI(clip=8.0), private=False, seed=1, progress=False)
    mean, sd = exact(x, y)
    draws = post.draws["beta"].reshape(-1, 2)
    assert np.abs(draws.mean(axis=0) - mean).max() < 0.5 * sd.max()
    assert draws.std(axis=0) / sd == pytest.approx(np.ones(2), abs=0.35)


def test_draws_are_as_wide_as_repeated_fits_scatter(table):
    x, _ = table
    rng = np.random.default_rng(2)
    y = (rng.random(N) < 1 / (1 + np.exp(-x @ [0.8, -0.5]))).astype(float)
    data = dp.Data(x, y, row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(intercept=False), data.public, dp.DPVI(draws=400), **BUDGET)
    fits = [plan.run(data, seed=s, progress=False).draws["beta"].reshape(-1, 2) for s in range(30)]
    scatter = np.var([fit.mean(axis=0) for fit in fits], axis=0).mean()
    widened = np.mean([fit.var(axis=0) for fit in fits])
    assert widened > scatter  # q and the noise of its mean
    assert widened < 4.0 * (scatter + 1.0 / (N * 0.25 * 0.16))


def test_the_whole_budget_is_spent_on_the_steps_that_run():
    public = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), public, dp.DPVI(steps=300), **BUDGET)
    (event, count), *others = plan.settings.uses("replace", 1)
    assert (count, others) == (300, [])
    assert event.noise_multiplier <= plan.settings.noise[0] / plan.settings.clip
    assert event.rate == 5000 / 50_000
    assert 0.99 < plan.guarantee.epsilon(1e-6) <= 1.0
    assert plan.guarantee.assumptions == ()


def test_draws_are_free_and_belong_to_the_sampler(table):
    x, y = table
    data = dp.Data(x, y > 0, row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.DPVI(draws=70), chains=2, **BUDGET)
    assert plan.run(data, progress=False).draws["beta"].shape == (2, 35, 2)
    with pytest.raises(InvalidArgument, match="set draws in the sampler"):
        plan.run(data, draws=5, progress=False)


def test_it_starts_a_chain(table):
    x, y = table
    data = dp.Data(x, y > 0, row_norm=1.0)
    sampler = dp.Hybrid(start=dp.DPVI(steps=50), chain=dp.SGLD(w=0.01), share=0.5)
    post = dp.sample(dp.LogisticRegression(), data, sampler, progress=False, anyway=True, **BUDGET)
    assert post.guarantee.epsilon(1e-6) <= 1.0


def test_the_planner_does_not_choose_it_for_intervals():
    public = dp.Public(n=10_000, columns=("x",), has_target=False, x_bounds=((-5.0, 5.0),))
    found = dp.compare(dp.GaussianMixture(), public, **BUDGET)
    assert "may be too narrow" in next(c.refusal for c in found.candidates if c.name == "DPVI")


@pytest.mark.parametrize("wrong", [{"noise_multiplier": 0.0}, {"draws": 0}, {"steps": -1}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        dp.DPVI(**wrong)


def test_a_price_needs_noise():
    public = dp.Public(n=1000, columns=("a",), has_target=True, row_norm=1.0)
    with pytest.raises(InvalidArgument, match="noise_multiplier must be set"):
        dp.plan(dp.LogisticRegression(), public, dp.DPVI(steps=10))
