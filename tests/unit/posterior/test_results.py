"""What is made of a posterior: tables, ArviZ, plots, privacy curves."""

import json
import math
import sys
import types

import numpy as np
import pytest
from scipy import stats

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.errors import NotPrivateError
from pydpmc.posterior.densities import prior_densities
from pydpmc.posterior.plots import kernel_density
from pydpmc.posterior.privacy_curves import attack_success, best_guess, epsilon_over_delta, epsilon_over_uses


@pytest.fixture
def post(rng):
    data = dp.Data(rng.normal(size=(80, 2)), rng.integers(0, 2, 80), row_norm=1.0, columns=["age", "under_score"])
    model = dp.LogisticRegression(intercept=True, prior={"beta": dp.Laplace(scale=2.0), "intercept": dp.Flat()})
    return dp.plan(model, data.public, dp.Barker(steps=400, scale=0.3), chains=2).run(data, progress=False)


def test_the_markdown_table_has_every_row_of_the_summary(post):
    text = post.table(columns=["mean", "rhat"], digits=4)
    lines = text.splitlines()
    assert lines[0] == "| parameter | mean | rhat |"
    assert lines[1] == "|---|---:|---:|"
    assert lines[3].startswith(f"| beta[age] | {post.summary()['beta[age]']['mean']:.4g} | ")
    assert len(lines) == 2 + len(post.summary()) + 2
    assert "differentially private" in lines[-1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_become_data_frames(rng, library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    data = dp.Data(rng.integers(0, 2, 400))
    post = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=9000), private=False, progress=False)
    for found in (post.summary(), post.interval(0.8), post.table(columns=["sd", "mean"])):
        frame = getattr(found, f"to_{library}")()
        names = frame.index if library == "pandas" else frame["parameter"]
        assert list(names) == list(found.rows) == ["theta"]
        assert list(frame.columns)[-len(found.rows["theta"]) :] == list(found.rows["theta"])
        for column, value in found.rows["theta"].items():
            assert frame[column].to_list() == pytest.approx([value], nan_ok=True)


def test_a_missing_library_is_named(post, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(dp.errors.MissingExtraError, match="pip install polars"):
        post.summary().to_polars()


def test_the_latex_table_escapes_names(post):
    text = post.table("latex")
    assert r"beta[under\_score]" in text
    assert r"5\%" in text
    assert text.count(r"\\") == 1 + len(post.summary())
    assert text.startswith(r"\begin{table}")


def test_a_table_of_a_void_result_says_so(rng):
    data = dp.Data(rng.integers(0, 2, 80))
    open_ = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=40), private=False, progress=False)
    assert "Without any privacy guarantee" in open_.table()


def test_wrong_tables_are_refused(post):
    with pytest.raises(ValueError, match="columns must be some of"):
        post.table(columns=["median"])
    with pytest.raises(ValueError, match="format must be"):
        post.table("html")


def test_arviz_gets_names_draws_and_guarantee(post):
    az = pytest.importorskip("arviz", reason="arviz is not installed (extra pydpmc[arviz])")
    tree = post.to_arviz()
    kind = "DataTree" if int(az.__version__[0]) >= 1 else "InferenceData"
    assert type(tree).__name__ == kind
    group = tree["posterior"]
    assert list(group["beta"].coords["beta_dim"].values) == ["age", "under_score"]
    np.testing.assert_array_equal(group["beta"].values, post.draws["beta"])
    assert group["intercept"].shape == post.draws["intercept"].shape[:2]
    assert group.attrs["epsilon"] == post.guarantee.epsilon(1e-6)
    assert acc.Guarantee.from_dict(json.loads(group.attrs["guarantee"])) == post.guarantee
    assert post.guarantee.statement() == group.attrs["guarantee_statement"]


def test_arviz_1_gets_a_data_tree(post, monkeypatch):
    base = pytest.importorskip("arviz_base", reason="arviz-base, the data layer of ArviZ 1.x, is not installed")
    monkeypatch.setitem(sys.modules, "arviz", types.SimpleNamespace(__version__="1.0.0", from_dict=base.from_dict))
    tree = post.to_arviz()
    assert type(tree).__name__ == "DataTree"
    np.testing.assert_array_equal(tree["posterior"]["beta"].values, post.draws["beta"])
    assert tree["posterior"].attrs["delta"] == 1e-6


def test_arviz_agrees_on_the_effective_sample_size(post):
    az = pytest.importorskip("arviz", reason="arviz is not installed (extra pydpmc[arviz])")
    theirs = az.ess(post.to_arviz())
    theirs = theirs["posterior"] if "posterior" in getattr(theirs, "children", {}) else theirs
    ours = [post.summary()[f"beta[{name}]"]["ess"] for name in ("age", "under_score")]
    np.testing.assert_allclose(theirs["beta"].values, ours, rtol=0.05)


@pytest.fixture
def pyplot(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra pydpmc[plots])")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_every_plot_draws(post, pyplot, tmp_path):
    for name, axes in (("plot_trace", 6), ("plot_forest", 1), ("plot_prior_posterior", 3), ("plot_privacy", 2)):
        figure = getattr(post, name)()
        assert len(figure.axes) == axes, name
        figure.savefig(tmp_path / f"{name}.png")
    figure = post.plot_trace(["beta[age]"])
    assert len(figure.axes) == 2
    assert figure.axes[0].get_title() == "beta[age]"
    trace = [line.get_ydata() for line in figure.axes[1].lines]
    np.testing.assert_array_equal(trace, post.draws["beta"][:, :, 0])


def test_the_forest_shows_the_quantiles(post, pyplot):
    axis = post.plot_forest(["beta[age]"], level=0.8).axes[0]
    expected = np.quantile(post.draws["beta"][:, :, 0], (0.1, 0.9))
    np.testing.assert_allclose(axis.lines[0].get_xdata(), expected)


def test_wrong_plots_are_refused(post, pyplot):
    with pytest.raises(ValueError, match=r"parameters must be some of .*'beta\[age\]'"):
        post.plot_trace(["beta"])
    with pytest.raises(ValueError, match="level must lie"):
        post.plot_forest(level=90)


def test_a_density_estimate_integrates_to_one_and_finds_the_mode(rng):
    grid, height = kernel_density(rng.normal(3.0, 0.5, 20_000))
    assert height.sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=0.01)
    assert grid[height.argmax()] == pytest.approx(3.0, abs=0.2)


def test_prior_densities_are_those_of_the_priors(rng):
    data = dp.Data(rng.normal(size=(40, 1)), rng.normal(size=40), row_norm=1.0, y_bounds=(-1, 1))
    prior = {"beta": dp.StudentT(df=3.0, scale=2.0), "sigma": dp.Normal(scale=2.0), "intercept": dp.Flat()}
    model = dp.LinearRegression(prior=prior, intercept=True)
    run = dp.plan(model, data.public, dp.Barker(steps=20, scale=0.1)).run(data, progress=False)
    flat, beta, sigma = prior_densities(run)
    x = np.array([-1.0, 0.5, 3.0])
    assert flat is None
    np.testing.assert_allclose(beta(x), stats.t(3.0, 0.0, 2.0).pdf(x))
    np.testing.assert_allclose(sigma(x), np.where(x > 0, stats.halfnorm(scale=2.0).pdf(x), 0.0))


def test_the_curves_are_the_guarantee():
    guarantee = acc.compose([(acc.Gaussian(noise_multiplier=20.0), 100)])
    for delta, epsilon in epsilon_over_delta(guarantee, (1e-8, 1e-3)):
        assert epsilon == guarantee.epsilon(delta)
    curve = epsilon_over_uses(guarantee, 1e-6, parts=4)
    assert [uses for uses, _ in curve] == [25, 50, 75, 100]
    assert curve[-1][1] == guarantee.epsilon(1e-6)
    assert curve[0][1] == acc.compose([(acc.Gaussian(noise_multiplier=20.0), 25)]).epsilon(1e-6)


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.05, 0.3])
def test_attack_success_is_never_below_the_best_attack_on_a_gaussian(rate):
    mu = 0.5
    best = stats.norm.cdf(stats.norm.ppf(rate) + mu)  # the likelihood-ratio test, Neyman and Pearson
    (bound,) = attack_success(acc.compose([(acc.GDP(mu=mu), 1)]), [rate])
    assert best <= bound <= best * 1.05


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.2, 0.9, 1.0])
def test_attack_success_is_never_below_randomised_response(rate):
    truth = math.e / (1 + math.e)
    best = min(rate * math.e, 1 - (1 - rate) / math.e)
    (bound,) = attack_success(acc.compose([(acc.PureDP(epsilon=1.0), 1)]), [rate])
    assert best <= bound + 1e-12
    assert bound <= best + 0.01
    assert best_guess(acc.compose([(acc.PureDP(epsilon=1.0), 1)])) == pytest.approx(truth, rel=1e-3)


def test_an_epsilon_beyond_all_numbers_bounds_nothing():
    """exp(epsilon) once overflowed, and with it the report of a run that spends so much."""
    for huge in (acc.GDP(mu=50.0), acc.PureDP(epsilon=2000.0)):
        guarantee = acc.compose([(huge, 1)])
        assert attack_success(guarantee, [0.1]) == [1.0]
        assert best_guess(guarantee) == 1.0


def test_a_void_guarantee_has_no_curves():
    void = acc.compose([], void="because")
    for call in (lambda: attack_success(void, [0.1]), lambda: best_guess(void), lambda: epsilon_over_delta(void)):
        with pytest.raises(NotPrivateError, match="because"):
            call()
