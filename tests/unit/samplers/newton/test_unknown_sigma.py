"""Linear regression with an unknown sigma: coefficients and sigma near the truth, at the price of the plan."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument
from pydpmc.samplers.newton.families import family_of
from pydpmc.samplers.newton.links import clipped_moments
from pydpmc.samplers.newton.unknown_sigma import UnknownSigmaRun

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
MODEL = dp.LinearRegression(prior={"intercept": dp.Normal(scale=5.0), "beta": dp.Normal(scale=5.0),
                                   "sigma": dp.Normal(scale=5.0)}, intercept=True)  # fmt: skip


def line(rng, n=30_000, sigma=0.5, y_bounds=(-20.0, 20.0), public_n=None):
    x = rng.uniform(-1, 1, size=(n, 2)) / math.sqrt(2)
    truth = np.array([2.0, 1.0, -0.5])
    y = truth[0] + x @ truth[1:] + sigma * rng.normal(size=n)
    return dp.Data(x, y, row_norm=1.0, y_bounds=y_bounds, public_n=public_n), truth


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("sigma", [0.05, 2.0])
def test_coefficients_and_sigma_are_near_the_truth(adjacency, sigma, rng):
    data, truth = line(rng, sigma=sigma)
    posts = [dp.sample(MODEL, data, dp.Newton(), adjacency=adjacency, progress=False, **BUDGET) for _ in range(3)]
    spreads = [np.log(post.draws["sigma"]).std() for post in posts]
    assert sorted(spreads)[1] < 0.3  # one run in 25 says little of sigma, and says so by a wide posterior
    post = posts[0]
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    assert (np.abs(draws.mean(axis=0) - truth) / draws.std(axis=0)).max() < 4.5
    assert draws.std(axis=0).max() < 0.2 * max(sigma, 0.3)
    found = post.draws["sigma"].ravel()
    assert abs(math.log(found.mean() / sigma)) < max(5 * np.log(found).std(), 0.02)
    assert post.looks[1].outer
    assert post.looks[-1].outer
    assert post.guarantee.epsilon(1e-6) <= 1.0


def test_without_privacy_sigma_is_the_residuals_standard_deviation(rng):
    data, _ = line(rng)
    post = dp.sample(MODEL, data, dp.Newton(), private=False, seed=3, progress=False)
    x = np.column_stack([np.ones(30_000), data._rows[:, :2]])
    beta, *_ = np.linalg.lstsq(x, data._rows[:, 2], rcond=None)
    sd = (data._rows[:, 2] - x @ beta).std()
    assert post.draws["sigma"].mean() == pytest.approx(sd, rel=0.003)
    assert 1.0 / math.sqrt(60_000) < np.log(post.draws["sigma"]).std() < 1.5 / math.sqrt(60_000)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)[0]
    error = sd * np.sqrt(np.diag(np.linalg.inv(x.T @ x)))
    assert (np.abs(draws.mean(axis=0) - beta) / error).max() < 1.0
    assert draws.std(axis=0) / error == pytest.approx(np.ones(3), abs=0.2)


def test_the_looks_cost_no_more_than_the_plan(rng, monkeypatch):
    data, _ = line(rng, n=4000, public_n=4000)
    spent = []
    whole = UnknownSigmaRun._finish

    def finish(self, threads, block):
        spent.append((self._settings.mu, list(self.spent)))
        whole(self, threads, block)

    monkeypatch.setattr(UnknownSigmaRun, "_finish", finish)
    for sampler in (dp.Newton(), dp.Newton(looks=4), dp.Newton(shares=[1, 1, 1, 3])):
        dp.plan(MODEL, data.public, sampler, **BUDGET).run(data, seed=1, progress=False)
        mu, squares = spent[-1]
        assert 0.999 * mu**2 < math.fsum(squares) <= mu**2 * (1 + 1e-12)


def test_terms_are_those_of_a_core_whose_sigma_is_one():
    public = dp.Public(n=900, columns=("a", "b"), has_target=True, row_norm=2.0, y_bounds=(-4.0, 4.0))
    plan = dp.plan(dp.LinearRegression(), public, dp.Newton(), **BUDGET)
    clip = plan.settings.clip
    found = family_of(plan.model, public, clip)
    assert found.limits[0] == clip.residual * clip.sigma
    assert (found.bounds.gradient, found.bounds.curvature) == pytest.approx((2.0 * found.limits[0], 4.0))
    share, spread = clipped_moments(clip.residual)
    at = np.zeros(1)
    assert found.link.curvature(at)[0] == pytest.approx(share)
    assert found.link.variance(at)[0] == pytest.approx(spread * clip.sigma**2)
    assert found.link.score(at, at + 1e-4)[0] == pytest.approx(1e-4 * share, rel=1e-3)
    assert plan.settings.dim == plan.settings.coefficients + 1 == 3


@pytest.mark.parametrize("newton", [{"looks": 3}, {"shares": [1, 1]}, {"curvature": "outer"}])
def test_too_few_looks_to_see_sigma_are_refused(newton):
    public = dp.Public(n=900, columns=("a",), has_target=True, row_norm=1.0, y_bounds=(-4.0, 4.0))
    with pytest.raises(InvalidArgument, match="sigma"):
        dp.plan(dp.LinearRegression(), public, dp.Newton(**newton), **BUDGET)
