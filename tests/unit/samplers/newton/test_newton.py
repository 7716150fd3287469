"""Newton: planned within the budget, refused without a proof, and a posterior that accounts for its noise."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.accounting.events.gaussian import gdp_epsilon
from pydpmc.errors import BudgetError, InvalidArgument, UnsupportedEventError
from pydpmc.posterior.looks import Look
from pydpmc.running.run import core_target
from pydpmc.samplers.newton.draws import Numbers, posterior_draws
from pydpmc.samplers.newton.links import moments as moments_link
from pydpmc.samplers.newton.mixtures import MixturePrior, inverse_gaussian
from pydpmc.samplers.newton.pooling import Pooled
from pydpmc.samplers.newton.run import NewtonRun
from pydpmc.samplers.newton.schedule import Schedule
from pydpmc.samplers.newton.softmax_features import SoftmaxFeatures, places, spread_nodes

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def table(rng, n=20_000, d=3, storage="float64", public_n=None):
    x = rng.uniform(-1, 1, size=(n, d)) / math.sqrt(d)
    beta = np.linspace(-1.5, 2.0, d)
    y = (rng.random(n) < 1 / (1 + np.exp(-0.5 - x @ beta))).astype(float)
    return dp.Data(x, y, row_norm=1.0, storage=storage, public_n=public_n), np.append(0.5, beta)


MODEL = dp.LogisticRegression(prior=dp.Normal(scale=5.0), intercept=True)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_plan_costs_its_mu_and_nearly_the_budget(adjacency, rng):
    data, _ = table(rng, n=500)
    plan = dp.plan(MODEL, data.public, dp.Newton(), adjacency=adjacency, **BUDGET)
    ((event, uses),) = plan.guarantee.events
    assert uses == 1
    assert event.gaussian_mu(adjacency) == pytest.approx(plan.settings.mu, rel=1e-9)
    assert 0.999 < gdp_epsilon(plan.settings.mu, 1e-6) <= plan.guarantee.epsilon(1e-6) <= 1.0
    assert plan.guarantee.assumptions == ()
    assert plan.guarantee.total_variation == 8 * (4 + 10) * 2.0**-63
    assert "looks" in str(plan)


def test_looks_stay_within_the_budget_however_they_are_shared(rng, monkeypatch):
    data, _ = table(rng, n=3000)
    spent = []
    whole = NewtonRun._finish

    def finish(self, threads, block):
        spent.append((self._settings.mu, list(self.spent), len(self.looks)))
        whole(self, threads, block)

    monkeypatch.setattr(NewtonRun, "_finish", finish)
    for sampler in (
        dp.Newton(),
        dp.Newton(looks=1),
        dp.Newton(looks=3),
        dp.Newton(shares=[1, 1, 2]),
        dp.Newton(looks=12),
    ):
        for epsilon in (0.05, 1.0, 20.0):
            dp.plan(MODEL, data.public, sampler, epsilon=epsilon, delta=1e-6).run(data, seed=1)
            mu, squares, looks = spent[-1]
            assert looks == len(squares) <= (sampler.looks or (len(sampler.shares) if sampler.shares else 8))
            assert 0.999 * mu**2 < math.fsum(squares) <= mu**2 * (1 + 1e-12)
    assert np.array(spent[9][1]) / spent[9][0] ** 2 == pytest.approx([0.25, 0.25, 0.5], rel=1e-3)


def test_a_look_beyond_the_budget_is_refused_before_it_is_taken(rng):
    data, _ = table(rng, n=300)
    plan = dp.plan(MODEL, data.public, dp.Newton(), **BUDGET)
    greedy = dataclasses.replace(plan.settings, schedule=Schedule(fixed=(0.7, 0.7)))
    run = NewtonRun.__new__(NewtonRun)
    run._settings, run.spent = greedy, []
    run._charge(plan.settings.mu * math.sqrt(0.7))
    with pytest.raises(BudgetError, match="more than is left"):
        run._charge(plan.settings.mu * math.sqrt(0.7))
    assert len(run.spent) == 1


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_the_posterior_is_near_the_truth_and_says_how_near(adjacency, storage, rng):
    data, truth = table(rng, storage=storage)
    post = dp.sample(MODEL, data, dp.Newton(), adjacency=adjacency, progress=False, **BUDGET)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    assert draws.shape == (4000, 4)
    z = (draws.mean(axis=0) - truth) / draws.std(axis=0)
    assert np.abs(z).max() < 4.5
    assert draws.std(axis=0).max() < 0.35
    assert post.private
    assert post.guarantee.epsilon(1e-6) <= 1.0


def test_without_privacy_it_is_the_laplace_approximation(rng):
    data, _ = table(rng)
    post = dp.sample(MODEL, data, dp.Newton(draws=20_000), private=False, progress=False, seed=1)
    x = np.column_stack([np.ones(20_000), data._rows[:, :3]])
    y, theta = data._rows[:, 3], np.zeros(4)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ theta))
        hessian = x.T @ (x * (p * (1 - p))[:, None]) + np.eye(4) / 25.0
        theta = theta + np.linalg.solve(hessian, x.T @ (y - p) - theta / 25.0)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    sd = np.sqrt(np.diag(np.linalg.inv(hessian)))
    assert (np.abs(draws.mean(axis=0) - theta) / sd).max() < 0.1
    assert draws.std(axis=0) / sd == pytest.approx(np.ones(4), abs=0.05)
    assert post.guarantee.void is not None


def test_draws_are_the_same_for_any_number_of_threads(rng):
    data, _ = table(rng, n=60_000)
    plan = dp.plan(MODEL, data.public, dp.Newton(), **BUDGET)
    one, two = (plan.run(data, seed=5, threads=threads, progress=False) for threads in (1, 2))
    assert (one.draws["beta"] == two.draws["beta"]).all()
    other = plan.run(data, seed=6, progress=False)
    assert (one.draws["beta"] != other.draws["beta"]).any()


def test_looks_are_kept_saved_and_reproduce_the_posterior(rng, tmp_path):
    data, _ = table(rng)
    post = dp.sample(MODEL, data, dp.Newton(), progress=False, **BUDGET)
    assert 2 <= len(post.looks) <= 8
    assert (post.looks[0].theta == 0).all()
    for suffix in (".npz", ".nc"):
        post.save(tmp_path / f"post{suffix}")
        again = dp.Posterior.load(tmp_path / f"post{suffix}")
        assert len(again.looks) == len(post.looks)
        for a, b in zip(again.looks, post.looks, strict=True):
            assert (a.curvature == b.curvature).all()
            assert (a.gradient == b.gradient).all()
            assert (a.theta, a.sigma, a.tau)[1:] == (b.theta, b.sigma, b.tau)[1:]
    shares = post.information
    assert shares.prior + shares.records == pytest.approx(np.ones(4))
    assert (shares.lost >= 0).all()
    assert "lost to privacy" in str(shares)
    post.report(tmp_path / "post.html")
    assert post.predict(np.zeros((2, 3))).mean.shape == (2,)


def test_intervals_are_those_of_the_draws(rng):
    data, truth = table(rng)
    post = dp.sample(MODEL, data, dp.Newton(draws=100_000), progress=False, **BUDGET)
    found = post.interval(0.9)
    low, high = np.quantile(post.draws["beta"][0], (0.05, 0.95), axis=0)
    assert [found[f"beta[x{j}]"][0] for j in range(3)] == pytest.approx(low, abs=0.01)
    assert [found[f"beta[x{j}]"][1] for j in range(3)] == pytest.approx(high, abs=0.01)
    assert post.wald_test(truth[1:], "beta").p_value > 1e-6
    assert post.wald_test(truth[1:] + 3.0, "beta").p_value < 1e-6


def test_chains_share_the_draws(rng):
    data, _ = table(rng, n=2000)
    post = dp.sample(MODEL, data, dp.Newton(draws=1000), chains=4, progress=False, **BUDGET)
    assert post.draws["beta"].shape == (4, 250, 3)


@pytest.mark.parametrize("curvature", ["diagonal", "blocks", "outer"])
def test_other_curvatures_still_find_the_truth(curvature, rng):
    data, truth = table(rng, n=60_000)
    blocks = [[0], [1, 2], [3]] if curvature == "blocks" else None
    post = dp.sample(MODEL, data, dp.Newton(curvature=curvature, blocks=blocks), progress=False, **BUDGET)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 5
    between = post.looks[0].curvature[0, 1]
    assert (between != 0.0) == (curvature == "outer")


OTHERS = {
    "coin": (dp.BernoulliLogit(), {}),
    "linear": (dp.LinearRegression(sigma=0.5, prior=dp.Normal(scale=5.0)), {}),
    "huber": (dp.HuberRegression(sigma=0.5, prior=dp.Normal(scale=5.0)), {}),
    "poisson": (dp.PoissonRegression(prior=dp.Normal(scale=5.0)), {"y_bounds": (0.0, 20.0)}),
    "counts": (dp.NegativeBinomialRegression(prior=dp.Normal(scale=5.0), dispersion=0.5), {"y_bounds": (0.0, 30.0)}),
    "probit": (dp.ProbitRegression(prior=dp.Normal(scale=5.0)), {}),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_other_models_find_the_truth(name, adjacency, rng):
    model, facts = OTHERS[name]
    n, truth = 40_000, np.array([0.8, -0.5])
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    eta = x @ truth
    if name == "coin":
        data, truth = dp.Data((rng.random(n) < 0.3).astype(float)), np.array([math.log(3 / 7)])
    else:
        y = {
            "poisson": lambda: rng.poisson(np.exp(eta)),
            "counts": lambda: rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, size=n)),
            "probit": lambda: (eta + rng.normal(size=n) > 0).astype(float),
        }.get(name, lambda: eta + 0.5 * rng.normal(size=n))()
        data = dp.Data(x, y, row_norm=1.0, **facts)
    post = dp.sample(model, data, dp.Newton(), adjacency=adjacency, epsilon=2.0, delta=1e-6, progress=False)
    (draws,) = next(iter(post.draws.values()))
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 5
    assert draws.std(axis=0).max() < 0.3


@pytest.mark.parametrize(
    ("prior", "log_density"),
    [
        (dp.Laplace(scale=0.7, loc=0.2), lambda t: -np.abs(t - 0.2) / 0.7),
        (dp.StudentT(df=3.0, scale=0.5), lambda t: -2.0 * np.log1p((t / 0.5) ** 2 / 3.0)),
        (dp.Normal(scale=0.8), lambda t: -((t / 0.8) ** 2) / 2.0),
    ],
)
def test_draws_have_the_law_of_prior_times_likelihood(prior, log_density):
    """One coordinate, a normal likelihood about as wide as the prior: moments of draws against a grid."""
    precision, centre = 1.5, 1.1
    mixture = MixturePrior.of(prior.table(1, False))
    one = np.eye(1)
    start = Pooled(
        np.array([0.6]), 0.4 * one, precision * one, np.array([precision * centre]), 1.0, 0.0, 0.0, one, one, one
    )
    if mixture.is_normal:
        total = precision + 0.8**-2
        start = dataclasses.replace(start, mean=np.array([precision * centre / total]), covariance=one / total)
    draws = posterior_draws(start, mixture, 60_000, Numbers(_core, _core.random.key_from_seed(4)))[:, 0]
    t = np.linspace(-12, 12, 200_001)
    weight = np.exp(log_density(t) - precision * (t - centre) ** 2 / 2.0)
    weight /= weight.sum()
    mean = weight @ t
    sd = math.sqrt(weight @ (t - mean) ** 2)
    # Draws of a chain are a few steps apart: as if there were a quarter of them.
    assert abs(draws.mean() - mean) < 5 * sd / math.sqrt(15_000)
    assert draws.std() == pytest.approx(sd, rel=5 / math.sqrt(2 * 15_000))


def test_a_run_with_a_laplace_prior_is_near_the_truth(rng):
    data, truth = table(rng)
    model = dp.LogisticRegression(prior=dp.Laplace(scale=2.0), intercept=True)
    post = dp.sample(model, data, dp.Newton(), progress=False, **BUDGET)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 4.5
    with pytest.raises(InvalidArgument, match="Normal or Flat"):
        _ = post.information


def test_inverse_gaussian_variates_have_their_moments(rng):
    mean, shape = np.full(200_000, 1.7), np.full(200_000, 0.9)
    draws = inverse_gaussian(mean, shape, rng.normal(size=200_000), rng.random(200_000))
    assert (draws > 0).all()
    sd = math.sqrt(1.7**3 / 0.9)
    assert abs(draws.mean() - 1.7) < 5 * sd / math.sqrt(200_000)
    assert abs((1 / draws).mean() - (1 / 1.7 + 1 / 0.9)) < 0.05


REFUSED = {
    "sigma unknown": (dp.LinearRegression(), {}, InvalidArgument, "y_bounds"),
    "sigma and weights": (
        dp.LinearRegression(),
        {"y_bounds": (-1.0, 1.0), "max_weight": 2.0},
        UnsupportedEventError,
        "known sigma",
    ),
    "y constant": (dp.LinearRegression(), {"y_bounds": (1.0, 1.0)}, InvalidArgument, "y_bounds"),
    "counts from 1": (dp.PoissonRegression(), {"y_bounds": (1.0, 5.0)}, InvalidArgument, "y_bounds"),
    "hinge": (dp.HingeClassifier(), {}, UnsupportedEventError, "no proven sensitivity"),
    "no bound": (dp.LogisticRegression(), {"row_norm": None}, InvalidArgument, "row_norm"),
    "no counts": (dp.PoissonRegression(), {}, InvalidArgument, "y_bounds"),
    "no counts either": (dp.NegativeBinomialRegression(), {}, InvalidArgument, "y_bounds"),
    "negative counts": (dp.PoissonRegression(), {"y_bounds": (-1.0, 5.0)}, InvalidArgument, "y_bounds"),
    "flat": (dp.LogisticRegression(prior=dp.Flat()), {"n": 30}, UnsupportedEventError, "Flat"),
    "groups of any size": (dp.LogisticRegression(), {"grouped": True}, InvalidArgument, "max_group_size"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_proof_or_no_use_is_refused(name):
    model, facts, error, message = REFUSED[name]
    public = dp.Public(**({"n": 1000, "columns": ("a", "b"), "has_target": True, "row_norm": 1.0} | facts))
    with pytest.raises(error, match=message):
        dp.plan(model, public, dp.Newton(), **BUDGET)


def test_outer_products_of_a_softmax_are_refused():
    public = dp.Public(n=1000, columns=("a",), has_target=True, row_norm=1.0)
    with pytest.raises(UnsupportedEventError, match="outer"):
        dp.plan(dp.SoftmaxRegression(), public, dp.Newton(curvature="outer"), **BUDGET)


@pytest.mark.filterwarnings("ignore:the looks disagree")  # n is private in half of the cases, and rows are short
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_softmax_finds_the_differences_of_its_classes(adjacency, intercept, rng, tmp_path):
    n, classes = 40_000, 3
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    beta, alpha = np.array([[1.0, 0.0], [0.0, 1.5], [-1.0, -0.5]]), 0.4 * intercept * np.array([0.0, 1.0, -1.0])
    y = (alpha + x @ beta.T + rng.gumbel(size=(n, classes))).argmax(axis=1).astype(float)
    data = dp.Data(x, y, row_norm=1.0, public_n=n if intercept else None)
    model = dp.SoftmaxRegression(prior=dp.Normal(scale=3.0), intercept=intercept, classes=classes)
    post = dp.sample(model, data, dp.Newton(), adjacency=adjacency, epsilon=2.0, delta=1e-6, progress=False)
    draws = post.draws["beta"][0].reshape(-1, classes, 2)
    apart, truth = draws[:, 1:] - draws[:, :1], beta[1:] - beta[:1]
    assert (np.abs(apart.mean(axis=0) - truth) / apart.std(axis=0)).max() < 5
    assert apart.std(axis=0).max() < 0.4
    assert post.looks[0].curvature.shape == (2 + intercept, 2 + intercept)
    post.save(tmp_path / "post.npz")
    assert dp.Posterior.load(tmp_path / "post.npz").looks[0].theta.size == classes * (2 + intercept)
    with pytest.raises(InvalidArgument, match="softmax"):
        _ = post.information


def test_the_surrogate_of_a_softmax_has_the_moments_and_derivatives_it_states(rng):
    nodes = spread_nodes(4)
    assert np.abs(nodes.mean(axis=0)).max() < 1e-12
    assert np.abs(nodes.T @ nodes / len(nodes) - np.eye(4)).max() < 1e-12
    moments = np.array([[1.0, 0.1, -0.2], [0.1, 0.5, 0.1], [-0.2, 0.1, 0.4]])
    features = SoftmaxFeatures(1000.0, moments_link(), 1.0, [0, 0, 0], 3)
    theta, move = rng.normal(size=9), 1e-5 * rng.normal(size=9)
    features.fit([Look(theta, np.zeros(9), 1000.0 * moments, 1.0, 1e-6)])
    assert np.abs(features.Q - moments).max() < 1e-6
    expected = features.expected(theta, theta + move)
    assert expected == pytest.approx(features.curvature(theta + move / 2) @ move, rel=1e-4, abs=1e-9)
    assert np.linalg.eigvalsh(features.curvature(theta)).min() > -1e-9
    assert features.expected(theta + move, theta) == pytest.approx(-expected)
    assert places(2, 3, True).tolist() == [[0, 2, 3], [1, 4, 5]]
    assert places(2, 2, False).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_groups_cost_their_largest_size_and_find_the_truth(adjacency, rng):
    n = 60_000
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    truth = np.array([1.0, -1.5])
    y = (rng.random(n) < 1 / (1 + np.exp(-0.3 - x @ truth))).astype(float)
    data = dp.Data(x, y, row_norm=1.0, groups=rng.integers(0, 40_000, n), max_group_size=2)
    single = dp.Data(x, y, row_norm=1.0)
    plan, alone = (dp.plan(MODEL, d.public, dp.Newton(), adjacency=adjacency, **BUDGET) for d in (data, single))
    assert plan.settings.mu == alone.settings.mu
    assert plan.settings.noise(0.1)[0] == pytest.approx(2 * alone.settings.noise(0.1)[0], rel=1e-4)
    assert 0.099 < plan.settings.price(*plan.settings.noise(0.1)) <= 0.1
    assert plan.guarantee.unit == "one group"
    post = plan.run(data, progress=False)
    draws = post.draws["beta"][0]
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 5


def test_groups_too_large_for_a_look_are_refused_before_a_record_is_read(rng):
    x = rng.uniform(-0.5, 0.5, size=(60, 2))
    y = (x[:, 0] > 0).astype(float)
    for size, refused in ((10**6, False), (10**8, True), (10**12, True)):
        public = dp.Data(x, y, row_norm=1.0, groups=np.arange(60) // 2, max_group_size=size).public
        if not refused:
            assert dp.plan(MODEL, public, dp.Newton(), **BUDGET).guarantee.epsilon(1e-6) <= BUDGET["epsilon"]
            continue
        with pytest.raises(BudgetError, match="max_group_size: with groups of up to"):
            dp.plan(MODEL, public, dp.Newton(), **BUDGET)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_weighted_records_answer_for_those_they_stand_for(adjacency, rng):
    """Half of the outcomes 1 were sampled: with weights the intercept is that of the population."""
    n = 60_000
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    truth = np.array([0.4, 1.0, -1.5])
    y = (rng.random(n) < 1 / (1 + np.exp(-truth[0] - x @ truth[1:]))).astype(float)
    kept = (y == 0) | (rng.random(n) < 0.5)
    weights = np.where(y == 1, 2.0, 1.0)[kept]
    facts = {"sample_weight": weights, "max_weight": 2.0}
    data = dp.Data(x[kept], y[kept], row_norm=1.0, public_n=int(kept.sum()), **facts)
    plan = dp.plan(MODEL, data.public, dp.Newton(), adjacency=adjacency, epsilon=2.0, delta=1e-6)
    post = plan.run(data, progress=False)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 5
    assert [look.outer for look in post.looks] == [False] * (len(post.looks) - 1) + [True]
    assert post.information.prior.shape == (3,)
    assert plan.settings.noise(0.1)[0] == pytest.approx(
        2 * dp.plan(MODEL, dataclasses.replace(data.public, max_weight=None), dp.Newton(), adjacency=adjacency,
                    **BUDGET).settings.noise(0.1)[0], rel=1e-4)  # fmt: skip


def test_the_spread_of_weights_widens_the_posterior(rng):
    """Without privacy: n records of weight 1 and 3 by chance know as much as n (E w)^2 / E w^2 records."""
    n = 40_000
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ [1.0, -1.0]))).astype(float)
    weights = rng.choice([1.0, 3.0], size=n)
    spreads = []
    for facts in ({}, {"sample_weight": weights, "max_weight": 4.0}):
        data = dp.Data(x, y, row_norm=1.0, **facts)
        post = dp.sample(MODEL, data, dp.Newton(draws=20_000), private=False, seed=1, progress=False)
        spreads.append(post.draws["beta"][0].std(axis=0))
    assert spreads[1] / spreads[0] == pytest.approx(math.sqrt(5.0 / 4.0), rel=0.05)


@pytest.mark.parametrize(
    ("model", "newton", "error", "message"),
    [
        (dp.SoftmaxRegression(), {}, UnsupportedEventError, "sample_weight: SoftmaxRegression"),
        (MODEL, {"curvature": "outer"}, InvalidArgument, "outer"),
        (MODEL, {"looks": 1}, InvalidArgument, "looks must be at least 2"),
        (MODEL, {"shares": [1.0]}, InvalidArgument, "looks must be at least 2"),
    ],
)
def test_weights_are_refused_where_their_variance_cannot_be_seen(model, newton, error, message):
    public = dp.Public(n=1000, columns=("a", "b"), has_target=True, row_norm=1.0, max_weight=3.0)
    with pytest.raises(error, match=message):
        dp.plan(model, public, dp.Newton(**newton), **BUDGET)


def test_a_gaussian_mean_is_sent_to_its_closed_form():
    public = dp.Public(n=1000, columns=("a",), has_target=False, row_norm=1.0)
    with pytest.raises(UnsupportedEventError, match="ConjugateSample"):
        dp.plan(dp.GaussianMean(), public, dp.Newton(), **BUDGET)


def test_the_forecast_is_near_what_comes(rng):
    x = rng.uniform(-1, 1, size=(20_000, 3))
    y = (rng.random(20_000) < 1 / (1 + np.exp(-x @ [0.3, -0.3, 0.2]))).astype(float)
    data = dp.Data(x, y, x_bounds=(-1, 1))
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Newton(), **BUDGET)
    sd = plan.run(data, seed=1, progress=False).draws["beta"][0].std(axis=0)
    assert sd.mean() / plan.forecast.spread == pytest.approx(1.0, abs=0.15)


def test_a_flat_prior_is_taken_where_the_looks_suffice(rng):
    data, truth = table(rng)
    model = dp.LogisticRegression(prior=dp.Flat(), intercept=True)
    post = dp.sample(model, data, dp.Newton(), progress=False, **BUDGET)
    assert abs(post.draws["intercept"].mean() - truth[0]) < 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"looks": 0}, "looks"),
        ({"shares": [1, -1]}, "shares"),
        ({"shares": "half"}, "shares"),
        ({"shares": [1, 1], "looks": 3}, "looks"),
        ({"curvature": "whole"}, "curvature"),
        ({"curvature": "blocks"}, "blocks"),
        ({"blocks": [[0]]}, "blocks"),
        ({"curvature_share": 0.5}, "curvature_share"),
        ({"draws": 0}, "draws"),
    ],
)
def test_wrong_parameters_are_named(options, message):
    with pytest.raises((InvalidArgument, TypeError), match=message):
        dp.Newton(**options)


def test_runs_take_no_draws_and_plans_need_a_budget(rng):
    data, _ = table(rng, n=100)
    with pytest.raises(InvalidArgument, match="epsilon"):
        dp.plan(MODEL, data.public, dp.Newton())
    with pytest.raises(InvalidArgument, match="draws"):
        dp.plan(MODEL, data.public, dp.Newton(), **BUDGET).run(data, draws=10)
    with pytest.raises(InvalidArgument, match="coordinates"):
        dp.plan(MODEL, data.public, dp.Newton(curvature="blocks", blocks=[[0, 1]]), **BUDGET)
    with pytest.raises(InvalidArgument, match="no looks"):
        _ = dp.sample(MODEL, data, dp.Barker(steps=50), private=False, progress=False).information


class Overheard:
    """The compiled core, with a list of the looks that it was asked for."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        return getattr(_core, name)

    def NewtonRun(self, **arguments):
        run, asked = _core.NewtonRun(**arguments), self.asked

        class Listening:
            def look(self, **options):
                asked.append(options)
                return run.look(**options)

        return Listening()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("model", [MODEL, dp.LinearRegression(sigma=0.5), dp.HuberRegression(sigma=0.5)], ids=repr)
def test_the_looks_that_the_core_takes_cost_what_was_charged(model, adjacency, rng):
    data, _ = table(rng, n=4000, public_n=4000)
    plan = dp.plan(model, data.public, dp.Newton(draws=10), adjacency=adjacency, **BUDGET)
    core, settings = Overheard(), plan.settings
    draws = np.empty((1, 10, settings.dim))
    chains = _core.Chains(init=np.zeros((1, settings.dim)), draws=draws, warmup=settings.steps - 1, thin=1, seed=4)
    run = settings.start(core, core_target(plan, data), chains, data)
    run.advance(settings.steps, 1, 512)
    price = 0.0
    for asked in core.asked:  # the clips and noise levels of the core, priced anew
        bounds = dataclasses.replace(settings.bounds, gradient=asked["clip"], curvature=asked["curvature_clip"])
        assert asked["clip"] <= settings.bounds.gradient
        assert asked["curvature_clip"] <= settings.bounds.curvature
        price += bounds.mu(asked["sigma"], asked["tau"], adjacency, settings.dim) ** 2
    assert len(core.asked) == len(run.looks)
    assert 0.9 * settings.mu**2 < price <= settings.mu**2 * (1.0 + 1e-9)
    assert [look.sigma for look in run.looks] == [asked["sigma"] for asked in core.asked]
