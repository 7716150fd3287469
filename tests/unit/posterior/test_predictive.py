"""New observations for public rows: drawn by the model with released draws, or with draws from the prior."""

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc.errors import InvalidArgument

NEW = np.array([[0.5, 0.1], [-0.6, 0.2], [0.0, 0.0]])


def fitted(model, rng, n=400, chains=2, **facts):
    x = rng.uniform(-0.7, 0.7, (n, 2))
    y = rng.integers(0, 2, n).astype(float) if model.needs_target else None
    data = dp.Data(x, y, **{"row_norm": 1.0, **({"y_bounds": (0.0, 4.0)} if model.needs_target else {})} | facts)
    plan = dp.plan(model, data.public, dp.Barker(steps=4000, scale=0.05), chains=chains, private=False)
    return plan.run(data, progress=False)


@pytest.mark.parametrize(
    "model",
    [
        dp.LogisticRegression(intercept=True),
        dp.ProbitRegression(intercept=True),
        dp.LinearRegression(sigma=0.5, intercept=True),
        dp.PoissonRegression(intercept=True),
        dp.NegativeBinomialRegression(dispersion=0.5, intercept=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_observations_average_to_the_predicted_mean(model, rng):
    post = fitted(model, rng)
    drawn = post.posterior_predictive(NEW, draws=6000, seed=1)
    assert drawn.values.shape == (2, 3000, 3)
    expected = post.predict(NEW, draws=6000).mean
    spread = drawn.values.std(axis=(0, 1)) / np.sqrt(6000)
    assert (np.abs(drawn.values.mean(axis=(0, 1)) - expected) < 5 * spread).all()


def test_each_observation_is_made_with_the_parameters_of_its_draw(rng):
    post = fitted(dp.LinearRegression(sigma=1e-9, intercept=True), rng)
    drawn = post.posterior_predictive(NEW, draws=50)
    mean = drawn.parameters["intercept"] + drawn.parameters["beta"] @ NEW.T
    np.testing.assert_allclose(drawn.values, mean, atol=1e-7)
    assert np.isin(drawn.parameters["beta"], post.draws["beta"]).all()


def test_the_prior_predictive_has_the_spread_of_the_prior(rng):
    post = fitted(dp.LinearRegression(sigma=0.5, prior=dp.Normal(scale=2.0)), rng)
    drawn = post.prior_predictive(NEW[:1], draws=4000, seed=2).values.ravel()
    spread = np.sqrt(4.0 * (NEW[0] ** 2).sum() + 0.25)
    assert stats.kstest(drawn, stats.norm(scale=spread).cdf).pvalue > 1e-4
    assert abs(post.posterior_predictive(NEW[:1], draws=4000).values.std() - spread) > 0.1


def test_intervals_of_observations_are_wider_than_those_of_means(rng):
    post = fitted(dp.LinearRegression(sigma=0.5, intercept=True), rng)
    low, high = post.posterior_predictive(NEW).interval(0.9)
    mean = post.predict(NEW, level=0.9)
    assert ((high - low) > 1.5).all()
    assert ((mean.high - mean.low) < 1.0).all()


def test_a_row_with_a_missing_value_has_no_observation(rng):
    post = fitted(dp.LogisticRegression(), rng)
    drawn = post.posterior_predictive([[0.1, np.nan], [0.1, 0.2]])
    assert np.isnan(drawn.values[:, :, 0]).all()
    assert np.isfinite(drawn.values[:, :, 1]).all()


def test_a_model_without_a_target_draws_records(rng):
    post = fitted(dp.GaussianMean(sigma=0.5), rng)
    assert post.posterior_predictive(draws=100).values.shape == (2, 50, 1, 2)
    with pytest.raises(InvalidArgument, match="leave x out"):
        post.posterior_predictive(NEW)


def test_what_cannot_be_drawn_is_refused_by_name(rng):
    post = fitted(dp.LogisticRegression(prior=dp.Flat()), rng)
    with pytest.raises(InvalidArgument, match="prior is Flat"):
        post.prior_predictive(NEW)
    with pytest.raises(InvalidArgument, match="x must be given"):
        post.posterior_predictive()
    with pytest.raises(InvalidArgument, match="draws x rows"):
        post.posterior_predictive(np.zeros((100_000, 2)), draws=10_000)


def test_arviz_has_the_groups(rng):
    az = pytest.importorskip("arviz", reason="arviz is not installed (extra pydpmc[arviz])")
    post = fitted(dp.LogisticRegression(intercept=True), rng, columns=["a", "b"])
    tree = post.to_arviz(x=NEW, draws=40, seed=3)
    assert tree["prior"]["beta"].shape == (1, 40, 2)
    assert list(tree["prior"]["beta"].coords["beta_dim"].values) == ["a", "b"]
    assert tree["posterior_predictive"]["y"].shape == (2, 20, 3)
    assert tree["prior_predictive"]["y"].shape == (1, 40, 3)
    without = fitted(dp.LogisticRegression(prior=dp.Flat()), rng).to_arviz()
    groups = without.children if hasattr(without, "children") else without.groups()  # ArviZ 1.x, and 0.x
    assert "posterior" in groups
    assert "posterior_predictive" not in groups
    assert az.__version__


@pytest.mark.filterwarnings("ignore:Passing a dict or None as alias_mapping")  # matplotlib 3.11 says so of ArviZ 0.x
def test_arviz_draws_prior_and_posterior_of_either_generation(rng, monkeypatch):
    az = pytest.importorskip("arviz", reason="arviz is not installed (extra pydpmc[arviz])")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra pydpmc[plots])")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    tree = fitted(dp.LogisticRegression(), rng, columns=["a", "b"]).to_arviz(draws=40, seed=3)
    drawn = az.plot_prior_posterior if hasattr(az, "plot_prior_posterior") else az.plot_dist_comparison
    drawn(tree)
    assert plt.get_fignums()
    plt.close("all")


def test_a_softmax_draws_classes_and_its_mean_is_refused_by_name(rng):
    post = fitted(dp.SoftmaxRegression(classes=2), rng)
    assert set(np.unique(post.posterior_predictive(NEW).values)) == {0.0, 1.0}
    with pytest.raises(InvalidArgument, match="use predict_proba"):
        post.predict(NEW)


def test_its_repr_is_a_line(rng):
    data = dp.Data(rng.uniform(-1.0, 1.0, (50, 2)), np.zeros(50), row_norm=1.0)
    post = dp.sample(dp.LogisticRegression(), data, dp.NUTS(draws=20, warmup=20), private=False, progress=False)
    shown = repr(post.posterior_predictive(data_rows := np.zeros((3, 2)), draws=10))
    assert shown == f"Predictive(posterior_predictive, values of shape (1, 10, {len(data_rows)}), parameters beta)"
