"""Posteriors known in closed form, or from a fine grid, against full-data chains with and without privacy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp

Floats = npt.NDArray[np.float64]

SEED = 41
STEPS = 80_000
N = 60


def draw(model: dp.models.Model, data: dp.Data, sampler: dp.Barker, **options: Any) -> dp.Posterior:
    return dp.sample(model, data, sampler, seed=SEED, draws=20_000, warmup=2000, progress=False, **options)


@pytest.mark.parametrize("w", [1.0, 0.2])
@pytest.mark.parametrize("dim", [1, 3, 5])
def test_gaussian_mean_has_its_conjugate_posterior(close_moments: Any, dim: int, w: float) -> None:
    sigma, scale, loc = 1.7, 0.3, 0.5
    x = np.random.default_rng(dim).normal(1.0, sigma, size=(37, dim))
    precision = w * len(x) / sigma**2 + 1.0 / scale**2
    mean = (w * x.sum(axis=0) / sigma**2 + loc / scale**2) / precision
    sd = precision**-0.5
    sampler = dp.Barker(steps=40_000 * (dim + 1), proposal="gaussian", scale=2.4 * sd / dim**0.5, w=w)
    model = dp.GaussianMean(sigma=sigma, prior=dp.Normal(scale=scale, loc=loc))
    close_moments(draw(model, dp.Data(x), sampler, private=False), mean, np.full(dim, sd))


class Case(NamedTuple):
    model: Callable[..., dp.models.Model]
    x: Floats
    y: Floats | None
    log_likelihood: Callable[[Floats, Floats, Floats | None], Floats]  # of (predictor, x, y), elementwise


def cases() -> dict[str, Case]:
    rng = np.random.default_rng(7)
    x = rng.uniform(-1.0, 1.0, N)
    coin = (rng.random(N) < 0.7).astype(float)
    label = (rng.random(N) < 1.0 / (1.0 + np.exp(-1.5 * x))).astype(float)
    line = 0.8 * x + rng.normal(size=N)
    heavy = 0.8 * x + rng.standard_t(2, size=N)
    count = rng.poisson(np.exp(0.8 * x)).astype(float)

    def bernoulli(eta: Floats, _: Floats, y: Any) -> Floats:
        return y * eta - np.logaddexp(0.0, eta)

    def huber(eta: Floats, _: Floats, y: Any) -> Floats:
        z = np.abs(y - eta) / 0.9
        return np.where(z <= 1.2, -(z**2) / 2, 1.2**2 / 2 - 1.2 * z)

    return {
        "bernoulli": Case(dp.BernoulliLogit, coin, None, lambda eta, c, _: bernoulli(eta, c, c)),
        "logistic": Case(dp.LogisticRegression, x, label, bernoulli),
        "linear": Case(
            lambda prior: dp.LinearRegression(prior=prior, sigma=1.3),
            x,
            line,
            lambda eta, _, y: -(((y - eta) / 1.3) ** 2) / 2,
        ),
        "poisson": Case(dp.PoissonRegression, x, count, lambda eta, _, y: y * eta - np.exp(eta)),
        "hinge": Case(dp.HingeClassifier, x, label, lambda eta, _, y: -np.maximum(0.0, 1.0 - (2 * y - 1) * eta)),
        "huber": Case(
            lambda prior: dp.HuberRegression(prior=prior, sigma=0.9, threshold=1.2),
            x,
            heavy,
            huber,
        ),
    }


CASES = cases()
PRIORS: dict[str, tuple[dp.priors.Prior, Callable[[Floats], Floats]]] = {
    "normal": (dp.Normal(scale=0.3, loc=0.1), lambda t: -(((t - 0.1) / 0.3) ** 2) / 2),
    "laplace": (dp.Laplace(scale=0.15, loc=0.1), lambda t: -np.abs(t - 0.1) / 0.15),
    "student": (dp.StudentT(df=3, scale=0.2), lambda t: -2.0 * np.log1p((t / 0.2) ** 2 / 3)),
}


def grid_moments(case: Case, log_prior: Callable[[Floats], Floats]) -> tuple[float, float]:
    theta = np.linspace(-4.0, 6.0, 20_001)
    predictor = theta[:, None] * (1.0 if case.y is None else case.x)
    total = case.log_likelihood(predictor, case.x, case.y).sum(axis=1) + log_prior(theta)
    density = np.exp(total - total.max())
    density /= density.sum()
    mean = float(density @ theta)
    return mean, float(density @ (theta - mean) ** 2) ** 0.5


@pytest.mark.parametrize("prior", list(PRIORS))
@pytest.mark.parametrize("name", list(CASES))
def test_one_dimensional_posteriors_agree_with_a_grid(close_moments: Any, name: str, prior: str) -> None:
    case, (stated, log_prior) = CASES[name], PRIORS[prior]
    mean, sd = grid_moments(case, log_prior)
    sampler = dp.Barker(steps=STEPS, proposal="gaussian", scale=2.4 * sd)
    post = draw(case.model(prior=stated), dp.Data(case.x, case.y), sampler, private=False)
    close_moments(post, [mean], [sd])


@pytest.mark.parametrize("proposal", ["ball", "truncated_gaussian"])
@pytest.mark.parametrize("name", ["bernoulli", "logistic", "hinge", "huber"])
def test_private_chains_with_a_lipschitz_constant_are_not_clipped_and_not_biased(
    close_moments: Any, name: str, proposal: Any
) -> None:
    case, (stated, log_prior) = CASES[name], PRIORS["normal"]
    mean, sd = grid_moments(case, log_prior)
    sampler = dp.Barker(steps=STEPS, proposal=proposal, scale=3.0 * sd)
    data = dp.Data(case.x, case.y, row_norm=1.0)
    post = draw(case.model(prior=stated), data, sampler, epsilon=1e6, delta=1e-6, unsafe_diagnostics=True)
    assert post.plan["private"]
    assert post.unsafe is not None
    assert post.unsafe.clipped_share == 0.0
    close_moments(post, [mean], [sd])


def test_a_private_tempered_chain_under_add_remove_has_the_tempered_posterior(close_moments: Any) -> None:
    case, (stated, log_prior) = CASES["logistic"], PRIORS["normal"]
    tempered = case._replace(log_likelihood=lambda eta, x, y: 0.4 * case.log_likelihood(eta, x, y))
    mean, sd = grid_moments(tempered, log_prior)
    sampler = dp.Barker(steps=STEPS, proposal="ball", scale=3.0 * sd, w=0.4)
    data = dp.Data(case.x, case.y, row_norm=1.0)
    close_moments(draw(case.model(prior=stated), data, sampler, adjacency="add_remove"), [mean], [sd])


def test_clipping_is_what_biases_a_chain(close_moments: Any) -> None:
    """The check above can fail: with a tenth of the needed bound the posterior is visibly wrong."""
    case, (stated, log_prior) = CASES["logistic"], PRIORS["normal"]
    mean, sd = grid_moments(case, log_prior)
    sampler = dp.Barker(steps=STEPS, proposal="ball", scale=3.0 * sd, clip=0.3 * sd)
    post = draw(case.model(prior=stated), dp.Data(case.x, case.y, row_norm=1.0), sampler)
    with pytest.raises(AssertionError):
        close_moments(post, [mean], [sd])
