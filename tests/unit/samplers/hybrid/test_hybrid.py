"""A start and a chain: one budget, none of it wasted, and the chain starts where the start ended."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import BudgetError, UnsupportedEventError
from pydpmc.samplers.hybrid.choose import expected_error
from pydpmc.samplers.request import Request

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


@pytest.fixture(scope="module")
def data():
    x = np.random.default_rng(5).normal(0.4, 0.2, size=(20_000, 2))
    return dp.Data(x, row_norm=1.0)


@pytest.fixture(scope="module")
def model():
    return dp.GaussianMean(prior=dp.Normal(scale=2.0))


def hybrid(share, **chain):
    return dp.Hybrid(start=dp.ConjugateSample(), chain=dp.SGLD(clip=2.0, **chain), share=share)


@pytest.mark.parametrize("chain", [dp.SGLD(clip=2.0), dp.SGHMC(clip=2.0), dp.SGNHT(clip=2.0), dp.Barker(clip=0.005)])
def test_any_chain_uses_what_the_start_leaves_over(data, model, chain):
    sampler = dp.Hybrid(start=dp.ConjugateSample(), chain=chain, share=0.3)
    plan = dp.plan(model, data.public, sampler, **BUDGET)
    assert 0.985 < plan.guarantee.epsilon(1e-6) <= 1.0
    start = plan.settings.first.uses("replace", 1)
    assert set(start) < set(plan.guarantee.events)
    assert plan.guarantee.total_variation == pytest.approx(
        plan.settings.first.total_variation(1) + plan.settings.chain.total_variation(1)
    )


def test_the_start_gets_its_share_of_mu_squared_and_the_chain_the_rest(model):
    public = dp.Public(n=100, columns=("a",), has_target=False, row_norm=1.0)
    budget = {"epsilon": 0.3, "delta": 1e-6}
    chain = dp.SGLD(clip=2.0, step_size=1e-6, sampling="full")
    alone = dp.plan(model, public, chain, **budget).settings.steps
    settings, most = (
        dp.plan(model, public, dp.Hybrid(dp.ConjugateSample(), chain, share), **budget).settings
        for share in (0.25, 0.5)
    )
    ((event, _),), ((whole, _),) = (s.first.uses("replace", 1) for s in (settings, most))
    assert (event.gaussian_mu("replace") / whole.gaussian_mu("replace")) ** 2 == pytest.approx(0.5, rel=0.01)
    assert settings.steps / alone == pytest.approx(0.75, rel=0.05)


def test_what_the_start_cannot_use_goes_to_the_chain(data, model):
    frugal = dp.Hybrid(start=dp.ConjugateSample(w=1e-4), chain=dp.SGLD(clip=2.0), share=0.9)
    alone = dp.plan(model, data.public, dp.SGLD(clip=2.0), **BUDGET).settings.steps
    assert dp.plan(model, data.public, frugal, **BUDGET).settings.steps > 0.9 * alone


def test_the_chain_starts_where_the_start_ended(data, model):
    """Ten short steps reach nothing from the prior's centre; from the start's draw they are there already."""
    short = {"steps": 10, "step_size": 1e-6}
    sampler = hybrid(None, **short)
    post = dp.plan(model, data.public, sampler).run(data, warmup=0, seed=9)
    first = dp.plan(model, data.public, dp.ConjugateSample()).run(data, seed=9 ^ (1 << 63))
    np.testing.assert_allclose(post.draws["theta"][0, 0], first.draws["theta"][0, 0], atol=0.01)
    cold = dp.plan(model, data.public, dp.SGLD(clip=2.0, **short)).run(data, warmup=0, seed=9)
    assert np.abs(cold.draws["theta"][0, -1]).max() < 0.25 < np.abs(post.draws["theta"][0, 0]).min()


def test_a_chain_as_start_gives_the_mean_of_its_draws(data, model):
    sampler = dp.Hybrid(start=dp.SGLD(clip=2.0), chain=dp.SGNHT(clip=2.0), share=0.5)
    post = dp.sample(model, data, sampler, **BUDGET, chains=2, progress=False)
    assert post.guarantee.epsilon(1e-6) <= 1.0
    assert post.draws["theta"].shape[0] == 2
    np.testing.assert_allclose(post.draws["theta"].mean(axis=(0, 1)), 0.4, atol=0.1)


def test_the_planner_picks_the_share_with_the_least_expected_error(data, model):
    plan = dp.plan(model, data.public, hybrid(None), **BUDGET)
    request = Request(model, data.public, hybrid(None), "replace", 1, True, 1.0, 1e-6)
    others = [dp.plan(model, data.public, hybrid(s), **BUDGET).settings for s in (0.1, 0.5, 0.9)]
    best = expected_error(request, plan.settings)
    assert all(best <= expected_error(request, other) for other in others)
    assert plan.settings.share is not None


def test_without_a_forecast_the_share_is_the_papers(model):
    public = dp.Public(n=0, columns=("a",), has_target=False, row_norm=1.0)
    sampler = dp.Hybrid(start=dp.Barker(scale=0.05, clip=0.1), chain=dp.SGLD(clip=2.0, step_size=1e-5))
    plan = dp.plan(model, public, sampler, adjacency="add_remove", **BUDGET)
    assert plan.settings.share == 0.5


def test_the_same_event_in_both_parts_is_counted_twice(data, model):
    step = dp.SGLD(clip=2.0, steps=5, step_size=1e-6)
    plan = dp.plan(model, data.public, dp.Hybrid(start=step, chain=step))
    ((_, uses),) = plan.guarantee.events
    assert uses == 10


def test_what_leaves_is_public_or_charged(data, model):
    post = dp.sample(model, data, hybrid(0.5), **BUDGET, progress=False, seed=4)
    assert post.plan["sampler"] == "Hybrid"
    assert post.plan["chain"] == "SGLD"
    assert set(post.plan["start"]) == {"sampler", "draws", "steps", "w", "noise"}
    assert "ConjugateSample" in str(dp.plan(model, data.public, hybrid(0.5), **BUDGET))
    assert post.interval(0.9)["theta[x0]"][0] < 0.45


def test_private_false_runs_both_without_a_budget(data, model):
    post = dp.sample(model, data, hybrid(None, steps=50), private=False, progress=False)
    assert not post.private


def test_what_is_refused(data, model):
    with pytest.raises(TypeError, match="start must be"):
        dp.Hybrid(start="ops", chain=dp.SGLD())
    with pytest.raises(ValueError, match="share must lie"):
        hybrid(1.0)
    unaffordable = dp.Hybrid(start=dp.ConjugateSample(w=1.0), chain=dp.SGLD(clip=2.0))
    with pytest.raises(BudgetError, match="at any share"):
        dp.plan(model, data.public, unaffordable, epsilon=1e-3, delta=1e-6)


def test_what_was_released_before_is_paid_for_by_the_chain(data, model):
    first = dp.sample(model, data, dp.ConjugateSample(w=0.9), progress=False)
    plan = dp.plan(model, data.public, hybrid(0.3), **BUDGET, init=first)
    alone = dp.plan(model, data.public, hybrid(0.3), **BUDGET)
    assert set(first.guarantee.events) <= set(plan.guarantee.events)
    assert plan.settings.steps < alone.settings.steps
    assert plan.guarantee.epsilon(1e-6) <= 1.0


def test_groups_are_protected_if_both_samplers_can(rng):
    x = rng.normal(0.4, 0.2, size=(6000, 1))
    grouped = dp.Data(x, row_norm=1.0, groups=np.arange(6000) // 2, max_group_size=2)
    chain = dp.SGLD(clip=4.0, steps=20, step_size=1e-7)
    post = dp.sample(dp.GaussianMean(), grouped, dp.Hybrid(chain, dp.SGHMC(clip=4.0, steps=20, step_size=1e-7)))
    assert post.guarantee.unit == "one group"
    with pytest.raises(UnsupportedEventError, match="groups"):
        dp.plan(dp.GaussianMean(), grouped.public, dp.Hybrid(dp.ConjugateSample(), chain))
