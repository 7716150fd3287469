"""A posterior as the start of another run: its guarantee comes along."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import BudgetError


@pytest.fixture(scope="module")
def data():
    return dp.Data(np.repeat([1.0, 0.0], [6000, 4000]))


@pytest.fixture(scope="module")
def first(data):
    return dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=200), epsilon=0.5, delta=1e-6, progress=False)


def test_the_start_is_the_mean_and_its_cost_is_composed(data, first):
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(), epsilon=1.0, delta=1e-6, init=first)
    assert plan.init == ((pytest.approx(first.draws["theta"].mean()),),)
    assert set(first.guarantee.events) < set(plan.guarantee.events)
    assert first.guarantee.epsilon(1e-6) < plan.guarantee.epsilon(1e-6) <= 1.0


def test_the_same_run_again_is_charged_twice(data, first):
    """Equal events of the start and of the run are merged into one entry with both counts."""
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=10, scale=0.01))
    once = plan.run(data, progress=False)
    again = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=10, scale=0.01), init=once)
    assert again.guarantee.events == tuple((event, 2 * uses) for event, uses in once.guarantee.events)


def test_the_rest_of_the_budget_buys_fewer_steps(data, first):
    alone = dp.plan(dp.BernoulliLogit(), data.public, dp.SGLD(), epsilon=1.0, delta=1e-6)
    warm = dp.plan(dp.BernoulliLogit(), data.public, dp.SGLD(), epsilon=1.0, delta=1e-6, init=first)
    assert warm.settings.steps < alone.settings.steps
    assert warm.guarantee.epsilon(1e-6) <= 1.0


def test_a_start_that_used_up_the_budget_is_refused(data, first):
    with pytest.raises(BudgetError):
        dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(), epsilon=0.4, delta=1e-6, init=first)


def test_a_void_start_voids_the_run(data):
    seeded = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=200), epsilon=0.5, delta=1e-6, progress=False, seed=1)
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=10, scale=0.01), init=seeded)
    assert plan.guarantee.void is not None


def test_a_posterior_of_other_parameters_is_refused(data, first):
    other = dp.Public(n=10, columns=("a", "b"), has_target=False)
    with pytest.raises(ValueError, match="no parameter 'theta' of size 2"):
        dp.plan(dp.GaussianMean(), other, dp.Barker(steps=10, scale=0.1, clip=1.0), init=first)
