"""What a posterior of Newton says beyond its draws: agreement of the looks, Bayes factors, the plot of the looks."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, multivariate_normal, norm

import pydpmc as dp
from pydpmc.errors import InvalidArgument
from pydpmc.posterior.agreement import Agreement

BUDGET = {"epsilon": 1.0, "delta": 1e-6, "progress": False}
MODEL = dp.LogisticRegression(prior=dp.Normal(scale=2.0), intercept=True)


def records(rng, n=20_000):
    x = rng.uniform(-1, 1, size=(n, 2))
    y = rng.random(n) < 1 / (1 + np.exp(0.5 - 1.5 * x[:, 0]))
    return dp.Data(x, y.astype(float), x_bounds=(-1, 1), columns=("a", "b"))


@pytest.fixture(scope="module")
def post():
    return dp.sample(MODEL, records(np.random.default_rng(5)), dp.Newton(draws=4000), **BUDGET)


def test_the_p_value_is_that_of_chi_square():
    agreement = Agreement(1.5, 20, 0.1, 0.0)
    assert agreement.p_value == pytest.approx(chi2.sf(30.0, 20))
    assert Agreement(1.0, 0, 0.1, 0.0).p_value == 1.0
    assert "disagree" not in str(agreement).split("\n", 1)[1]
    assert "model may be wrong" in str(Agreement(4.0, 20, 0.1, 0.0))


def test_looks_of_the_model_agree_and_the_file_keeps_it(post, tmp_path):
    assert post.agreement.degrees == 3 * (len(post.looks) - 1)
    assert post.agreement.p_value > 1e-6
    assert 0.0 < post.agreement.predictor_sd < 0.5
    for suffix in (".npz", ".nc"):
        post.save(tmp_path / f"post{suffix}")
        assert dp.Posterior.load(tmp_path / f"post{suffix}").agreement == post.agreement


def test_other_samplers_have_no_agreement(rng):
    post = dp.sample(MODEL, records(rng, 200), dp.Barker(steps=50), private=False, progress=False)
    assert post.agreement is None
    with pytest.raises(InvalidArgument, match="plot_looks"):
        post.plot_looks()
    with pytest.raises(InvalidArgument, match="bayes_factor needs draws of Newton"):
        post.bayes_factor()


def test_the_bayes_factor_is_the_ratio_of_prior_and_posterior_density(post):
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    found = post.bayes_factor(0.0, "beta[b]")
    expected = norm.logpdf(0.0, 0.0, 2.0) - norm.logpdf(0.0, draws[:, 2].mean(), draws[:, 2].std(ddof=1))
    assert found.log == pytest.approx(expected, rel=1e-9)
    assert found.df == 1
    both = post.bayes_factor([1.5, 0.0], "beta")
    posterior = multivariate_normal(draws[:, 1:].mean(axis=0), np.cov(draws[:, 1:].T)).logpdf([1.5, 0.0])
    assert both.log == pytest.approx(
        multivariate_normal([0, 0], 4 * np.eye(2)).logpdf([1.5, 0.0]) - posterior, rel=1e-9
    )
    assert both.df == 2
    assert float(both) == pytest.approx(math.exp(both.log))


def test_the_bayes_factor_finds_the_slope_that_is_there(post):
    assert post.bayes_factor(0.0, "beta[a]").log > 10.0
    assert post.bayes_factor(0.0, "beta[b]").log < 3.0
    assert "free parameters" in str(post.bayes_factor(0.0, "beta[a]"))


def test_wrong_hypotheses_are_refused(post, rng):
    with pytest.raises(InvalidArgument, match="null"):
        post.bayes_factor([0.0, 0.0], "beta[a]")
    with pytest.raises(InvalidArgument, match="no interval for"):
        post.bayes_factor(0.0, "gamma")
    model = dataclasses.replace(MODEL, prior=dp.Laplace(scale=1.0))
    other = dp.sample(model, records(rng, 2000), dp.Newton(draws=100), **BUDGET)
    with pytest.raises(InvalidArgument, match="Normal priors"):
        other.bayes_factor()


def test_the_plot_shows_every_look(post, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed (extra pydpmc[plots])")
    figure = post.plot_looks()
    assert len(figure.axes) == 3
    points = figure.axes[1].collections[-1].get_offsets()
    assert np.asarray(points)[:, 1] == pytest.approx([look.theta[1] for look in post.looks])
    assert len(post.plot_looks(["beta[b]"]).axes) == 1
    plt.close("all")


def test_intervals_beyond_the_draws_grow_as_a_normal_law(post):
    middle = float(np.median(post.draws["beta"][..., 0]))
    low, high = post.interval(0.9)["beta[a]"]
    assert (low, high) == pytest.approx(tuple(np.quantile(post.draws["beta"][..., 0], (0.05, 0.95))))
    inner = np.quantile(post.draws["beta"][..., 0], 1 - 40 / 4000)
    assert post.interval(0.9999)["beta[a]"][1] == pytest.approx(
        middle + (inner - middle) * norm.ppf(0.99995) / norm.ppf(0.99)
    )


def test_the_evidence_is_the_density_of_the_standardised_estimate_averaged_over_the_prior():
    data = dp.Data(np.r_[np.ones(600), np.zeros(400)])
    found = dp.sample(dp.BernoulliLogit(prior=dp.Normal(scale=0.7)), data, dp.Newton(), **BUDGET).evidence
    root, estimate = math.sqrt(found.precision[0, 0]), found.estimate[0]

    def joint(theta):
        return norm.pdf(root * (estimate - theta)) * norm.pdf(theta, 0.0, 0.7)

    assert found.log == pytest.approx(math.log(quad(joint, -5.0, 5.0, points=[estimate])[0]), abs=1e-6)
    assert found.fixed("theta", 0.1).log == pytest.approx(norm.logpdf(root * (estimate - 0.1)), abs=1e-9)
    assert float(found) == found.log
    assert "log evidence" in str(found)


def test_differences_of_evidence_are_bayes_factors(post):
    for null, names in ((0.0, "beta[b]"), ([1.4, 0.1], "beta"), (0.3, None)):
        factor = post.evidence.log - post.evidence.fixed(names, null).log
        assert factor == pytest.approx(post.bayes_factor(null, names).log, rel=1e-6)
    with pytest.raises(InvalidArgument, match="null must be one number"):
        post.evidence.fixed("beta[a]", [0.0, 1.0])


def test_evidence_is_refused_without_looks_or_normal_priors(rng):
    other = dp.sample(MODEL, records(rng, 200), dp.Barker(steps=50), private=False, progress=False)
    with pytest.raises(InvalidArgument, match="evidence needs draws of Newton"):
        _ = other.evidence
    model = dataclasses.replace(MODEL, prior=dp.Laplace(scale=1.0))
    other = dp.sample(model, records(rng, 2000), dp.Newton(draws=100), **BUDGET)
    with pytest.raises(InvalidArgument, match="evidence needs Normal priors"):
        _ = other.evidence
