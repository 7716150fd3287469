"""Softmax regression: accurate and total in the core, names of its coefficients, and what is refused before a run."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core

ISAS = _core.available_isas()


def log_likelihoods(predictors, y):
    """Through the core: one column of ones per record's class, so that theta are the predictors themselves."""
    predictors = np.asarray(predictors, dtype=float)
    rows = np.column_stack([np.ones(len(y)), y]).astype(float)
    return _core.log_likelihoods(
        rows=rows,
        columns=1,
        has_target=True,
        model="softmax_regression",
        intercept=False,
        constants=(float(len(predictors)), 0.0),
        theta=predictors.tolist(),
    )


@pytest.mark.parametrize("isa", ISAS)
def test_the_logarithm_is_accurate(isa):
    assert _core.use_isa(isa)
    for k in (2, 3, 4, 7, 8, 100, 1023, 1024, 1025, 65536):
        found = log_likelihoods(np.full(k, 3.7), [0.0, k - 1.0])
        assert np.max(np.abs(found / -np.log(np.longdouble(k)) - 1)) < 1e-15, k


@pytest.mark.parametrize("isa", ISAS)
def test_the_log_likelihood_is_accurate_for_any_spread(isa, rng):
    assert _core.use_isa(isa)
    for scale in (1e-3, 1.0, 30.0, 500.0, 1e5, 1e300):
        eta = scale * rng.normal(size=6)
        exact = eta.astype(np.longdouble) - np.logaddexp.reduce(eta.astype(np.longdouble))
        found = log_likelihoods(eta, np.arange(6.0))
        assert np.max(np.abs(found - exact) / np.maximum(1, np.abs(exact))) < 1e-15


def test_what_is_no_class_or_no_number_says_nothing():
    assert np.isnan(log_likelihoods([0.0, 1.0], [-1.0, 2.0, 0.5, np.nan, np.inf, 1e300])).all()
    assert np.isnan(log_likelihoods([np.inf, 1.0, 2.0], [0.0])).all()
    assert log_likelihoods([-np.inf, 1.0, 2.0], [0.0]) == -np.inf
    assert np.isnan(log_likelihoods([0.0, np.nan, 2.0], [0.0, 1.0, 2.0])).all()


def test_labels_name_class_and_column():
    x, y = np.zeros((9, 2)), np.tile([0, 1, 2], 3)
    data = dp.Data(x, y, row_norm=1.0, columns=("age", "income"))
    model = dp.SoftmaxRegression(classes=3, intercept=True)
    post = dp.sample(model, data, dp.SGLD(steps=5, step_size=0.01), private=False, progress=False)
    assert post.draws["beta"].shape[2] == 6
    assert list(post.summary().rows) == [
        *(f"intercept[{c}]" for c in range(3)),
        *(f"beta[{c}, {name}]" for c in range(3) for name in ("age", "income")),
    ]


@pytest.mark.parametrize("bad", [-1, 3, 0.5])
def test_a_target_that_is_no_class_contributes_nothing(bad):
    y = np.tile([0.0, 1.0, 2.0], 20)
    tables = [np.where(np.arange(60) == 7, value, y) for value in (bad, np.nan)]
    x = np.linspace(-1, 1, 60)[:, None]
    draws = []
    for target in tables:
        data = dp.Data(x, target, row_norm=1.0)
        plan = dp.plan(dp.SoftmaxRegression(classes=3), data.public, dp.SGLD(steps=5, step_size=0.01))
        draws.append(plan.run(data, progress=False, seed=1).draws["beta"])
    np.testing.assert_array_equal(*draws)


def test_a_dropped_record_is_no_wrong_target_and_counts_for_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 2)), rng.integers(0, 3, 50).astype(float)
    draws = []
    for broken in (np.nan, np.inf):
        x[11], y[13] = (broken, 0.0), broken
        data = dp.Data(x, y, row_norm=1.0, on_invalid="drop")
        plan = dp.plan(dp.SoftmaxRegression(classes=3), data.public, dp.SGLD(steps=50, step_size=0.01, sampling="full"))
        draws.append(plan.run(data, seed=1, progress=False).draws["beta"])
    x[[11, 13]], y[[11, 13]] = np.nan, np.nan
    data = dp.Data(x, y, row_norm=1.0, on_invalid="drop")
    draws.append(plan.run(data, seed=1, progress=False).draws["beta"])
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])


@pytest.mark.parametrize("prior", [dp.Flat(), {"beta": dp.Normal(), "intercept": dp.Flat()}])
def test_a_flat_prior_is_refused(prior):
    public = dp.Public(9, ("a",), True, row_norm=1.0)
    with pytest.raises(ValueError, match=r"prior: Flat on .* gives no proper posterior"):
        dp.plan(dp.SoftmaxRegression(prior=prior, intercept=True), public, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("bad", [1, 0, -2, 2.5, 65_537, True, "3"])
def test_impossible_numbers_of_classes_are_refused(bad):
    with pytest.raises(ValueError, match="classes must be a whole number from 2"):
        dp.SoftmaxRegression(classes=bad)


def test_the_constants_are_the_derived_ones():
    public = dp.Public(9, ("a", "b"), True, row_norm=1.5)
    for k in (2, 7):
        assert dp.SoftmaxRegression(classes=k).lipschitz(public) == pytest.approx(2**0.5 * 1.5)
        assert dp.SoftmaxRegression(classes=k).smoothness(public) == pytest.approx(1.5**2 / 2)
    assert dp.SoftmaxRegression(intercept=True).lipschitz(public) == pytest.approx(2**0.5 * (1.5**2 + 1) ** 0.5)
    assert dp.SoftmaxRegression().information(public) == dp.LogisticRegression().information(public)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_smoothness_holds_and_is_nearly_attained(classes, rng):
    """The curvature of minus the log-likelihood along any unit direction, by second differences."""
    steepest, h = 0.0, 1e-3
    for _ in range(400):
        eta = rng.normal(size=classes) * rng.choice([0.1, 3.0])
        eta[2:] -= 20.0 * rng.integers(2)
        direction = rng.normal(size=classes)
        direction[2:] *= rng.integers(2)
        direction /= np.linalg.norm(direction)
        values = [log_likelihoods(eta + s * h * direction, [0.0])[0] for s in (-1, 0, 1)]
        steepest = max(steepest, -(values[0] - 2 * values[1] + values[2]) / h**2)
    assert 0.45 < steepest <= 0.5 * (1 + 1e-6)
