"""The planner compares every proven sampler from public facts, takes the best, and says why."""

import pytest

import pydpmc as dp
from pydpmc import samplers
from pydpmc.planning.choice import KINDS
from pydpmc.planning.helps import helps

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def public(n=20_000, d=4, **facts):
    names = tuple(f"x{j}" for j in range(d))
    return dp.Public(n=n, columns=names, has_target=True, row_norm=1.0, **facts)


def test_every_unconditional_sampler_is_a_candidate():
    assert set(KINDS) == {*samplers.ALL, *samplers.OF_SOME_MODELS}
    table = dp.compare(dp.LogisticRegression(), public(), **BUDGET)
    assert {one.name for one in table.candidates} == {kind.__name__ for kind in KINDS}


def test_the_taken_candidate_has_the_best_score_and_is_what_plan_runs():
    model = dp.LinearRegression(sigma=1.0)
    facts = public(y_bounds=(-4.0, 4.0))
    table = dp.compare(model, facts, **BUDGET)
    scores = [one.outlook.score("posterior") for one in table.candidates if one.outlook is not None]
    assert scores == sorted(scores)
    assert len(scores) > 1
    plan = dp.plan(model, facts, **BUDGET)
    assert type(plan.sampler).__name__ == table.taken
    assert plan.guarantee.epsilon(1e-6) <= 1.0


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_where_intervals_would_rest_on_the_prior_the_planner_takes_what_misses_a_far_truth_least(epsilon):
    table = dp.compare(dp.LogisticRegression(), public(32_561, 109), epsilon=epsilon, delta=1e-5)
    found = {one.name: one.outlook for one in table.candidates if one.outlook is not None}
    assert table.taken == min(found, key=lambda name: max(found[name].far_error, found[name].width))
    assert table.taken == "DPVI"
    assert "ignore correlations" in table.why()
    assert "too narrow where columns are correlated" in next(iter(table.rows()))[-1]
    plenty = dp.compare(dp.LogisticRegression(), public(10**6, 109), epsilon=epsilon * 3, delta=1e-5)
    assert plenty.taken == "Newton"


def test_own_choice_always_wins():
    plan = dp.plan(dp.LogisticRegression(), public(), dp.Langevin(draws=5), **BUDGET)
    assert plan.settings.describe()["sampler"] == "Langevin"
    assert plan.comparison is None


def test_the_purpose_decides():
    model = dp.SoftmaxRegression(classes=3)
    for_intervals = dp.plan(model, public(200_000), **BUDGET)
    for_points = dp.plan(model, public(200_000), **BUDGET, purpose="point")
    assert for_intervals.outlook.width <= for_points.outlook.width
    assert for_points.outlook.error <= for_intervals.outlook.error
    with pytest.raises(ValueError, match="purpose"):
        dp.plan(model, public(), **BUDGET, purpose="fun")


def test_the_printed_plan_shows_candidates_which_was_taken_and_the_verdict():
    page = str(dp.plan(dp.LogisticRegression(), public(), **BUDGET))
    for part in ("sampler", "error", "width", "draws", "seconds", "verdict", "Newton was taken: its intervals"):
        assert part in page
    assert "Verdict: useful: intervals about" in page


def test_without_a_public_size_the_first_that_is_proven_is_taken():
    plan = dp.plan(dp.LogisticRegression(), public(), **BUDGET, adjacency="add_remove")
    assert plan.settings.describe()["sampler"] == "Newton"
    assert plan.outlook.error is None
    assert str(plan.verdict).startswith("unknown")


def test_a_private_size_does_not_change_the_plan_or_its_outlook():
    a, b = (dp.plan(dp.LogisticRegression(), public(n), **BUDGET, adjacency="add_remove") for n in (10, 10**6))
    assert a == b
    assert str(a) == str(b)


def test_what_would_help_reaches_the_figure_it_names():
    plan = dp.plan(dp.LogisticRegression(), public(1000), **BUDGET)
    lines = helps(plan)
    (more,) = [line for line in lines if "records instead of 1,000" in line]
    n = int(more.split()[0].replace(",", ""))
    told = float(more.split("intervals about ")[1].split()[0])
    better = dp.plan(dp.LogisticRegression(), public(n), **BUDGET)
    assert better.outlook.width == pytest.approx(told, rel=0.06)
    assert better.outlook.width < plan.outlook.width


def test_nothing_is_said_to_help_a_good_plan():
    assert helps(dp.plan(dp.LogisticRegression(), public(10**6), **BUDGET)) == []


def test_a_comparison_is_a_table_and_a_plot():
    pytest.importorskip("matplotlib").use("Agg")
    table = dp.compare(dp.LogisticRegression(), public(), **BUDGET)
    assert "<table>" in table._repr_html_()
    assert "Refused:" in str(table)
    errors = table.over_epsilon((0.3, 3.0))
    assert errors["Newton"][0] > errors["Newton"][1]
    labels = {text.get_text() for text in table.plot((0.3, 3.0)).get_legend().get_texts()}
    assert {"Newton", "without privacy", "the prior alone"} <= labels


def test_all_refused_says_why():
    with pytest.raises(dp.errors.PydpmcError):
        dp.plan(dp.PoissonRegression(), dp.Public(n=9, columns=("a",), has_target=True), **BUDGET)


def test_a_chain_that_the_planner_chooses_comes_as_several_where_that_costs_little():
    model, facts = dp.HingeClassifier(), public(n=200_000, d=2)
    plan = dp.plan(model, facts, epsilon=3.0, delta=1e-6)
    alone = dp.plan(model, facts, epsilon=3.0, delta=1e-6, chains=1)
    assert plan.outlook.is_chain
    assert plan.chains == 4
    assert plan.init == "prior"  # chains that start together would agree before they have mixed
    assert plan.outlook.score("posterior") <= 1.1 * alone.outlook.score("posterior")
    assert plan.guarantee.epsilon(1e-6) <= 3.0
    assert alone.chains == 1
    assert dp.plan(model, facts, plan.sampler, epsilon=3.0, delta=1e-6).chains == 1  # a sampler of one's own


def test_a_budget_that_several_chains_would_waste_keeps_one():
    assert dp.plan(dp.HingeClassifier(), public(n=200_000, d=2), epsilon=0.7, delta=1e-6).chains == 1


def test_predictions_that_are_alike_are_decided_by_their_intervals():
    facts = dp.Public(n=61_000, columns=("a", "b"), has_target=True, row_norm=1.5, y_bounds=(0.0, 5.0))
    table = dp.compare(dp.HuberRegression(intercept=True, sigma=0.6), facts, purpose="prediction", **BUDGET)
    assert table.taken == "Newton"
