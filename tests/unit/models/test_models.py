"""Every listed model: the compiled likelihood equals its formula, and its stated constants hold and are met."""

import dataclasses

import numpy as np
import pytest
from scipy.special import log_ndtr

import pydpmc as dp
from pydpmc import _core, models

LONG = np.longdouble


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def huber(z, threshold):
    z = np.abs(z)
    return np.where(z <= threshold, z**2 / 2, threshold * z - threshold**2 / 2)


def linear(theta, x, sigma):
    known = sigma is not None
    return x @ (theta if known else theta[:-1]), LONG(sigma) if known else np.exp(theta[-1])


def linear_regression(model, x, y, theta):
    eta, sigma = linear(theta, x, model.sigma)
    return -(((y - eta) / sigma) ** 2) / 2 - np.log(sigma)


def gaussian_mixture(model, x, y, theta):
    first, second = (-((x[:, 0] - m) ** 2) / (2 * LONG(model.variance)) for m in (theta[0], theta[0] + theta[1]))
    return np.logaddexp(first, second)


def softmax_regression(model, x, y, theta):
    k, shift = model.classes, model.classes if model.intercept else 0
    slopes = theta[shift:].reshape(k, -1).T
    eta = x[:, 1:] @ slopes + theta[:shift] if shift else x @ slopes
    return eta[np.arange(len(x)), y.astype(int)] - np.logaddexp.reduce(eta, axis=1)


def negative_binomial(model, x, y, theta):
    eta, a = x @ theta, LONG(model.dispersion)
    return y * eta - (y + 1 / a) * np.log1p(a * np.exp(eta))


# The formulas, with the intercept as a column of ones in x.
FORMULAS = {
    dp.LogisticRegression: lambda m, x, y, t: y * (x @ t) - softplus(x @ t),
    dp.LinearRegression: linear_regression,
    dp.BernoulliLogit: lambda m, x, y, t: x[:, 0] * t[0] - softplus(t[0]),
    dp.GaussianMean: lambda m, x, y, t: -(((x - t) / LONG(m.sigma)) ** 2).sum(axis=1) / 2,
    dp.GaussianMixture: gaussian_mixture,
    dp.PoissonRegression: lambda m, x, y, t: y * (x @ t) - np.exp(x @ t),
    dp.NegativeBinomialRegression: negative_binomial,
    dp.ProbitRegression: lambda m, x, y, t: log_ndtr(((2 * y - 1) * (x @ t)).astype(float)).astype(LONG),
    dp.HingeClassifier: lambda m, x, y, t: -np.maximum(0, 1 - (2 * y - 1) * (x @ t)),
    dp.SoftmaxRegression: softmax_regression,
    dp.HuberRegression: lambda m, x, y, t: -huber((y - x @ t) / LONG(m.sigma), LONG(m.threshold)),
}
VARIANTS = [
    dp.LogisticRegression(),
    dp.LogisticRegression(intercept=True),
    dp.LinearRegression(),
    dp.LinearRegression(intercept=True),
    dp.LinearRegression(sigma=0.7, intercept=True),
    dp.BernoulliLogit(),
    dp.GaussianMean(sigma=0.7),
    dp.GaussianMixture(variance=1.3),
    dp.PoissonRegression(),
    dp.PoissonRegression(intercept=True),
    dp.NegativeBinomialRegression(dispersion=0.4),
    dp.NegativeBinomialRegression(dispersion=7.0, intercept=True),
    dp.ProbitRegression(),
    dp.ProbitRegression(intercept=True),
    dp.HingeClassifier(intercept=True),
    dp.HuberRegression(sigma=0.6, threshold=1.1),
    dp.HuberRegression(intercept=True),
    dp.SoftmaxRegression(),
    dp.SoftmaxRegression(classes=3),
    dp.SoftmaxRegression(classes=5, intercept=True),
]


def make_data(model, rng, n, columns, **bounds):
    columns = 1 if model.one_column else columns
    x = rng.normal(size=(n, columns))
    if isinstance(model, dp.BernoulliLogit):
        x = rng.integers(0, 2, (n, 1)).astype(float)
    y = None
    if model.needs_target:
        y = rng.integers(0, model.label_count or 5, n).astype(float)
    return dp.Data(x, y, **bounds)


def log_likelihoods(model, data, theta):
    public = data.public
    return _core.log_likelihoods(
        rows=data._rows,
        columns=public.width,
        has_target=public.has_target,
        model=model.core_name,
        intercept=model.has_intercept,
        constants=model.constants,
        theta=list(map(float, theta)),
    )


def features(model, data):
    x = data._rows[:, : data.public.width].astype(LONG)
    y = data._rows[:, data.public.width].astype(LONG) if data.public.has_target else None
    return (np.column_stack([np.ones(len(x), LONG), x]) if model.has_intercept else x), y


def test_every_listed_model_has_a_formula_here_and_a_variant():
    assert set(FORMULAS) == set(models.ALL) == {type(v) for v in VARIANTS}
    assert len({m.core_name for m in models.ALL}) == len(models.ALL)


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_compiled_likelihood_differences_equal_the_formula(model, rng):
    for columns in (1, 2, 3, 4, 5, 8, 13):
        data = make_data(model, rng, 53, columns)
        x, y = features(model, data)
        formula = FORMULAS[type(model)]
        for _ in range(5):
            now, next_ = rng.normal(size=(2, model.dim(data.public))) * 0.7
            exact_now, exact_next = (formula(model, x, y, t.astype(LONG)) for t in (now, next_))
            found = log_likelihoods(model, data, next_) - log_likelihoods(model, data, now)
            size = 1 + np.abs(exact_now) + np.abs(exact_next)
            assert np.max(np.abs(found - (exact_next - exact_now)) / size) < 1e-12


BOUNDED = [v for v in VARIANTS if v.lipschitz(dp.Public(9, ("a",), v.needs_target, row_norm=1.0)) is not None]
BOUNDS = [{"row_norm": 1.7}, {"x_bounds": (-0.4, 0.9)}, {"row_norm": 0.6, "x_bounds": (-2.0, 1.0)}]


def worst_records(model, public, rng):
    """Records on the edge of what is declared: corners of the box, scaled to the sphere."""
    if isinstance(model, dp.BernoulliLogit):
        return np.array([[0.0], [1.0]])
    low, high = np.array(public.x_bounds or [(-9.0, 9.0)] * public.width).T
    corners = np.where(rng.random((40, public.width)) < 0.5, low, high)
    longest = np.where(np.abs(low) > np.abs(high), low, high)
    return np.concatenate([corners, [longest]])


def coefficients_along(model, feature, rng):
    """The direction of theta in which the predictor (or one class's against another's) grows fastest."""
    if not isinstance(model, dp.SoftmaxRegression):
        return feature
    first, second = rng.choice(model.classes, 2, replace=False)
    contrast = np.eye(model.classes)[first] - np.eye(model.classes)[second]
    by_class = np.outer(contrast, feature)
    return np.concatenate([by_class[:, 0], by_class[:, 1:].ravel()]) if model.intercept else by_class.ravel()


def test_these_models_state_a_lipschitz_constant():
    assert {type(v).__name__ for v in BOUNDED} == {
        "LogisticRegression",
        "BernoulliLogit",
        "HingeClassifier",
        "HuberRegression",
        "SoftmaxRegression",
    }


@pytest.mark.parametrize("bounds", BOUNDS, ids=repr)
@pytest.mark.parametrize("model", BOUNDED, ids=repr)
def test_the_lipschitz_constant_holds_and_is_nearly_attained(model, bounds, rng):
    if isinstance(model, dp.BernoulliLogit):
        bounds = {}
    public = make_data(model, rng, 4, 3, **bounds).public
    x = worst_records(model, public, rng)
    targets = [float(c) for c in range(model.label_count)] if model.label_count else [-60.0, 0.0, 60.0]
    if model.needs_target:
        x, y = np.repeat(x, len(targets), axis=0), np.tile(targets, len(x))
    data = dp.Data(x, y if model.needs_target else None, **bounds)
    stated, steepest = model.lipschitz(data.public), 0.0
    feature = features(model, data)[0].astype(float)
    dim = model.dim(data.public)
    for _ in range(300):
        along = coefficients_along(model, feature[rng.integers(len(feature))] + 1e-9, rng)
        direction = along / np.linalg.norm(along) if rng.random() < 0.7 else rng.normal(size=dim)
        theta = 30 * rng.normal() * direction + rng.normal(size=dim)
        proposal = theta + 10.0 ** rng.uniform(-3, 1) * direction
        ratios = log_likelihoods(model, data, proposal) - log_likelihoods(model, data, theta)
        steepest = max(steepest, np.abs(ratios).max() / np.linalg.norm(proposal - theta))
    assert steepest <= stated * (1 + 1e-9)
    assert steepest >= 0.95 * stated


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_without_declared_bounds_no_regression_states_a_constant(model):
    public = dp.Public(9, ("a",), model.needs_target)
    expected = 1.0 if isinstance(model, dp.BernoulliLogit) else None
    assert model.lipschitz(public) == expected


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_contract_of_a_model(model):
    public = dp.Public(
        50, ("a",), model.needs_target, row_norm=1.0, y_bounds=(0.0, 5.0) if model.needs_target else None
    )
    model.check_public(public)
    blocks = model.blocks(public)
    assert model.dim(public) == sum(b.size for b in blocks)
    assert len({b.name for b in blocks}) == len(blocks)
    assert model.prior_table(public).shape == (model.dim(public), 5)
    assert model.centre(public).shape == model.prior_precision(public).shape == (model.dim(public),)
    assert np.isfinite(model.centre(public)).all()
    assert model.typical_lipschitz(public) > 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.prior = dp.Flat()
    assert "lipschitz" in type(model).__doc__.lower()


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_a_table_that_does_not_fit_is_refused(model):
    with pytest.raises(ValueError, match="y to Data"):
        model.check_public(dp.Public(9, ("a",), not model.needs_target))
    if model.one_column:
        with pytest.raises(ValueError, match="takes one column, but x has 2"):
            model.check_public(dp.Public(9, ("a", "b"), model.needs_target))


def test_priors_may_be_given_per_block_and_must_fit():
    public = dp.Public(9, ("a", "b"), True)
    model = dp.LinearRegression(
        prior={"beta": dp.Laplace(2.0), "intercept": dp.Flat(), "sigma": dp.StudentT(3.0)}, intercept=True
    )
    model.check_public(public)
    table = model.prior_table(public)
    np.testing.assert_array_equal(table[:, 0], [0, 2, 2, 3])
    np.testing.assert_array_equal(table[:, 4], [0, 0, 0, 1])
    with pytest.raises(ValueError, match="no entry for the block 'sigma'"):
        dp.LinearRegression(prior={"beta": dp.Normal()}).check_public(public)
    with pytest.raises(ValueError, match="unknown blocks \\['gamma'\\]"):
        dp.LogisticRegression(prior={"beta": dp.Normal(), "gamma": dp.Flat()}).check_public(public)
    with pytest.raises(ValueError, match="prior scale has 3 entries but its block has 2"):
        dp.LogisticRegression(prior=dp.Normal(scale=[1.0, 2.0, 3.0])).check_public(public)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (dp.LinearRegression, "sigma"),
        (dp.HuberRegression, "sigma"),
        (dp.HuberRegression, "threshold"),
        (dp.GaussianMean, "sigma"),
        (dp.GaussianMixture, "variance"),
        (dp.NegativeBinomialRegression, "dispersion"),
    ],
)
def test_constants_of_a_likelihood_must_be_positive_and_finite(kind, name, bad):
    with pytest.raises(ValueError, match=f"{name} must be a positive finite number"):
        kind(**{name: bad})


@pytest.mark.parametrize("dispersion", [0.02, 0.5, 3.0])
@pytest.mark.parametrize("most", [1.0, 40.0])
def test_counts_with_declared_bounds_have_a_lipschitz_constant_and_a_smoothness(dispersion, most, rng):
    model = dp.NegativeBinomialRegression(dispersion=dispersion)
    data = dp.Data(np.ones((2, 1)), np.array([0.0, 1e9]), row_norm=1.0, y_bounds=(0.0, most))
    eta = np.linspace(-40.0, 40.0, 8001)
    loglik = np.array([log_likelihoods(model, data, [t]) for t in eta])
    slopes = np.abs(np.diff(loglik, axis=0)) / np.diff(eta)[:, None]
    assert 0.99 * model.lipschitz(data.public) < slopes.max() <= model.lipschitz(data.public) * (1 + 1e-9)
    bends = -np.diff(loglik, 2, axis=0) / (eta[1] - eta[0]) ** 2
    assert bends.min() > -1e-7 * model.lipschitz(data.public)
    assert 0.99 * model.smoothness(data.public) < bends.max() <= model.smoothness(data.public) * (1 + 1e-6)
    for bounds in (None, (-1.0, most)):
        unknown = dp.Public(9, ("a",), True, row_norm=1.0, y_bounds=bounds)
        assert model.lipschitz(unknown) is model.smoothness(unknown) is model.information(unknown) is None


def test_a_dispersion_out_of_range_is_refused():
    for dispersion in (1e-13, 1e13):
        with pytest.raises(ValueError, match="dispersion must lie between"):
            dp.NegativeBinomialRegression(dispersion=dispersion)


def test_a_probit_has_its_smoothness_and_its_typical_slope(rng):
    model = dp.ProbitRegression()
    data = dp.Data(np.ones((2, 1)), np.array([0.0, 1.0]), row_norm=1.0)
    eta = np.linspace(-30.0, 30.0, 6001)
    loglik = np.array([log_likelihoods(model, data, [t]) for t in eta])
    bends = -np.diff(loglik, 2, axis=0) / (eta[1] - eta[0]) ** 2
    assert bends.min() > -1e-9
    assert 0.99 < bends.max() <= model.smoothness(data.public) * (1 + 1e-6)
    at = np.searchsorted(eta, -2.0)
    slope = (loglik[at + 1, 1] - loglik[at - 1, 1]) / (eta[at + 1] - eta[at - 1])
    assert model.typical_lipschitz(data.public) == pytest.approx(slope, rel=1e-3)
