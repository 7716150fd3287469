"""Bambi's formulas run through from_pymc: a model that is built on a made-up table, whose columns are its inputs."""

import numpy as np
import own_logistic
import pytest
from scipy.stats import norm, poisson

import pydpmc as dp

NORMAL = {"mu": 0.0, "sigma": 1.0}


def formula(text, family):
    """Return a Bambi model of a made-up table, and the table; its priors are given, not scaled by the table."""
    for module in ("pymc", "bambi"):
        own_logistic.needs(module)
    import bambi
    import pandas

    random = np.random.default_rng(0)
    made_up = pandas.DataFrame(
        {"a": random.uniform(-1, 1, 8), "b": random.uniform(-1, 1, 8), "y": [0, 1, 0, 1, 1, 0, 1, 1]}
    )
    prior = bambi.Prior("Normal", **NORMAL)
    model = bambi.Model(
        text, made_up, family=family, center_predictors=False, priors={"Intercept": prior, "common": prior}
    )
    model.build()
    return model.backend.model, made_up


def own(text, family):
    model, made_up = formula(text, family)
    inputs = {"x": made_up[["a", "b"]].to_numpy(), "y": made_up["y"].to_numpy()}
    return dp.models.from_pymc(model, observed=["y"], inputs=inputs)


def logliks(model, theta, x, y):
    public = dp.Data(x, y, x_bounds=(-1, 1), y_bounds=(0, 9)).public
    out = np.empty(len(y))
    model.code.functions(public)[0](np.asarray(theta), x, y, out)
    return out


def test_log_likelihoods_are_those_of_the_formula():
    random = np.random.default_rng(1)
    x, y = random.uniform(-1, 1, (20, 2)), random.integers(0, 2, 20).astype(float)
    theta = np.array([0.3, 0.7, -0.4])
    eta = 0.3 + x @ theta[1:]
    found = logliks(own("y ~ a + b", "bernoulli"), theta, x, y)
    assert np.allclose(found, y * eta - np.log1p(np.exp(eta)), atol=1e-9)
    found = logliks(own("y ~ a + b", "poisson"), theta, x, y)
    assert np.allclose(found, poisson.logpmf(y, np.exp(eta)), atol=1e-9)
    gaussian = own("y ~ a + b", "gaussian")
    names = [site.name for site in gaussian.sites]
    assert set(names) == {"sigma", "Intercept", "a", "b"}
    at = {"sigma": 0.0, "Intercept": 0.3, "a": 0.7, "b": -0.4}  # sigma by its logarithm
    found = logliks(gaussian, [at[name] for name in names], x, y)
    assert np.allclose(found, norm.logpdf(y, eta, 1.0), atol=1e-9)


def test_a_formula_runs_with_an_epsilon_and_agrees_with_the_built_in_model():
    model = own("y ~ a + b", "bernoulli")
    assert model.priors()["a"] == dp.Normal(1.0)
    random = np.random.default_rng(2)
    x = random.uniform(-1, 1, (8000, 2))
    data = dp.Data(x, random.random(8000) < 1 / (1 + np.exp(-0.3 - x @ [0.8, -0.4])), x_bounds=(-1, 1), y_bounds=(0, 1))
    options = {"epsilon": 3.0, "delta": 1e-6, "progress": False, "seed": 1}
    post = dp.sample(model, data, dp.Newton(clip=3.0, curvature="outer"), **options)
    built_in = dp.sample(dp.LogisticRegression(intercept=True), data, dp.Newton(), **options)
    for j, name in enumerate("ab"):
        there = built_in.draws["beta"][..., j]
        assert abs(post.draws[name].mean() - there.mean()) < 5 * there.std()


def test_a_column_that_does_not_enter_as_it_is_is_refused():
    model, made_up = formula("y ~ scale(a) + b", "bernoulli")
    inputs = {"x": made_up[["a", "b"]].to_numpy(), "y": made_up["y"].to_numpy()}
    with pytest.raises(dp.errors.InvalidArgument, match="columns enter as they are"):
        dp.models.from_pymc(model, observed=["y"], inputs=inputs)
