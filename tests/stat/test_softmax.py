"""Softmax regression against moments by importance sampling, and two classes against logistic regression.

The reference is computed here with numpy: a Student t around the Laplace approximation, reweighted to the posterior.
A result agrees if every mean is within five standard errors (of both), or within the stated share of a posterior sd
where the sampler's own bias (discretisation, minibatches) is larger than that.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import pydpmc as dp
from pydpmc.diagnostics import ess

Floats = npt.NDArray[np.float64]

N, WIDTH, CLASSES, SEED = 150, 2, 3, 4
PRIOR = 0.5  # narrow, so that the sum over classes, of which the data say nothing, mixes too
MODEL = dp.SoftmaxRegression(classes=CLASSES, intercept=True, prior=dp.Normal(scale=PRIOR))
STANDARD_ERRORS = 5.0


@lru_cache
def records() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(N, WIDTH)) * 0.4
    scores = x @ np.array([[2.0, -1.0, 0.0], [0.0, 1.5, -2.0]]) + np.array([0.5, 0.0, -0.5])
    return x, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1).astype(float)


def data() -> dp.Data:
    return dp.Data(*records(), row_norm=2.0)


def log_posterior(theta: Floats) -> Floats:
    """Of each row of theta = (intercepts, slopes of class 0, of class 1, ...)."""
    x, y = records()
    intercepts, slopes = theta[:, :CLASSES], theta[:, CLASSES:].reshape(-1, CLASSES, WIDTH)
    eta = intercepts[:, None, :] + np.einsum("ij,tcj->tic", x, slopes)
    fit = eta[:, np.arange(N), y.astype(int)] - logsumexp(eta, axis=2)
    return np.asarray(fit.sum(axis=1) - 0.5 * (theta**2).sum(axis=1) / PRIOR**2)


@lru_cache
def reference() -> tuple[Floats, Floats, Floats]:
    """Return means, covariance and standard errors of the means."""
    dim = CLASSES * (WIDTH + 1)
    fitted = minimize(lambda t: -log_posterior(t[None])[0], np.zeros(dim), method="BFGS")
    rng = np.random.default_rng(0)
    factor = np.linalg.cholesky(1.1 * fitted.hess_inv)
    z, df, count = rng.normal(size=(40_000, dim)), 10.0, 40_000
    t = z / np.sqrt(rng.chisquare(df, size=(count, 1)) / df)
    proposal = -0.5 * (df + dim) * np.log1p((t**2).sum(axis=1) / df)
    theta = fitted.x + t @ factor.T
    log_weight = np.concatenate([log_posterior(part) for part in np.array_split(theta, 40)]) - proposal
    weight = np.exp(log_weight - logsumexp(log_weight))
    assert 1.0 / (weight**2).sum() > 0.3 * count
    mean = weight @ theta
    error = np.sqrt((weight**2) @ (theta - mean) ** 2)
    return mean, (theta - mean).T @ (weight[:, None] * (theta - mean)), error


def draws_of(post: dp.Posterior) -> Floats:
    return np.concatenate([post.draws[name] for name in ("intercept", "beta")], axis=2)


def compare(post: dp.Posterior, mean_bias: float, sd_within: float) -> None:
    mean, covariance, reference_error = reference()
    sd = np.sqrt(np.diag(covariance))
    draws = draws_of(post)
    effective = np.array([ess(draws[:, :, j]) for j in range(draws.shape[2])])
    standard_error = np.hypot(sd / np.sqrt(effective), reference_error)
    off = np.abs(draws.mean(axis=(0, 1)) - mean)
    ratio = draws.std(axis=(0, 1)) / sd
    print(
        f"ess {effective.min():.0f}; off by {np.max(off / standard_error):.2f} standard errors, "
        f"{np.max(off / sd):.3f} sd; sd ratios {ratio.min():.3f} to {ratio.max():.3f}"
    )
    assert (off < STANDARD_ERRORS * standard_error + mean_bias * sd).all()
    assert np.abs(ratio - 1.0).max() < sd_within


def run(sampler: Any, **options: Any) -> dp.Posterior:
    mean, _, _ = reference()
    return dp.sample(
        MODEL, data(), sampler, private=False, chains=2, init=mean, seed=SEED, draws=200_000, progress=False, **options
    )


def test_barker_on_all_records() -> None:
    sampler = dp.Barker(steps=60_000, proposal="gaussian", scale=0.5 * reference()[1])
    compare(run(sampler), mean_bias=0.0, sd_within=0.06)


def test_barker_on_minibatches() -> None:
    sampler = dp.Barker(
        steps=150_000, batch_size=75, proposal="truncated_gaussian", scale=0.02 * reference()[1], clip=0.1
    )
    compare(run(sampler), mean_bias=0.05, sd_within=0.1)


STEP = 0.1 / 40.0  # a tenth of the relaxation time of the narrowest direction, about


# What SGHMC and SGNHT do with a gradient does not depend on the model: test_gradient_samplers.py.
@pytest.mark.parametrize("sampler", [dp.SGLD, *(pytest.param(s, marks=pytest.mark.slow) for s in (dp.SGHMC, dp.SGNHT))])
def test_gradient_samplers_on_all_records(sampler: type) -> None:
    step = STEP * sampler().friction_of_noise
    compare(run(sampler(steps=100_000, step_size=step, sampling="full")), mean_bias=0.03, sd_within=0.07)


def test_sgld_on_poisson_samples_with_a_clip_that_does_not_act() -> None:
    """Private, so that the Lipschitz constant is the clip: if it were too small the mean would be off."""
    spec = dp.SGLD(steps=150_000, step_size=STEP / 2, batch_size=100)
    plan = dp.plan(MODEL, data().public, spec, chains=2, init=reference()[0])
    assert plan.forecast.clipped_at_most == 0.0
    compare(plan.run(data(), seed=SEED, draws=200_000, progress=False), mean_bias=0.05, sd_within=0.08)


def test_two_classes_are_logistic_regression() -> None:
    """beta_1 - beta_0 under Normal(s) each is the logistic beta under Normal(s sqrt 2), to Monte Carlo error."""
    x, y = records()
    two = dp.Data(x, (y > 0).astype(float), row_norm=2.0)
    options: dict[str, Any] = {"private": False, "seed": SEED, "draws": 200_000, "progress": False, "chains": 2}
    spec = dp.Barker(steps=60_000, proposal="gaussian", scale=0.35)
    softmax = dp.sample(dp.SoftmaxRegression(prior=dp.Normal(scale=PRIOR), intercept=True), two, spec, **options)
    logistic = dp.sample(
        dp.LogisticRegression(prior=dp.Normal(scale=PRIOR * 2**0.5), intercept=True), two, spec, **options
    )
    for name in ("intercept", "beta"):
        both = softmax.draws[name]
        half = both.shape[2] // 2
        difference, direct = both[:, :, half:] - both[:, :, :half], logistic.draws[name]
        for j in range(half):
            pair = [difference[:, :, j], direct[:, :, j]]
            error = np.hypot(*(v.std() / np.sqrt(ess(v)) for v in pair))
            off = abs(pair[0].mean() - pair[1].mean()) / error
            print(f"{name}[{j}]: {off:.2f} standard errors, sd ratio {pair[0].std() / pair[1].std():.3f}")
            assert off < STANDARD_ERRORS
            assert pair[0].std() == pytest.approx(pair[1].std(), rel=0.05)


def test_two_classes_have_the_logistic_likelihood_and_gradient(rng: np.random.Generator) -> None:
    """On theta = (-beta/2, beta/2) the two likelihoods agree to rounding."""
    from pydpmc import _core

    x, y = records()
    two = dp.Data(x, (y > 0).astype(float))
    common = {"rows": two._rows, "columns": WIDTH, "has_target": True, "intercept": False}
    for _ in range(20):
        beta = rng.normal(size=WIDTH) * 3
        theta = np.concatenate([-beta / 2, beta / 2]).tolist()
        softmax = {"model": "softmax_regression", "constants": (2.0, 0.0), "theta": theta}
        logistic = {"model": "logistic_regression", "constants": (0.0, 0.0), "theta": beta.tolist()}
        found, expected = (_core.log_likelihoods(**common, **m) for m in (softmax, logistic))
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
        sums = [_core.gradient_sum(**common, **m, clip=1e3, per_unit=2.0**35) for m in (softmax, logistic)]
        np.testing.assert_allclose(sums[0][WIDTH:], sums[1], atol=N)
        np.testing.assert_allclose(sums[0][:WIDTH], -np.array(sums[1]), atol=N)
