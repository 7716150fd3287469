"""PosteriorSample: what it charges, what it refuses, and that nothing but the draws leaves."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc import accounting as acc
from pydpmc.errors import BudgetError, NotConvergedError
from pydpmc.running.run import core_target
from pydpmc.samplers.posterior_sample.inner_chains import REFUSED, picked

FACTS = dp.Public(n=5000, columns=("a", "b"), has_target=True, row_norm=1.5)
COIN = dp.Public(n=500, columns=("x",), has_target=False)


def planned(model: Any = None, public: dp.Public = FACTS, adjacency: Any = "replace", **options: Any) -> dp.Plan:
    budget = {name: options.pop(name) for name in ("epsilon", "delta", "chains", "private") if name in options}
    model = model or dp.LogisticRegression(prior=dp.Normal(scale=2.0))
    return dp.plan(model, public, dp.PosteriorSample(**options), adjacency=adjacency, **budget)


def coins(n: int = 500) -> dp.Data:
    return dp.Data(np.repeat([1.0, 0.0], [n * 3 // 5, n - n * 3 // 5]))


@pytest.mark.parametrize(("adjacency", "records"), [("replace", 2.0), ("add_remove", 1.0)])
def test_a_lipschitz_model_is_charged_as_gdp(adjacency, records):
    ((event, uses),) = planned(w=0.1, draws=7, adjacency=adjacency).guarantee.events
    assert uses == 7
    assert event.mu == pytest.approx(records * 0.1 * 1.5 / math.sqrt(0.25), rel=1e-9)
    assert event.mu > records * 0.1 * 1.5 / math.sqrt(0.25)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_coin_is_moved_by_one_under_both_adjacencies(adjacency):
    ((event, _),) = planned(dp.BernoulliLogit(), COIN, adjacency, w=0.2).guarantee.events
    assert event.mu == pytest.approx(0.2, rel=1e-9)


def test_a_tempered_prior_is_less_convex():
    ((event, _),) = planned(w=0.09, temper_prior=True).guarantee.events
    assert event.mu == pytest.approx(2 * 0.09 * 1.5 / math.sqrt(0.25 * 0.09), rel=1e-9)


@pytest.mark.parametrize(("adjacency", "records"), [("replace", 2.0), ("add_remove", 1.0)])
@pytest.mark.parametrize(
    ("model", "width"),
    [(dp.LogisticRegression(), 3.0), (dp.LinearRegression(sigma=1.0), 3.0), (dp.LinearRegression(), 6.0)],
)
def test_a_clamped_model_is_charged_by_its_range(adjacency, records, model, width):
    ((event, uses),) = planned(model, adjacency=adjacency, w=0.05, bound=3.0, draws=4).guarantee.events
    assert uses == 4
    assert event == acc.BoundedRange(eta=event.eta)
    assert event.eta == pytest.approx(records * 0.05 * width, rel=1e-9)


def test_one_clamped_draw_of_range_b_is_the_papers_4wb():
    plan = planned(dp.LinearRegression(), w=0.05, bound=3.0)
    assert plan.guarantee.epsilon(0.0) == pytest.approx(4 * 0.05 * 3.0, rel=1e-9)


@pytest.mark.parametrize("options", [{}, {"draws": 10}, {"bound": 2.0}, {"temper_prior": True}, {"gamma": 1e-8}])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_planner_takes_the_largest_weight(adjacency, options):
    plan = planned(adjacency=adjacency, epsilon=1.0, delta=1e-6, **options)
    assert plan.guarantee.epsilon(1e-6) <= 1.0
    more = planned(adjacency=adjacency, w=min(1.0, plan.settings.w * 1.02), **options)
    assert more.guarantee.epsilon(1e-6) > 1.0


def test_a_large_budget_needs_no_tempering():
    assert planned(epsilon=100.0, delta=1e-6).settings.w == 1.0


def test_the_planners_weight_is_that_of_the_closed_form():
    w = planned(dp.LogisticRegression(), dataclasses.replace(FACTS, row_norm=1.0), epsilon=1.0, delta=1e-5).settings.w
    assert w == pytest.approx(acc.gibbs_weight(1.0, 1e-5, lipschitz=1.0, strong_convexity=1.0), rel=1e-4)


def test_gamma_is_charged_and_named():
    plan = planned(w=0.1, gamma=1e-7)
    assert plan.guarantee.total_variation == 1e-7
    exact = planned(w=0.1).guarantee
    epsilon = exact.epsilon(1e-5)
    assert plan.guarantee.delta(epsilon) == pytest.approx(
        exact.delta(epsilon) + (1 + math.exp(epsilon)) * 1e-7, rel=1e-6
    )
    assert "at most 1e-07 in total variation" in plan.guarantee.assumptions[0]
    with pytest.raises(BudgetError, match="gamma"):
        planned(epsilon=1.0, delta=1e-6, gamma=1e-6)


def test_the_condition_is_on_every_page():
    plan = planned(w=0.1)
    assert "if the assumptions hold" in str(plan)
    assert "independent exact draws" in str(plan)
    assert plan.guarantee.statement().startswith("If the assumptions below hold")
    assert "whose outcome depends on the records" in plan.guarantee.statement()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (dp.LogisticRegression(prior=dp.StudentT()), {"w": 0.1}, "needs a Normal prior on 'beta'"),
        (dp.LogisticRegression(prior=dp.Laplace()), {"w": 0.1}, "needs a Normal prior"),
        (dp.LogisticRegression(prior=dp.Flat()), {"w": 0.1}, "needs a proper one"),
        (dp.LogisticRegression(prior=dp.Flat()), {"w": 0.1, "bound": 1.0}, "needs a proper one"),
        (dp.LinearRegression(), {"w": 0.1}, "bound: LinearRegression has no Lipschitz constant"),
        (dp.PoissonRegression(), {"w": 0.1}, "bound: PoissonRegression has no Lipschitz constant"),
        (dp.LogisticRegression(), {}, "w must be set in the sampler when no epsilon is given"),
        (dp.LogisticRegression(), {"w": 0.1, "chains": 2}, "chains must be 1"),
    ],
)
def test_what_has_no_bound_is_refused_before_anything_is_spent(model, options, message):
    with pytest.raises(ValueError, match=message):
        planned(model, **options)


def test_undeclared_bounds_are_refused():
    with pytest.raises(ValueError, match="declare row_norm"):
        planned(public=dataclasses.replace(FACTS, row_norm=None), w=0.1)


def test_a_budget_that_pays_for_nothing_is_refused():
    with pytest.raises(BudgetError):
        planned(epsilon=1e-9, delta=1e-12, draws=1000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws must be a positive whole number"),
        ({"inner_chains": 3}, "inner_chains must be a whole number of at least 4"),
        ({"warmup": 2}, "warmup must be"),
        ({"inner_draws": 10}, "inner_draws must be"),
        ({"bound": 0.0}, "bound must be a positive finite number"),
        ({"gamma": 0.5}, "gamma must lie in"),
        ({"w": 0.0}, r"w must lie in \(0, 1\]"),
        ({"w": 0.5, "n0": 3}, "w and n0"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        dp.PosteriorSample(**options)


def test_only_the_draws_leave_and_they_lie_on_the_grid():
    plan = dp.plan(dp.BernoulliLogit(prior=dp.Normal(scale=3.0)), coins().public, dp.PosteriorSample(draws=6, w=0.2))
    post = plan.run(coins(), progress=False)
    assert post.private
    assert post.draws["theta"].shape == (1, 6, 1)
    assert len(np.unique(post.draws["theta"])) == 6
    (step,) = plan.settings.grid
    assert step == 2.0 ** (1 - 24)
    assert np.array_equal(post.draws["theta"] / step, np.rint(post.draws["theta"] / step))
    assert post.acceptance == ()
    assert post.sampler_stats is None
    for name in ("draws", "warmup"):
        with pytest.raises(ValueError, match="set draws in the sampler"):
            plan.run(coins(), **{name: 3})


def test_an_interrupted_run_releases_nothing(monkeypatch):
    plan = dp.plan(dp.BernoulliLogit(), coins().public, dp.PosteriorSample(w=0.2))
    from pydpmc.samplers.posterior_sample.inner_chains import HiddenNuts

    monkeypatch.setattr(HiddenNuts, "advance", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt, match="releases nothing"):
        plan.run(coins(), progress=False)


def test_a_failed_check_refuses_the_release_without_a_number():
    """Four chains of a hundred steps cannot have four hundred effective draws of a lopsided posterior."""
    plan = dp.plan(dp.BernoulliLogit(), coins().public, dp.PosteriorSample(w=0.2, warmup=20, inner_draws=100))
    with pytest.raises(NotConvergedError) as refused:
        plan.run(coins(), seed=3, progress=False)
    assert str(refused.value) == REFUSED
    assert not any(letter.isdigit() for letter in REFUSED)
    assert "The budget is spent" in " ".join(REFUSED.split())


def test_a_failed_check_writes_no_draw():
    plan = dp.plan(dp.BernoulliLogit(), coins().public, dp.PosteriorSample(w=0.2, warmup=20, inner_draws=100))
    draws = np.full((1, 1, 1), np.nan)
    chains = _core.Chains(init=np.zeros((1, 1)), draws=draws, warmup=0, thin=1, seed=3)
    run = plan.settings.start(_core, core_target(plan, coins()), chains, coins())
    with pytest.raises(NotConvergedError):
        run.advance(plan.settings.steps, 1, 512)
    assert np.isnan(draws).all()


def test_a_density_without_a_start_is_refused_in_the_same_words():
    data = dp.Data(np.full((30, 1), 1e300), np.ones(30))
    sampler = dp.PosteriorSample(w=1.0)
    with pytest.raises(NotConvergedError, match="no draw is released"):
        dp.sample(dp.PoissonRegression(), data, sampler, private=False, init=[1.0], progress=False)


def test_draws_are_taken_from_different_chains_or_far_apart():
    states = np.arange(4 * 100).reshape(4, 100, 1).astype(float)
    found = picked(states, 10, 33)[:, 0]
    assert found.tolist() == [99, 199, 299, 399, 66, 166, 266, 366, 33, 133]
    settings = planned(w=0.1, draws=1000).settings
    assert settings.inner_draws == 50 * 250
    assert settings.spacing == 50


def test_a_seed_repeats_and_voids():
    plan = dp.plan(dp.BernoulliLogit(), coins().public, dp.PosteriorSample(w=0.2))
    first, again, free = (plan.run(coins(), seed=s, progress=False, threads=t) for s, t in ((1, 1), (1, 2), (None, 1)))
    assert first.draws["theta"].tobytes() == again.draws["theta"].tobytes() != free.draws["theta"].tobytes()
    assert not first.private
    assert free.private


def test_without_privacy_the_posterior_itself_is_drawn():
    post = dp.sample(dp.BernoulliLogit(), coins(), dp.PosteriorSample(draws=4), private=False, progress=False)
    assert post.plan["w"] == 1.0
    assert not post.private


def test_a_gaussian_mean_is_drawn_in_closed_form_and_without_a_condition():
    model = dp.GaussianMean(prior=dp.Normal(scale=100.0))
    facts = dp.Public(1000, ("x0",), has_target=False, row_norm=1.0)
    plan = planned(model, facts, epsilon=0.1, delta=1e-3)
    assert plan.guarantee.assumptions == ()
    assert plan.settings == dp.plan(model, facts, dp.ConjugateSample(), epsilon=0.1, delta=1e-3).settings
    post = plan.run(dp.Data(np.linspace(-1, 1, 1000), row_norm=1.0), progress=False)
    assert post.draws["theta"].shape == (1, 1, 1)


def test_a_clamped_mean_is_drawn_by_the_inner_chains():
    facts = dp.Public(1000, ("a",), has_target=False, row_norm=1.0)
    assert planned(dp.GaussianMean(), facts, w=0.001, bound=2.0).guarantee.assumptions


def test_a_clamped_softmax_regression_is_never_above_zero():
    model = dp.SoftmaxRegression(classes=3)
    ((event, _),) = planned(model, adjacency="add_remove", w=0.05, bound=3.0).guarantee.events
    assert event.eta == pytest.approx(0.05 * 3.0, rel=1e-9)


def test_softmax_regression_is_drawn():
    rng = np.random.default_rng(3)
    data = dp.Data(rng.uniform(-0.5, 0.5, (300, 2)), rng.integers(0, 3, 300).astype(float), row_norm=1.0)
    sampler = dp.PosteriorSample()
    post = dp.sample(dp.SoftmaxRegression(classes=3), data, sampler, epsilon=1.0, delta=1e-6, progress=False)
    assert post.draws["beta"].shape == (1, 1, 6)
