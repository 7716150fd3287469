"""NUTS against closed forms, and simulation-based calibration of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chisquare

import pydpmc as dp

Floats = npt.NDArray[np.float64]

SEED = 17
RANKS, THIN, CELLS = 63, 4, 16
P_VALUE = 1e-3


def sampled(model: dp.models.Model, data: dp.Data, w: float = 1.0, **options: Any) -> dp.Posterior:
    sampler = dp.NUTS(draws=4000, warmup=500, w=w, **options)
    return dp.sample(model, data, sampler, private=False, chains=4, seed=SEED, progress=False)


@pytest.mark.parametrize("w", [1.0, 0.2])
@pytest.mark.parametrize("dim", [1, 5])
def test_gaussian_mean_has_its_conjugate_posterior(close_moments: Any, dim: int, w: float) -> None:
    sigma, scale, loc = 1.7, 0.3, 0.5
    x = np.random.default_rng(dim).normal(1.0, sigma, size=(37, dim))
    precision = w * len(x) / sigma**2 + 1.0 / scale**2
    mean = (w * x.sum(axis=0) / sigma**2 + loc / scale**2) / precision
    model = dp.GaussianMean(sigma=sigma, prior=dp.Normal(scale=scale, loc=loc))
    post = sampled(model, dp.Data(x), w)
    close_moments(post, mean, np.full(dim, precision**-0.5), mean_within=0.05, sd_within=0.03)


def test_correlated_coefficients_of_different_scales(close_moments: Any) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 4)) @ np.array([[1, 0.9, 0, 0], [0, 0.2, 0, 0], [0, 0, 100, 0], [0, 0, 30, 0.01]])
    y = x @ np.array([1.0, -1.0, 0.02, 50.0]) + rng.normal(size=200)
    precision = x.T @ x + np.eye(4) / 100.0**2
    covariance = np.linalg.inv(precision)
    model = dp.LinearRegression(prior=dp.Normal(scale=100.0), sigma=1.0)
    post = sampled(model, dp.Data(x, y))
    sd = np.sqrt(np.diag(covariance))
    close_moments(post, covariance @ x.T @ y, sd, fewest=2000, mean_within=0.08, sd_within=0.04)
    draws = np.concatenate(list(post.draws["beta"]))
    assert np.corrcoef(draws.T) == pytest.approx(covariance / np.outer(sd, sd), abs=0.05)


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_short_trees_still_have_the_right_target(close_moments: Any, max_depth: int) -> None:
    x = np.random.default_rng(4).normal(size=(30, 2))
    mean, sd = x.sum(axis=0) / 31.0, np.full(2, 31.0**-0.5)
    post = sampled(dp.GaussianMean(), dp.Data(x), max_depth=max_depth, target_accept=0.7)
    close_moments(post, mean, sd, fewest=2000, mean_within=0.08, sd_within=0.04)


def rank(replicate: int, w: float) -> npt.NDArray[np.intp]:
    """Return the ranks of intercept, slope and sigma among thinned draws; all come from the prior and the model."""
    rng = np.random.default_rng((5, replicate))
    theta = np.array([0.5 * rng.standard_t(4), rng.laplace(scale=0.5), abs(rng.normal(1.0, 0.2))])
    x = rng.normal(size=(30, 1))
    y = theta[0] + x[:, 0] * theta[1] + theta[2] * rng.normal(size=30)
    prior = {"intercept": dp.StudentT(df=4, scale=0.5), "beta": dp.Laplace(scale=0.5), "sigma": dp.Normal(0.2, 1.0)}
    model = dp.LinearRegression(prior=prior, intercept=True)
    sampler = dp.NUTS(draws=RANKS * THIN, warmup=150, w=w)
    post = dp.sample(model, dp.Data(x, y), sampler, private=False, seed=replicate, threads=1, progress=False)
    draws = np.concatenate([block[0, ::THIN] for block in post.draws.values()], axis=1)
    return np.asarray((draws < theta).sum(axis=0))


def p_values(replicates: int, w: float = 1.0) -> list[float]:
    ranks = np.array([rank(replicate, w) for replicate in range(replicates)])
    cells = ranks * CELLS // (RANKS + 1)
    found = [float(chisquare(np.bincount(column, minlength=CELLS)).pvalue) for column in cells.T]
    print(f"p-values {np.round(found, 4)}")
    return found


@pytest.mark.parametrize("replicates", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_ranks_of_the_true_parameters_are_uniform(replicates: int) -> None:
    assert min(p_values(replicates)) > P_VALUE / 3


def test_a_wrong_posterior_is_noticed() -> None:
    assert min(p_values(200, w=0.3)) < P_VALUE / 3
