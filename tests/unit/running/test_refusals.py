"""A budget is not spent on a plan that public facts say is hopeless, and draws that failed say so once."""

import dataclasses
import re
import warnings

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import ConvergenceWarning, HopelessPlan, PoorPlanWarning

pytestmark = pytest.mark.refuses
BUDGET = {"epsilon": 0.5, "delta": 1e-6}


@pytest.fixture
def data(rng):
    x = rng.uniform(-0.5, 0.5, (2000, 3))
    return dp.Data(x, (rng.random(2000) < 0.5).astype(float), row_norm=1.0)


def test_a_chain_with_few_effective_draws_is_refused_before_any_charge(data, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-5)
    with pytest.raises(HopelessPlan, match=r"nothing was spent: about .* effective draws are expected"):
        dp.sample(dp.LogisticRegression(), data, dp.Barker(steps=200), **BUDGET, ledger=ledger, progress=False)
    assert len(ledger.history()) == 0


def test_the_refusal_names_what_would_work_with_figures(data):
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=200), **BUDGET)
    with pytest.raises(HopelessPlan, match=r"leave the sampler out: Newton gives intervals about [\d.]+ times as wide"):
        plan.run(data)


def test_a_hopeless_default_call_is_told_how_much_more_would_work(rng):
    few = dp.Data(rng.uniform(-0.5, 0.5, (100, 4)), np.zeros(100), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), few.public, epsilon=0.01, delta=1e-6)
    with pytest.raises(HopelessPlan) as refused:
        plan.run(few)
    records = int(re.search(r"- ([\d,]+) records instead of 100: intervals", str(refused.value))[1].replace(",", ""))
    public = dataclasses.replace(few.public, n=records)
    outlook = dp.plan(dp.LogisticRegression(), public, epsilon=0.01, delta=1e-6).outlook
    assert outlook.error < 0.7 * outlook.prior_error


def test_too_few_draws_for_an_interval_are_said_in_words(data):
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(draws=2), epsilon=3.0, delta=1e-6)
    with pytest.warns(PoorPlanWarning, match="an interval needs 10 draws, and 2 are planned"):
        plan.run(data, progress=False)


def test_anyway_runs_it(data):
    post = dp.sample(dp.LogisticRegression(), data, dp.Barker(steps=200), **BUDGET, anyway=True, progress=False)
    assert post.draws["beta"].shape[2] == 3


def test_a_result_that_is_the_prior_is_refused_and_the_default_call_too(rng):
    few = dp.Data(rng.uniform(-0.5, 0.5, (30, 3)), np.zeros(30), row_norm=1.0)
    with pytest.raises(HopelessPlan, match="no smaller than that of the prior alone"):
        dp.sample(dp.LogisticRegression(), few, epsilon=0.1, delta=1e-6)


def test_a_run_without_privacy_spends_nothing_and_is_not_refused(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        dp.sample(dp.LogisticRegression(), data, dp.Barker(steps=200), private=False, progress=False)


def test_a_poor_plan_warns_and_runs(rng):
    data = dp.Data(rng.uniform(-0.5, 0.5, (3000, 3)), np.zeros(3000), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(prior=dp.Normal(scale=9.0)), data.public, epsilon=0.1, delta=1e-6)
    assert plan.outlook.hopeless is None
    with pytest.warns(PoorPlanWarning, match="times as wide as without privacy"):
        plan.run(data, progress=False)


def test_draws_that_have_not_converged_warn_once(data):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dp.sample(dp.LogisticRegression(), data, dp.Barker(steps=400), **BUDGET, anyway=True, progress=False)
    found = [one for one in caught if issubclass(one.category, ConvergenceWarning)]
    assert len(found) == 1
    assert "R-hat is up to" in str(found[0].message)


def test_independent_draws_do_not_warn(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        dp.sample(dp.LogisticRegression(), data, dp.Newton(draws=30), epsilon=3.0, delta=1e-6, progress=False)


@pytest.mark.parametrize("anyway", ["yes", 1, None])
def test_anyway_must_be_yes_or_no(data, anyway):
    plan = dp.plan(dp.LogisticRegression(), data.public, **BUDGET)
    with pytest.raises(TypeError, match="anyway"):
        plan.run(data, anyway=anyway)
