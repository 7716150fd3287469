"""Predictions: averages over draws of the model's own mean, within the declared bounds."""

import numpy as np
import pytest
from scipy.special import expit

import pydpmc as dp


def fitted(model, rng, n=200, **facts):
    x = rng.uniform(-1, 1, (n, 2))
    y = rng.integers(0, 2, n).astype(float)
    data = dp.Data(x, y, **{"row_norm": 1.0, "y_bounds": (0.0, 4.0), "columns": ["a", "b"]} | facts)
    plan = dp.plan(model, data.public, dp.Barker(steps=300, scale=0.2), chains=2)
    return plan.run(data, progress=False)


def flat(post, name):
    return post.draws[name].reshape(-1, post.draws[name].shape[2])


LINKS = [
    (dp.LogisticRegression(intercept=True), expit),
    (dp.LinearRegression(intercept=True), lambda eta: eta),
    (dp.HuberRegression(intercept=True), lambda eta: eta),
    (dp.PoissonRegression(intercept=True), np.exp),
    (dp.HingeClassifier(intercept=True), lambda eta: (eta > 0).astype(float)),
]


@pytest.mark.parametrize(("model", "link"), LINKS, ids=lambda v: type(v).__name__)
def test_predictions_average_the_mean_function_over_the_draws(model, link, rng):
    post = fitted(model, rng)
    new = np.array([[0.3, -0.4], [0.0, 0.1]])
    values = link(flat(post, "beta") @ new.T + flat(post, "intercept"))
    prediction = post.predict(new, level=0.8, draws=10_000)
    np.testing.assert_allclose(prediction.mean, values.mean(axis=0))
    np.testing.assert_allclose(prediction.sd, values.std(axis=0, ddof=1))
    np.testing.assert_allclose([prediction.low, prediction.high], np.quantile(values, (0.1, 0.9), axis=0))
    np.testing.assert_array_equal(np.asarray(prediction), prediction.mean)


def test_probabilities_sum_to_one_and_end_in_the_mean(rng):
    post = fitted(dp.LogisticRegression(), rng)
    new = rng.uniform(-0.5, 0.5, (7, 2))
    probabilities = post.predict_proba(new)
    assert probabilities.mean.shape == (7, 2)
    np.testing.assert_allclose(probabilities.mean.sum(axis=1), 1.0)
    np.testing.assert_allclose(probabilities.mean[:, 1], post.predict(new).mean)
    assert ((probabilities.low <= probabilities.mean) & (probabilities.mean <= probabilities.high)).all()


def test_new_records_are_bounded_as_the_records_were(rng):
    post = fitted(dp.LogisticRegression(), rng)
    np.testing.assert_allclose(post.predict([[30.0, 40.0]]).mean, post.predict([[0.6, 0.8]]).mean)
    clamped = fitted(dp.LogisticRegression(), rng, row_norm=None, x_bounds=(-1.0, 1.0))
    np.testing.assert_allclose(clamped.predict([[5.0, 0.0]]).mean, clamped.predict([[1.0, 0.0]]).mean)


def test_a_record_with_a_missing_value_has_no_prediction(rng):
    prediction = fitted(dp.LogisticRegression(), rng).predict([[np.nan, 0.0], [0.1, 0.2]])
    assert np.isnan(prediction.mean).tolist() == [True, False]
    assert np.isnan(prediction.high).tolist() == [True, False]


def test_many_records_are_done_in_parts(rng, monkeypatch):
    post = fitted(dp.LogisticRegression(), rng)
    new = rng.uniform(-1, 1, (50, 2))
    whole = post.predict(new).mean
    monkeypatch.setattr("pydpmc.posterior.prediction.CELLS", 4000)
    np.testing.assert_allclose(post.predict(new).mean, whole)


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_a_saved_posterior_predicts_the_same(suffix, rng, tmp_path):
    post = fitted(dp.LogisticRegression(prior={"beta": dp.Normal(scale=(1.0, 2.0))}), rng)
    post.save(tmp_path / f"post.{suffix}")
    again = dp.Posterior.load(tmp_path / f"post.{suffix}")
    assert again.plan == post.plan
    np.testing.assert_array_equal(again.predict([[0.1, 0.2]]).mean, post.predict([[0.1, 0.2]]).mean)


def test_wrong_calls_are_refused_by_name(rng):
    post = fitted(dp.LogisticRegression(), rng)
    for x in ([0.1, 0.2], [[0.1]], np.zeros((0, 2))):
        with pytest.raises(ValueError, match="x must have"):
            post.predict(x)
    with pytest.raises(ValueError, match="level must lie in"):
        post.predict([[0.1, 0.2]], level=1.0)
    with pytest.raises(ValueError, match="draws must be"):
        post.predict([[0.1, 0.2]], draws=0)
    with pytest.raises(ValueError, match="LinearRegression has no probabilities"):
        fitted(dp.LinearRegression(), rng).predict_proba([[0.1, 0.2]])


def test_a_model_without_features_says_so(rng):
    data = dp.Data(rng.integers(0, 2, 50))
    plan = dp.plan(dp.BernoulliLogit(), data.public, dp.Barker(steps=20, scale=0.2))
    with pytest.raises(ValueError, match="BernoulliLogit has no mean given features"):
        plan.run(data, progress=False).predict([[1.0]])
