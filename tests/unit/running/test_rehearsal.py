"""A rehearsal runs the very plan on made-up records: it sees no record, charges nothing, and agrees with forecasts."""

import dataclasses

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import WrongType
from pydpmc.running import rehearsal

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def public(n=4000, d=3, **facts):
    names = tuple(f"x{j}" for j in range(d))
    return dp.Public(n=n, columns=names, has_target=True, row_norm=1.0, **facts)


def test_it_never_sees_data(rng, monkeypatch):
    """Every table that is run has the features that were made up, and a Data is refused wherever it is offered."""
    x = rng.uniform(-0.5, 0.5, (4000, 3))
    secret = dp.Data(x, np.zeros(4000), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), secret.public, **BUDGET)
    seen = []
    run = rehearsal.run
    monkeypatch.setattr(rehearsal, "run", lambda plan, data, **options: seen.append(data) or run(plan, data, **options))
    plan.rehearse(runs=2, progress=False)
    assert len(seen) == 2
    assert all(data is not secret and not np.isin(x[:, 0], data._rows).any() for data in seen)
    with pytest.raises(WrongType, match="never sees"):
        plan.rehearse(features=secret)
    same = dp.plan(dp.LogisticRegression(), dataclasses.replace(secret.public), **BUDGET)
    assert same.rehearse(runs=2, progress=False).error == plan.rehearse(runs=2, progress=False).error


def test_it_runs_the_very_plan_and_its_results_are_void(monkeypatch):
    plan = dp.plan(dp.LogisticRegression(), public(), **BUDGET)
    kept = []
    run = rehearsal.run

    def noted(planned, data, **options):
        assert planned is plan
        assert "ledger" not in options
        kept.append(run(planned, data, **options))
        return kept[-1]

    monkeypatch.setattr(rehearsal, "run", noted)
    plan.rehearse(runs=1, progress=False)
    assert not kept[0].private


MODELS = {
    "logistic": (dp.LogisticRegression(intercept=True), public()),
    "linear": (dp.LinearRegression(sigma=1.0), public(y_bounds=(-5.0, 5.0))),
    "huber": (dp.HuberRegression(), public()),
    "poisson": (dp.PoissonRegression(), public(y_bounds=(0.0, 10.0))),
    "coin": (dp.BernoulliLogit(), dp.Public(n=4000, columns=("x",), has_target=False)),
    "mean": (dp.GaussianMean(sigma=0.2), dp.Public(n=4000, columns=("a", "b"), has_target=False, row_norm=1.0)),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_forecast_agrees_with_what_happens(name):
    """Within a factor 1.5; the error over 6 runs of some parameters is itself known to about a fifth."""
    model, facts = MODELS[name]
    result = dp.plan(model, facts, **BUDGET).rehearse(runs=6, progress=False)
    assert 1 / 1.8 < result.error / result.forecast.error < 1.8
    assert 1 / 1.5 < result.width / result.forecast.width < 1.5
    assert result.coverage > 0.7


def test_softmax_can_be_rehearsed():
    plan = dp.plan(dp.SoftmaxRegression(classes=3), public(500, 2), dp.Langevin(draws=10, steps=20), **BUDGET)
    assert plan.rehearse(runs=1, progress=False).error > 0.0


def test_groups_and_a_given_truth_and_public_features(rng):
    facts = dp.Public(n=300, columns=("a",), has_target=True, row_norm=1.0, grouped=True, max_group_size=2)
    plan = dp.plan(dp.LogisticRegression(), facts, dp.SGLD(w=0.01, steps=100), **BUDGET)
    result = plan.rehearse(runs=2, truth=[0.5], features=rng.uniform(-1, 1, (50, 1)), progress=False)
    assert (result.truths == 0.5).all()
    assert result.effective_draws is not None


def test_runs_shared_by_threads_are_those_of_one_thread():
    plan = dp.plan(dp.LogisticRegression(), public(), **BUDGET)
    one, several = (plan.rehearse(runs=3, progress=False, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.estimates, several.estimates)
    assert (one.coverage, one.prediction_error) == (several.coverage, several.prediction_error)


@pytest.mark.parametrize("name", ["logistic", "linear", "poisson"])
def test_predictions_are_compared_with_those_without_privacy(name):
    """A large budget predicts as well as no privacy does, and a small one worse."""
    model, facts = MODELS[name]
    rich, poor = (
        dp.plan(model, facts, dp.Newton(), epsilon=epsilon, delta=1e-6).rehearse(runs=4, progress=False)
        for epsilon in (100.0, 0.05)
    )
    assert rich.prediction_error == pytest.approx(1.0, abs=0.25)
    assert poor.prediction_error > 1.5 * rich.prediction_error
    assert "predictions against no privacy" in str(rich)


def test_a_model_without_a_target_has_no_predictions_to_compare():
    model, facts = MODELS["coin"]
    assert dp.plan(model, facts, **BUDGET).rehearse(runs=1, progress=False).prediction_error is None


def test_plans_for_weighted_records_can_be_rehearsed():
    plan = dp.plan(dp.LogisticRegression(), public(max_weight=2.0), **BUDGET)
    assert plan.rehearse(runs=2, progress=False).error > 0.0


def test_text_html_and_plot():
    pytest.importorskip("matplotlib").use("Agg")
    result = dp.plan(dp.LogisticRegression(), public(), **BUDGET).rehearse(runs=2, progress=False)
    assert "coverage of 90 % intervals" in str(result)
    assert "<table>" in result._repr_html_()
    assert result.plot().get_xlabel() == "truth"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"runs": 0}, "runs"),
        ({"truth": "posterior"}, "truth"),
        ({"truth": [1.0]}, "truth must hold 3 numbers"),
        ({"features": "drawn"}, "features"),
        ({"features": np.zeros((2, 9))}, "features must have shape"),
        ({"progress": 1}, "progress"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_calls_are_refused(options, said):
    plan = dp.plan(dp.LogisticRegression(), public(), **BUDGET)
    with pytest.raises((ValueError, TypeError), match=said):
        plan.rehearse(**options)


def test_a_private_number_of_records_cannot_be_rehearsed():
    plan = dp.plan(dp.LogisticRegression(), public(), **BUDGET, adjacency="add_remove")
    with pytest.raises(ValueError, match="public_n"):
        plan.rehearse()
