"""DPVI: q against closed forms, the variance of the fit against repeated runs, its price, and its refusals."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument
from pydpmc.samplers.gradient.adam import averaged_steps

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


def test_the_planner_does_not_choose_it_for_intervals_that_noise_does_not_rule():
    public = dp.Public(n=200_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    found = dp.compare(dp.HingeClassifier(), public, epsilon=3.0, delta=1e-6)
    assert "may be too narrow" in next(c.refusal for c in found.candidates if c.name == "DPVI")


def adam(step_sizes, curvature, start, noise, rng):
    """Return the running mean of m - optimum by the steps of csrc/samplers/dpvi.hpp, coordinates being directions."""
    m, mean, square, average = start.copy(), 0.0, 0.0, np.zeros_like(start)
    for t, h in enumerate(step_sizes, 1):
        g = curvature * m + np.sqrt(noise) * rng.normal(size=m.shape)
        mean, square = mean + 0.1 * (g - mean), square + 0.01 * (g**2 - square)
        pooled = (square / (1 - 0.99**t)).mean(axis=-1, keepdims=True)  # coordinates mix all directions
        m = m - h * mean / (1 - 0.9**t) / np.sqrt(pooled)
        average = average + 4.0 / (t + 3.0) * (m - average)
    return average


def test_the_forecast_of_adam_is_what_its_steps_do():
    rng = np.random.default_rng(3)
    curvature, noise = np.array([300.0, 30.0, 10.0, 3.0, 1.0]), np.full(5, 60.0**2)
    steps = np.linspace(0.1, 0.005, 600)
    start = np.broadcast_to(np.array([1.0, -1.0, 1.0, 1.0, -1.0]), (400, 5))
    ends = adam(steps, curvature, start.copy(), noise, rng)
    told = averaged_steps(steps, curvature, np.ones(5), noise)
    assert ends.mean(axis=0) / start[0] == pytest.approx(told.left, abs=0.06)
    assert ends.std(axis=0) / np.sqrt(told.variance) == pytest.approx(np.ones(5), abs=0.2)
