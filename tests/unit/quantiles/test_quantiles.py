"""Private quantiles: their range against every neighbour, their law, their price, and what they refuse."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc.errors import BudgetError
from pydpmc.quantiles.exact_choice import below, bernoulli_exp, choose, random_words
from pydpmc.quantiles.quantiles import cost_rate, rank_costs

GRID = np.array([0.0, 1.0, 2.0])
VALUES = (-1.0, 0.0, 0.5, 1.0, 3.0, math.nan)
ALPHA = 1e-6


def log_probabilities(column, q, eta, adjacency):
    rate = float(cost_rate(eta, q, adjacency))
    logits = -rate * np.array(rank_costs(np.array(column), q, GRID), dtype=float)
    return logits - np.logaddexp.reduce(logits)


def widest_range(q, eta, adjacency, neighbours):
    widest = 0.0
    for first, second in neighbours:
        ratio = log_probabilities(first, q, eta, adjacency) - log_probabilities(second, q, eta, adjacency)
        widest = max(widest, float(np.ptp(ratio)))
    return widest


def replaced(n):
    for column in itertools.combinations_with_replacement(VALUES, n - 1):
        for first, second in itertools.combinations(VALUES, 2):
            yield (*column, first), (*column, second)


def removed(n):
    for column in itertools.combinations_with_replacement(VALUES, n):
        yield column, column[:-1]
        yield column, column[1:]


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_under_replace_no_neighbours_exceed_the_range_and_some_reach_it(q):
    eta = 0.8
    widest = max(widest_range(q, eta, "replace", replaced(n)) for n in (2, 3, 4))
    assert widest <= eta * (1 + 1e-12)
    if q == Fraction(1, 2):
        assert widest > 0.99 * eta


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_under_add_remove_no_neighbours_exceed_the_range_and_some_reach_it(q):
    eta = 0.8
    widest = max(widest_range(q, eta, "add_remove", removed(n)) for n in (2, 3, 4))
    assert 0.49 * eta < widest <= eta * (1 + 1e-12)
    if q == Fraction(1, 2):
        assert widest > 0.99 * eta


def test_the_cost_is_the_distance_to_the_ranks_a_point_could_have():
    column = np.array([0.0, 1.0, 1.0, 1.0, 5.0, math.nan])
    assert rank_costs(column, Fraction(1, 2), np.array([-1.0, 0.0, 1.0, 2.0, 9.0])) == [5, 3, 0, 3, 5]


def test_draws_follow_the_exact_law():
    costs, rate, count = [0, 3, 1, 8, 3], Fraction(3, 7), 20_000
    words = random_words(11, 0)
    drawn = np.bincount([choose(costs, rate, words) for _ in range(count)], minlength=5)
    weights = np.exp(-float(rate) * np.array(costs))
    assert stats.chisquare(drawn, count * weights / weights.sum()).pvalue > ALPHA


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)])
def test_the_bernoulli_of_an_exponential(gamma):
    words = random_words(12, 0)
    hits = sum(bernoulli_exp(gamma, words) for _ in range(20_000))
    assert stats.binomtest(hits, 20_000, math.exp(-gamma)).pvalue > ALPHA


@pytest.mark.parametrize("n", [1, 2, 5, 2**64, 3 * 2**70])
def test_uniform_whole_numbers_of_any_length(n):
    words = random_words(13, 0)
    drawn = [below(n, words) for _ in range(4000)]
    assert all(0 <= value < n for value in drawn)
    if n <= 5:
        assert stats.chisquare(np.bincount(drawn, minlength=n)).pvalue > ALPHA if n > 1 else set(drawn) == {0}
    else:
        assert stats.kstest([value / n for value in drawn], "uniform").pvalue > ALPHA


def test_quantiles_are_near_the_true_ones_and_in_order(rng):
    column = rng.normal(size=20_000)
    grid = np.linspace(-5, 5, 1001)
    found = dp.private_quantiles(column, [0.1, 0.5, 0.9], grid=grid, epsilon=1.0)
    np.testing.assert_allclose(found.values, stats.norm.ppf([0.1, 0.5, 0.9]), atol=0.06)
    assert list(found.values) == sorted(found.values)


@pytest.mark.parametrize(("delta", "uses"), [(0.0, 2), (1e-6, 2), (1e-6, 30)])
def test_the_budget_is_kept_and_nearly_used(rng, delta, uses):
    quantiles = np.arange(1, uses + 1) / (uses + 1)
    found = dp.private_quantiles(rng.normal(size=100), quantiles, grid=[-1.0, 0.0, 1.0], epsilon=0.5, delta=delta)
    assert 0.49 < found.guarantee.epsilon(delta) <= 0.5
    assert found.guarantee.assumptions == ()
    ((event, count),) = found.guarantee.events
    assert count == uses
    assert event.eta >= 0.5 / uses * 0.999


def test_missing_values_take_no_part():
    column = [1.0, "?", None, 3.0, "x", math.nan] * 2000
    found = dp.private_quantiles(column, [0.5], grid=np.arange(0.0, 5.0), epsilon=1.0, missing_values=["?"])
    assert 1.0 <= found.values[0] <= 3.0


def test_bounds_of_a_table_are_for_declaring(rng):
    table = {"income": rng.lognormal(10.0, 1.0, 20_000), "constant": np.full(20_000, 7.0), "other": ["x"] * 20_000}
    found = dp.private_bounds(table, ["income", "constant"], epsilon=1.0, delta=1e-6)
    low, high = found["income"]
    assert 1000.0 <= low <= 5000.0
    assert 100_000.0 <= high <= 500_000.0
    dp.Number(*found["income"])
    dp.Number(*found["constant"])
    assert found.guarantee.epsilon(1e-6) <= 1.0


def test_limits_bound_the_candidates_of_their_column_alone(rng):
    """At epsilon 0.02 a quantile of 300 records is nearly any candidate: without limits half of them are negative."""
    table = {"income": rng.lognormal(10.0, 1.0, 300), "change": rng.normal(0.0, 1.0, 300)}
    lows = {True: [], False: []}
    for limited in (True, False):
        options = {"limits": {"income": (0.0, math.inf)}} if limited else {}
        for seed in range(40):
            found = dp.private_bounds(table, ["income", "change"], epsilon=0.02, seed=seed, **options)
            assert found["income"][0] < found["income"][1]
            lows[limited].append((found["income"][0], found["change"][0]))
    income, change = np.transpose(lows[True])
    assert income.min() >= 0.0
    assert change.min() < 0.0
    assert np.min(lows[False], axis=0)[0] < 0.0


def test_a_finite_limit_is_a_candidate():
    found = dp.private_bounds({"age": [17.0] * 900 + [90.0] * 900}, ["age"], epsilon=5.0, limits={"age": (17.0, 90.0)})
    assert found["age"] == (17.0, 90.0)


def test_a_plan_pays_for_what_was_released_before(rng):
    found = dp.private_quantiles(rng.normal(size=100), [0.5], grid=[0.0, 1.0], epsilon=0.3)
    public = dp.Public(n=100_000, columns=("a",), has_target=True, row_norm=1.0)
    arguments = (dp.LogisticRegression(), public, dp.Barker(steps=300, scale=0.01))
    alone = dp.plan(*arguments).guarantee
    together = dp.plan(*arguments, earlier=[found.guarantee]).guarantee
    assert together.events == (*alone.events, *found.guarantee.events)
    assert together.epsilon(1e-6) > max(alone.epsilon(1e-6), 0.299)
    assert len(together.assumptions) == len(alone.assumptions) + 1
    budget = {"epsilon": alone.epsilon(1e-6) + 0.01, "delta": 1e-6}
    dp.plan(*arguments, **budget)
    with pytest.raises(BudgetError):
        dp.plan(*arguments, **budget, earlier=[found.guarantee])


def test_a_ledger_is_charged_before_a_record_is_used(rng, monkeypatch, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=0.5, delta=1e-6)
    monkeypatch.setattr("pydpmc.quantiles.quantiles.choose", lambda *_: len(ledger.history()) - 1)
    arguments = {"grid": [0.0, 1.0], "epsilon": 0.3, "ledger": ledger}
    assert dp.private_quantiles(rng.normal(size=50), [0.5], **arguments).values == (0.0,)
    monkeypatch.setattr("pydpmc.quantiles.quantiles.choose", lambda *_: pytest.fail("a record was used"))
    with pytest.raises(BudgetError, match="there remains"):
        dp.private_quantiles(rng.normal(size=50), [0.5], **arguments)


def test_a_run_on_the_table_that_quantiles_prepared_shares_their_ledger(rng, tmp_path):
    x = rng.integers(0, 2, 50).astype(float)
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=2.0, delta=1e-6)
    dp.private_quantiles(x, [0.5], grid=[0.0, 1.0], epsilon=0.1, ledger=ledger)
    data = dp.Data(x)
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=20, scale=0.1, w=0.01))
    plan.run(data, ledger=ledger, progress=False)
    assert len(ledger.history()) == 2


def test_the_ledger_itself_is_charged_and_refuses(rng, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=1.0, delta=1e-6)
    column = rng.normal(size=50)
    arguments = {"grid": [0.0, 1.0], "epsilon": 0.6, "ledger": str(tmp_path / "study.ledger")}
    dp.private_quantiles(column, [0.5], **arguments)
    (entry,) = ledger.history()
    assert entry.guarantee.events[0][0].eta == pytest.approx(0.6)
    with pytest.raises(BudgetError):
        dp.private_quantiles(column, [0.5], **arguments)
    assert len(ledger.history()) == 1


def test_a_seed_repeats_and_voids():
    column = np.arange(100.0)
    runs = [dp.private_quantiles(column, [0.5], grid=np.arange(0, 100, 1.0), epsilon=0.1, seed=5) for _ in range(2)]
    assert runs[0].values == runs[1].values
    assert runs[0].guarantee.void is not None


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"quantiles": []}, "quantiles"),
        ({"quantiles": [0.5, 0.4]}, "quantiles"),
        ({"quantiles": [0.0]}, "quantiles"),
        ({"grid": [1.0]}, "grid"),
        ({"grid": [1.0, 1.0]}, "grid"),
        ({"grid": [0.0, np.inf]}, "grid"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"delta": 0.1}, "delta"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"values": np.zeros((2, 2))}, "values"),
    ],
)
def test_wrong_calls_are_refused_by_name(options, word):
    good = {"values": [1.0, 2.0], "quantiles": [0.5], "grid": [0.0, 1.0], "epsilon": 1.0}
    with pytest.raises(ValueError, match=word):
        dp.private_quantiles(**good | options)


def test_wrong_bounds_are_refused_by_name():
    with pytest.raises(ValueError, match="coverage"):
        dp.private_bounds({"a": [1.0]}, ["a"], epsilon=1.0, coverage=1.0)
    with pytest.raises(ValueError, match="columns"):
        dp.private_bounds({"a": [1.0]}, "a", epsilon=1.0)
    with pytest.raises(ValueError, match="'b' is not in the table"):
        dp.private_bounds({"a": [1.0]}, ["b"], epsilon=1.0)
    for limits, said in (
        ((0.0, 1.0), "limits must map"),
        ({"b": (0.0, 1.0)}, "'b'"),
        ({"a": 1.0}, r"limits\['a'\]"),
        ({"a": (1.0, 1.0)}, r"limits\['a'\] must increase"),
        ({"a": ("0", 1.0)}, r"limits\['a'\]"),
        ({"a": (6e12, math.inf)}, "no two points within"),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            dp.private_bounds({"a": [1.0]}, ["a"], epsilon=1.0, limits=limits)
