"""The scikit-learn estimators: the contract of scikit-learn where privacy allows it, pipelines, and the guarantee."""

import numpy as np
import pytest

import pydpmc as dp

pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")

from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from pydpmc.errors import HopelessPlan, NotCoveredWarning
from pydpmc.ledger import page as ledger_page
from pydpmc.sklearn import (
    BoundsScaler,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPSoftmaxRegression,
)

QUICK = dp.Barker(steps=60, scale=1e-4)
REFUSES_RECORDS = "check_supervised_y_no_nan"  # asks for an error that one record decides; see tests/neighbours
ACCURACY = ("check_classifiers_train", "check_regressors_train")
WEIGHED = {"sampler": dp.SGLD(steps=20, step_size=1e-5, clip=1.0), "max_weight": 100.0}


def estimators(**options):
    common = {"row_norm": 10.0, "sampler": QUICK, "epsilon": 10.0} | options
    return [
        DPLogisticRegression(**common),
        DPSoftmaxRegression(**common),
        DPLinearRegression(**common, y_bounds=(-4.0, 4.0)),
        DPPoissonRegressor(**common, y_bounds=(0.0, 10.0)),
        BoundsScaler(low=-10.0, high=10.0),
    ]


CHECKS = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{getattr(check, 'func', check).__name__}")
    for instance in estimators()
    for estimator, check in estimator_checks_generator(instance)
    if not (is_regressor(estimator) and getattr(check, "func", check).__name__ == REFUSES_RECORDS)
    and "sample_weight" not in getattr(check, "func", check).__name__
]
# The first asks for equal predictions of two fits, whose noise differs (see the test of weights below), the second for
# an error that the weights of the records decide.
NOT_ASKED = ("check_sample_weight_equivalence", "check_all_zero_sample_weights_error")
OF_WEIGHTS = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{name}")
    for instance in estimators(**WEIGHED)[:-1]
    for estimator, check in estimator_checks_generator(instance)
    if "sample_weight" in (name := getattr(check, "func", check).__name__) and not name.startswith(NOT_ASKED)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), OF_WEIGHTS)
def test_the_contract_of_scikit_learn_for_weights(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_weights_count_records_and_need_a_public_bound(rng):
    x = rng.uniform(-1.0, 1.0, (4000, 2))
    y = rng.integers(0, 2, 4000)
    options = {"row_norm": 1.5, "classes": [0, 1], "epsilon": 5.0, "anyway": True, "random_state": 1}
    weights = np.where(y == 1, 9.0, 0.0)  # only ones count
    model = DPLogisticRegression(**options, sampler=dp.Newton(), max_weight=2.0).fit(x, y, sample_weight=weights)
    assert model.predict(x).mean() > 0.99
    assert DPLogisticRegression(**options, sampler=dp.Newton(), max_weight=2.0).fit(x, y).coef_.shape == (1, 2)
    with pytest.raises(ValueError, match="sample_weight needs max_weight"):
        DPLogisticRegression(**options).fit(x, y, sample_weight=weights)
    with pytest.raises(ValueError, match="one weight per row"):
        DPLogisticRegression(**options, max_weight=2.0).fit(x, y, sample_weight=weights[:-1])


UNPROTECTED = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{name}-{number}")
    for instance in estimators(private=False, sampler=dp.NUTS(draws=100, warmup=200))
    for number, (estimator, check) in enumerate(estimator_checks_generator(instance))
    if (name := getattr(check, "func", check).__name__) in ACCURACY
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), UNPROTECTED)
def test_accuracy_on_a_few_hundred_records_is_lost_to_privacy_alone(estimator, check):
    tags = estimator.__sklearn_tags__()
    assert not (tags.classifier_tags or tags.regressor_tags).poor_score
    check(estimator)


def test_the_accuracy_that_scikit_learn_asks_for_is_not_promised_under_privacy():
    for estimator in estimators()[:4]:
        tags = estimator.__sklearn_tags__()
        assert (tags.classifier_tags or tags.regressor_tags).poor_score


@pytest.fixture
def classified(rng):
    X = rng.uniform(-0.7, 0.7, (4000, 2))
    y = np.where(X @ [4.0, -3.0] + rng.logistic(size=4000) > 0, "yes", "no")
    return X, y


def test_a_classifier_learns_within_its_budget(classified):
    X, y = classified
    declared = {"row_norm": 1.0, "classes": ["yes", "no"], "prepared_by_record": True}
    model = DPLogisticRegression(epsilon=2.0, **declared).fit(X, y)
    assert model.guarantee_.epsilon(1e-6) <= 2.0
    assert model.guarantee_.assumptions == ()
    assert (model.predict(X) == y).mean() > 0.65
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_allclose(model.predict_proba(X[:5]).sum(axis=1), 1.0)
    assert model.coef_.shape == (1, 2)
    np.testing.assert_allclose(model.predict_proba(X[:5]), model.posterior_.predict_proba(X[:5]).mean)


def test_labels_taken_from_the_data_are_an_assumption(classified):
    X, y = classified
    model = DPLogisticRegression(row_norm=1.0, sampler=QUICK).fit(X, y)
    assert any("labels" in text for text in model.guarantee_.assumptions)


def test_what_is_assumed_reaches_the_result_its_files_the_report_and_the_ledger(classified, tmp_path):
    """The assumption was once in `guarantee_` alone, and a saved or reported posterior lost it."""
    X, y = classified
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=5.0, delta=1e-5)
    steps = StandardScaler(), DPLogisticRegression(row_norm=1.0, sampler=QUICK, ledger=ledger)
    model = make_pipeline(*steps).fit(X, y)[-1]
    for guarantee in (model.guarantee_, model.posterior_.guarantee, ledger.history()[0].guarantee, ledger.spent()):
        assert any("labels" in text for text in guarantee.assumptions)
        assert any("StandardScaler" in text for text in guarantee.assumptions)
        assert "holds only if" in guarantee.statement()
    for name in ("post.npz", "post.nc"):
        model.posterior_.save(tmp_path / name)
        assert dp.Posterior.load(tmp_path / name).guarantee == model.guarantee_
    model.posterior_.report(tmp_path / "post.html")
    text = (tmp_path / "post.html").read_text(encoding="utf-8")
    assert "Assumed: X was made record by record" in text
    for page in (ledger_page.show(ledger), ledger_page.history(ledger)):
        assert "run 1: X was made record by record" in page
        assert "run 1: the set of labels is public" in page


def test_declarations_are_not_assumed(classified, tmp_path):
    X, y = classified
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=5.0, delta=1e-5)
    declared = {"row_norm": 1.0, "classes": ["yes", "no"], "prepared_by_record": True}
    model = DPLogisticRegression(sampler=QUICK, ledger=ledger, **declared).fit(X, y)
    assert model.posterior_.guarantee.assumptions == ledger.history()[0].guarantee.assumptions == ()
    assert "only if" not in ledger_page.history(ledger)
    assert "assumes" not in ledger_page.show(ledger)


@pytest.mark.parametrize("estimator", estimators()[:4], ids=lambda e: type(e).__name__)
def test_every_estimator_states_what_it_cannot_see(estimator, rng):
    X, y = rng.uniform(-1, 1, (60, 2)), rng.integers(0, 2, 60)
    assert any("record by record" in text for text in clone(estimator).fit(X, y).posterior_.guarantee.assumptions)


def test_an_undeclared_label_drops_the_record(rng):
    X = rng.uniform(-0.5, 0.5, (100, 2))
    y = np.array(["a", "b", "c", "b"] * 25)
    model = DPLogisticRegression(row_norm=1.0, sampler=QUICK, classes=["a", "b"]).fit(X, y)
    assert list(model.classes_) == ["a", "b"]


def test_regressors_learn_and_give_uncertainty(rng):
    X = rng.uniform(-0.7, 0.7, (2000, 2))
    y = X @ [1.0, -0.5] + rng.normal(0, 0.2, 2000)
    sampler = dp.Langevin(draws=4)
    linear = DPLinearRegression(epsilon=5.0, row_norm=1.0, y_bounds=(-2.0, 2.0), sampler=sampler).fit(X, y)
    assert r2_score(y, linear.predict(X)) > 0.2
    mean, sd = linear.predict(X[:3], return_std=True)
    assert mean.shape == sd.shape == (3,)
    counts = rng.poisson(np.exp(X @ [1.0, -0.5]))
    poisson = DPPoissonRegressor(row_norm=1.0, y_bounds=(0, 8), sampler=dp.Barker(steps=2000), private=False)
    assert poisson.fit(X, counts).score(X, counts) > 0.05
    assert not np.isfinite(poisson.guarantee_.epsilon(1e-6))


def test_softmax_has_a_probability_for_every_class(rng):
    X = rng.uniform(-0.7, 0.7, (500, 2))
    y = rng.integers(0, 3, 500)
    model = DPSoftmaxRegression(row_norm=1.0, classes=[0, 1, 2], sampler=QUICK).fit(X, y)
    assert model.predict_proba(X[:4]).shape == (4, 3)
    assert model.coef_.shape == (3, 2)


def test_bounds_must_be_declared(rng):
    X, y = rng.uniform(-1, 1, (20, 2)), rng.integers(0, 2, 20)
    with pytest.raises(ValueError, match="row_norm or x_bounds must be declared"):
        DPLogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="y_bounds must be declared"):
        DPLinearRegression(row_norm=1.0).fit(X, y)


def test_pipelines_and_cross_validation_charge_a_ledger_at_every_fit(rng, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=10.0, delta=1e-5)
    X, y = rng.uniform(0, 10, (300, 2)), rng.integers(0, 2, 300)
    estimator = DPLogisticRegression(row_norm=1.0, sampler=QUICK, classes=[0, 1], ledger=str(ledger.path))
    pipeline = make_pipeline(BoundsScaler(low=0.0, high=10.0), estimator)
    with pytest.warns(NotCoveredWarning, match="private_score"):
        scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.shape == (3,)
    assert [entry.finished for entry in ledger.history()] == [True] * 3
    assert clone(estimator).get_params() == estimator.get_params()


def test_a_random_state_repeats_and_voids(rng):
    X, y = rng.uniform(-0.5, 0.5, (100, 2)), rng.integers(0, 2, 100)
    fits = [DPLogisticRegression(row_norm=1.0, sampler=QUICK, random_state=3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].guarantee_.void is not None


def test_column_names_of_a_frame_reach_the_draws(rng):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X = pd.DataFrame(rng.uniform(-0.5, 0.5, (50, 2)), columns=["age", "dose"])
    model = DPLogisticRegression(row_norm=1.0, sampler=QUICK).fit(X, rng.integers(0, 2, 50))
    assert model.posterior_.labels["beta"] == ("age", "dose")
    pipeline = make_pipeline(BoundsScaler(low=-0.5, high=0.5), DPLogisticRegression(row_norm=1.0, sampler=QUICK))
    pipeline.set_output(transform="pandas").fit(X, rng.integers(0, 2, 50))
    assert pipeline[-1].posterior_.labels["beta"] == ("age", "dose")


def test_a_long_fit_shows_its_progress_if_asked_to(rng, monkeypatch):
    shown = []
    monkeypatch.setattr("pydpmc.running.run.Progress.update", lambda self, done: shown.append(self._wanted))
    X, y = rng.uniform(-0.5, 0.5, (50, 2)), rng.integers(0, 2, 50)
    for verbose in (True, False):
        DPLogisticRegression(row_norm=1.0, sampler=QUICK, verbose=verbose).fit(X, y)
        assert set(shown) == {verbose}
        shown.clear()


def test_the_planner_chooses_and_draws_of_a_stuck_chain_warn_as_scikit_learn_does(rng):
    X = rng.uniform(-0.5, 0.5, (3000, 2))
    y = (X[:, 0] + rng.normal(size=3000) > 0).astype(int)
    model = DPLogisticRegression(row_norm=1.0, classes=[0, 1]).fit(X, y)
    assert model.posterior_.plan["sampler"] == "Newton"
    with pytest.warns(SklearnConvergenceWarning, match="have not converged"):
        DPLogisticRegression(row_norm=1.0, classes=[0, 1], sampler=dp.Barker(steps=300), anyway=True).fit(X, y)


@pytest.mark.refuses
def test_a_fit_that_would_waste_its_budget_is_refused(rng):
    X, y = rng.uniform(-0.5, 0.5, (40, 2)), np.r_[np.zeros(20), np.ones(20)].astype(int)
    stuck = DPLogisticRegression(row_norm=1.0, classes=[0, 1], epsilon=0.05)
    with pytest.raises(HopelessPlan):
        stuck.fit(X, y)
    assert stuck.set_params(anyway=True).fit(X, y).posterior_.private


def test_parameters_of_the_sampler_can_be_searched():
    from sklearn.base import clone

    model = DPLogisticRegression(row_norm=1.0, sampler=dp.Langevin(draws=4), prior=dp.Normal(scale=2.0))
    assert model.get_params()["sampler__draws"] == 4
    other = clone(model).set_params(sampler__n0=50.0, prior__scale=3.0, epsilon=2.0)
    assert (other.sampler, other.prior, other.epsilon) == (dp.Langevin(draws=4, n0=50.0), dp.Normal(scale=3.0), 2.0)
    assert model.sampler == dp.Langevin(draws=4)
    with pytest.raises(ValueError, match="sampler has no parameter 'speed'; it has draws"):
        model.set_params(sampler__speed=1)
    with pytest.raises(ValueError, match="give sampler itself first"):
        DPLogisticRegression().set_params(sampler__draws=1)


def test_the_decision_agrees_with_the_prediction_and_the_verdict_is_kept(rng):
    X = rng.uniform(-0.7, 0.7, (300, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = DPLogisticRegression(private=False, row_norm=1.0, classes=["no", "yes"], sampler=dp.Barker(steps=60))
    model.fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (300,)
    np.testing.assert_array_equal(np.where(decision > 0, "yes", "no"), model.predict(X))
    assert np.isnan(model.decision_function([[np.nan, 0.0]])).all()
    assert str(model.verdict_) == str(model.posterior_.verdict)
