"""Private scores: what one record adds, what is charged, what is refused, and the warning that others come with."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc.quantiles.exact_choice import discrete_laplace, random_words

pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")

from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from pydpmc.errors import NotCoveredWarning
from pydpmc.sklearn import (
    BoundsScaler,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPSoftmaxRegression,
    private_scorer,
)

ALPHA = 1e-6
QUICK = dp.Barker(steps=50, scale=0.01)
DECLARED = {"row_norm": 1.0, "sampler": QUICK, "epsilon": 5.0, "prepared_by_record": True}


def fitted(kind, rng, **options):
    X = rng.uniform(-0.7, 0.7, (600, 2))
    mean = X @ [3.0, -2.0]
    if kind == "logistic":
        declared = DECLARED | {"classes": ["no", "yes"]} | options
        return DPLogisticRegression(**declared), X, np.where(mean > 0, "yes", "no")
    if kind == "softmax":
        return DPSoftmaxRegression(classes=[0, 1, 2], **DECLARED | options), X, np.digitize(mean, [-0.5, 0.5])
    if kind == "linear":
        return DPLinearRegression(y_bounds=(-4.0, 4.0), **DECLARED | options), X, mean
    return DPPoissonRegressor(y_bounds=(0, 9), **DECLARED | options), X, rng.poisson(np.exp(mean).clip(0.1, 5))


KINDS = ("logistic", "softmax", "linear", "poisson")


@pytest.fixture(params=KINDS)
def model(request, rng):
    estimator, X, y = fitted(request.param, rng)
    return estimator.fit(X, y), X, y


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(5, 2), Fraction(0.1), Fraction(2, 1000)])
def test_the_noise_follows_the_exact_law(rate):
    words, count = random_words(5, 0), 20_000
    drawn = np.array([discrete_laplace(rate, words) for _ in range(count)])
    q = math.exp(-rate)
    edges = np.unique(stats.dlaplace(float(rate)).ppf(np.linspace(0.02, 0.98, 13)))
    law = stats.dlaplace(float(rate)).cdf(edges)
    observed = np.histogram(drawn, [-math.inf, *(edges + 0.5), math.inf])[0]
    assert stats.chisquare(observed, count * np.diff([0.0, *law, 1.0])).pvalue > ALPHA
    assert abs(np.mean(drawn == 0) - (1 - q) / (1 + q)) < 6 * math.sqrt(0.25 / count)


def test_a_score_is_near_the_truth_and_costs_what_it_says(model):
    estimator, X, y = model
    found = estimator.private_score(X, y, epsilon=2.0)
    if hasattr(estimator, "classes_"):
        truth = np.mean(estimator.predict(X) == y)
    else:
        low, high = estimator.y_bounds
        truth = 1.0 - np.minimum(np.abs(estimator.predict(X) - y) / (high - low), 1.0).mean() - 0.5 / 256
    assert abs(float(found) - truth) < 0.02
    assert found.guarantee.epsilon(0.0) == pytest.approx(2.0, rel=1e-9)
    assert found.guarantee.assumptions == ()


def hostile(width):
    """Records that no score knows what to do with."""
    return [
        (np.full(width, np.nan), "no"),
        (np.full(width, np.inf), 1.0),
        (np.full(width, 1e300), None),
        (np.zeros(width), math.nan),
        (np.zeros(width), 1e400),
        (np.zeros(width), "maybe"),
        (np.zeros(width), np.array([1, 2])),
        (np.zeros(width), b"no"),
        (np.zeros(width), 10**400),
        (np.full(width, -1e-320), 2),
    ]


@pytest.mark.filterwarnings("error", "ignore:the draws have not converged")
def test_one_record_moves_its_own_points_alone_and_raises_nothing(model):
    estimator, X, y = model
    rows, targets = estimator._rows_to_score(X, list(y))
    before, most = estimator._points(rows, targets)
    assert 0 <= before.min() <= before.max() <= most
    for place, (row, label) in itertools.product((0, 3, 599), hostile(2)):
        changed, labels = X.copy(), list(y)
        changed[place], labels[place] = row, label
        after, _ = estimator._points(*estimator._rows_to_score(changed, labels))
        np.testing.assert_array_equal(np.delete(after, place), np.delete(before, place))
        assert 0 <= after[place] <= most


def test_points_are_a_function_of_the_record_also_where_roundings_decide(model, monkeypatch):
    """All records at a tie, or at the edge of a point: what a matrix product rounds depends on the batch's size."""
    estimator, _, _ = model
    for draws in estimator.posterior_.draws.values():
        draws[...] = 0.0 if hasattr(estimator, "classes_") else draws.mean()
    row, many = np.array([0.3, 0.1]), 257
    label = estimator.classes_[0] if hasattr(estimator, "classes_") else float(estimator.predict(row[None])[0])
    alone, _ = estimator._points(*estimator._rows_to_score(row[None], [label]))
    shaken = np.random.default_rng(3)
    for name in ("predict_proba", "predict"):
        exact = getattr(type(estimator.posterior_), name)

        def noisy(self, x, exact=exact, **options):
            found = exact(self, x, **options)
            if len(x) > 1:
                found.mean[...] += shaken.choice([-1e-13, 1e-13], found.mean.shape)
            return found

        monkeypatch.setattr(type(estimator.posterior_), name, noisy)
    together, _ = estimator._points(*estimator._rows_to_score(np.tile(row, (many, 1)), [label] * many))
    np.testing.assert_array_equal(together, np.full(many, alone[0]))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_ledger_is_charged_before_a_prediction_is_made(rng, tmp_path, adjacency, monkeypatch):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=8.0, delta=1e-5)
    estimator, X, y = fitted("logistic", rng, adjacency=adjacency, public_n=600, ledger=str(ledger.path), epsilon=1.0)
    found = estimator.fit(X, y).private_score(X, y, epsilon=0.5)
    first, second = ledger.history()
    assert second.guarantee == found.guarantee
    assert (second.finished, second.plan["release"], second.guarantee.adjacency) == (True, "private score", adjacency)
    assert found.ledger_entry["run"] == 2
    assert first.guarantee.adjacency == adjacency

    def fail(*_):
        raise RuntimeError("stopped")

    monkeypatch.setattr(type(estimator), "_points", fail)
    with pytest.raises(RuntimeError, match="stopped"):
        estimator.private_score(X, y, epsilon=0.5)
    assert len(ledger.history()) == 3
    with pytest.raises(dp.errors.BudgetError):
        estimator.private_score(X, y, epsilon=50.0)
    assert len(ledger.history()) == 3


def test_a_score_of_an_estimator_without_a_guarantee_has_none(rng, tmp_path):
    estimator, X, y = fitted("logistic", rng, random_state=3)
    found = estimator.fit(X, y).private_score(X, y, epsilon=1.0)
    assert found.guarantee.void is not None
    assert estimator.private_score(X, y, epsilon=1.0, seed=1) == estimator.private_score(X, y, epsilon=1.0, seed=1)
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=8.0, delta=1e-5)
    with pytest.raises(dp.errors.LedgerError):
        estimator.private_score(X, y, epsilon=1.0, ledger=ledger)
    assert ledger.history() == ()


def test_undeclared_facts_are_assumed_by_a_score_too(rng):
    estimator, X, y = fitted("logistic", rng, prepared_by_record=False, classes=None)
    assert len(estimator.fit(X, y).private_score(X, y, epsilon=1.0).guarantee.assumptions) == 2


def test_scikit_learns_own_score_warns_that_nothing_covers_it(model):
    estimator, X, y = model
    with pytest.warns(NotCoveredWarning, match=r"no guarantee covers it.*private_score"):
        estimator.score(X, y)
    assert "NOT private" in type(estimator).score.__doc__


@pytest.mark.filterwarnings("error", "ignore:the draws have not converged")
def test_cross_validation_by_private_scores_charges_every_fold(rng, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=30.0, delta=1e-5)
    estimator, X, y = fitted("logistic", rng, ledger=str(ledger.path), epsilon=1.0)
    model = make_pipeline(BoundsScaler(low=-0.7, high=0.7), estimator)
    scorer = private_scorer(epsilon=0.5, ledger=ledger)
    scores = cross_val_score(model, X, y, cv=3, scoring=scorer)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert [entry.plan.get("release", "fit") for entry in ledger.history()] == ["fit", "private score"] * 3
    with pytest.raises(ValueError, match="scoring"):
        scorer(BoundsScaler(), X, y)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, "much"])
def test_bad_budgets_are_refused_before_anything_is_spent(rng, epsilon, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=8.0, delta=1e-5)
    estimator, X, y = fitted("logistic", rng)
    estimator.fit(X, y)
    with pytest.raises((ValueError, TypeError), match="epsilon"):
        estimator.private_score(X, y, epsilon=epsilon, ledger=ledger)
    for wrong in (y[:-1], list(y[1:])):
        with pytest.raises(ValueError, match="600 records, but y has 599 values"):
            estimator.private_score(X, wrong, epsilon=1.0, ledger=ledger)
    assert ledger.history() == ()
