"""SGFS and preconditioned SGLD against closed forms, at steps at which plain SGLD is wrong or slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp

Floats = npt.NDArray[np.float64]

SEED = 5
RECORDS = 400
STEPS = 40_000


def standard_records() -> Floats:
    """Records whose covariance is exactly the model's, so that the information is the curvature."""
    x = np.random.default_rng(3).normal(size=(RECORDS, 3))
    x -= x.mean(axis=0)
    return x @ np.linalg.inv(np.linalg.cholesky(x.T @ x / RECORDS)).T + 0.3


def draws(sampler: Any, w: float = 1.0, **options: Any) -> tuple[Floats, Floats]:
    """Return draws of a Gaussian mean in units of the posterior's sd, without its mean."""
    x = standard_records()
    precision = w * RECORDS + 1.0
    mean = w * x.sum(axis=0) / precision
    plan = dp.plan(dp.GaussianMean(), dp.Data(x).public, sampler, init=mean, **options)
    post = plan.run(dp.Data(x), seed=SEED, draws=STEPS, warmup=2000, progress=False, threads=1)
    theta = next(iter(post.draws.values()))[0]
    return (theta - mean) * precision**0.5, plan.settings.step_sizes * precision


SAMPLINGS = {
    "full": {"sampling": "full"},
    "poisson": {"batch_size": 80},
    "without_replacement": {"batch_size": 80, "sampling": "without_replacement"},
}


@pytest.mark.parametrize("w", [1.0, 0.3])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_sgfs_has_the_right_variance_at_long_steps_and_small_batches(sampling: str, w: float) -> None:
    options = {"steps": STEPS, "step_size": 1.0 / (w * RECORDS + 1.0), "w": w, **SAMPLINGS[sampling]}
    found, _ = draws(dp.SGFS(**options), w, private=False)
    plain, _ = draws(dp.SGLD(**options), w, private=False)
    print(f"{sampling}, w = {w}: variance over the target's {found.var(axis=0)}, of SGLD {plain.var(axis=0)}")
    assert np.abs(found.mean(axis=0)).max() < 0.1
    assert np.abs(found.var(axis=0) - 1.0).max() < 0.07
    assert plain.var(axis=0).min() > 1.8


def test_sgfs_takes_a_diagonal_noise_matrix() -> None:
    sampler = dp.SGFS(steps=STEPS, step_size=1.0 / 401.0, sampling="full", noise_matrix=(0.5, 3.0, 1.0))
    found, _ = draws(sampler, private=False)
    assert np.abs(found.std(axis=0) - 1.0).max() < 0.07


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_private_sgfs_has_the_same_target(sampling: str) -> None:
    """The information is noised too; the mean over the run is what counts."""
    options = {"steps": STEPS, "step_size": 0.5 / 401.0, "clip": 6.0, **SAMPLINGS[sampling]}
    found, _ = draws(dp.SGFS(**options))
    print(f"{sampling}: sd ratio {found.std(axis=0)}, mean error {found.mean(axis=0)}")
    assert np.abs(found.mean(axis=0)).max() < 0.15
    assert np.abs(found.std(axis=0) - 1.0).max() < 0.08


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_preconditioner_keeps_the_target(sampling: str, private: bool) -> None:
    """At a step at which plain SGLD has two to five times the variance."""
    options = {"steps": STEPS, "step_size": 1.0 / 401.0, **SAMPLINGS[sampling]} | ({"clip": 6.0} if private else {})
    found, _ = draws(dp.SGLD(**options, preconditioner="diagonal"), private=private)
    print(f"{sampling}: sd ratio {found.std(axis=0)}, mean error {found.mean(axis=0)}")
    assert np.abs(found.mean(axis=0)).max() < 0.2
    assert np.abs(found.std(axis=0) - 1.0).max() < 0.1


def test_the_preconditioner_mixes_an_ill_scaled_problem_that_plain_sgld_cannot() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1000, 3)) * [3.0, 0.3, 0.03]
    y = x @ [0.5, -1.0, 2.0] + rng.normal(size=1000)
    precision = x.T @ x + np.eye(3)
    covariance = np.linalg.inv(precision)
    mean, sd = covariance @ x.T @ y, np.sqrt(np.diag(covariance))
    widths = np.linalg.eigvalsh(precision)

    def run(sampler: dp.SGLD) -> tuple[float, Floats, Floats]:
        model, data = dp.LinearRegression(sigma=1.0), dp.Data(x, y, row_norm=15.0)
        post = dp.sample(model, data, sampler, private=False, init=mean, seed=SEED, draws=STEPS, progress=False)
        beta = post.draws["beta"][0]
        return post.summary().column("ess").min(), (beta.mean(axis=0) - mean) / sd, beta.std(axis=0) / sd

    slow, *_ = run(dp.SGLD(steps=STEPS, step_size=0.1 / widths[-1]))
    fast, error, ratio = run(dp.SGLD(steps=STEPS, step_size=0.3 / widths[0], preconditioner="diagonal"))
    print(f"condition {widths[-1] / widths[0]:.0f}: ess {slow:.0f} without, {fast:.0f} with; {error}, {ratio}")
    assert fast > 20.0 * slow
    assert fast > 500
    assert np.abs(error).max() < 0.1
    assert np.abs(ratio - 1.0).max() < 0.07


@pytest.mark.parametrize("sampler", [dp.SGFS, lambda **o: dp.SGLD(**o, preconditioner="diagonal")])
def test_raised_noise_is_the_temperature_of_short_steps(sampler: Any) -> None:
    """In both samplers the added diffusion noise is raised together with the noise that gives privacy."""
    extra = {"noise_matrix": (0.5, 2.0, 0.5)} if sampler is dp.SGFS else {}
    spec = sampler(steps=STEPS, step_size=0.1 / 401.0, clip=6.0, sampling="full", **extra)
    found, _ = draws(spec, epsilon=15.0, delta=1e-6)
    heat = dp.plan(dp.GaussianMean(), dp.Data(standard_records()).public, spec, epsilon=15.0, delta=1e-6).settings.heat
    assert heat > 1.5
    assert np.abs(found.std(axis=0) / heat - 1.0).max() < 0.12
