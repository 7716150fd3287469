"""Langevin on models of the user's, who states that they are convex and smooth."""

import numpy as np
import own_logistic
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument, UnsupportedEventError

D = 3


def table(n=2000):
    random = np.random.default_rng(0)
    x = random.uniform(-1.0, 1.0, (n, D))
    y = random.random(n) < 1.0 / (1.0 + np.exp(-x @ np.array([1.0, -0.5, 0.2])))
    return dp.Data(x, y, row_norm=1.0, y_bounds=(0.0, 1.0))


def stated(model, lipschitz=1.0, smoothness=0.25):
    return model.stated_convex_and_smooth(lipschitz=lipschitz, smoothness=smoothness)


@pytest.mark.parametrize("way", ["numpy", "c", "jax"])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_price_and_draws_are_those_of_the_built_in_model(way, adjacency):
    random, n = np.random.default_rng(0), 2000
    x = random.uniform(-1.0, 1.0, (n, D))
    data = dp.Data(x, random.random(n) < 0.5, row_norm=1.0, y_bounds=(0.0, 1.0), public_n=n)
    model, sampler = stated(own_logistic.WAYS[way](D)), dp.Langevin(draws=2, w=0.05, steps=100)
    plans = [
        dp.plan(one, data.public, sampler, delta=1e-6, adjacency=adjacency) for one in (dp.LogisticRegression(), model)
    ]
    built_in, own = (plan.guarantee.epsilon(1e-6) for plan in plans)
    assert built_in <= own <= 1.0001 * built_in  # the stated accuracy is coarser than what is proved
    assert "concave" in plans[1].guarantee.assumptions[0]
    assert not any("concave" in one for one in plans[0].guarantee.assumptions)
    draws = [plan.run(data, seed=4, progress=False, anyway=True).draws["beta"] for plan in plans]
    assert np.abs(draws[0] - draws[1]).max() < 1e-6
    assert np.ptp(draws[0]) > 0.01


def test_the_statement_reaches_the_result_its_report_and_the_ledger(tmp_path):
    ledger = dp.Ledger(tmp_path / "ledger", epsilon=3.0, delta=1e-5)
    post = dp.sample(
        stated(own_logistic.in_numpy(D)),
        table(),
        dp.Langevin(draws=1),
        epsilon=1.0,
        delta=1e-6,
        ledger=ledger,
        progress=False,
        anyway=True,
    )
    assert "concave" in post.guarantee.statement(1e-6)
    assert "concave" in ledger.spent().statement(1e-6)
    post.report(tmp_path / "report.html")
    assert "concave" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("lipschitz", "smoothness", "match"),
    [(0.3, 0.25, "longer than lipschitz=0.3"), (1.0, 0.02, "faster than smoothness=0.02")],
)
def test_a_statement_that_made_up_records_contradict_is_refused(lipschitz, smoothness, match):
    model = stated(own_logistic.in_numpy(D), lipschitz, smoothness)
    with pytest.raises(InvalidArgument, match=match):
        dp.plan(model, table().public, dp.Langevin(), epsilon=1.0, delta=1e-6)


def test_a_model_that_is_not_concave_is_refused():
    def log_lik(theta, record):
        return 0.3 * np.cos(record["x"] @ theta["beta"])

    def grad(theta, record):
        return {"beta": -0.3 * np.sin(record["x"] @ theta["beta"])[:, None] * record["x"]}

    model = stated(dp.models.from_numpy(log_lik, grad, parameters={"beta": D}), 1.0, 1.0)
    with pytest.raises(InvalidArgument, match="not concave"):
        dp.plan(model, table().public, dp.Langevin(), epsilon=1.0, delta=1e-6)


def test_without_a_statement_or_with_another_prior_it_is_refused():
    with pytest.raises(UnsupportedEventError, match="stated_convex_and_smooth"):
        dp.plan(own_logistic.in_numpy(D), table().public, dp.Langevin(), epsilon=1.0, delta=1e-6)
    laplace = stated(own_logistic.in_numpy(D, prior=dp.Laplace(1.0)))
    with pytest.raises(UnsupportedEventError, match="smooth and strongly convex"):
        dp.plan(laplace, table().public, dp.Langevin(), epsilon=1.0, delta=1e-6)
    positive = dp.models.from_numpy(
        lambda theta, record: own_logistic.numpy_log_lik({"beta": -theta["beta"]}, record),
        lambda theta, record: {"beta": -own_logistic.numpy_grad({"beta": -theta["beta"]}, record)["beta"]},
        parameters={"beta": dp.models.Parameter(D, "positive")},
    )
    with pytest.raises((UnsupportedEventError, InvalidArgument), match=r"positive number|made-up record"):
        dp.plan(stated(positive, 9.0, 9.0), table().public, dp.Langevin(), epsilon=1.0, delta=1e-6)


def test_a_prior_of_the_users_is_refused_before_a_charge():
    def log_density(theta):
        return -0.5 * float((theta["beta"] ** 2).sum())

    def slopes(theta):
        return {"beta": -theta["beta"]}

    model = own_logistic.in_numpy(D, prior=log_density, prior_grad=slopes)
    with pytest.raises(UnsupportedEventError, match="needs normal priors"):
        dp.plan(stated(model), table().public, dp.Langevin(), epsilon=1.0, delta=1e-6)


def test_exact_draws_stay_refused_for_models_of_the_users():
    model = stated(own_logistic.in_numpy(D))
    with pytest.raises((UnsupportedEventError, InvalidArgument)):
        dp.plan(model, table().public, dp.PosteriorSample(), epsilon=1.0, delta=1e-6)
