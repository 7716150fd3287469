"""SGLD, SGHMC and SGNHT against closed forms, and the same bits for the same seed however the work is split.

With n records of a Gaussian mean and a normal prior the posterior is N(m, 1/p). A step of size h then has the known
stationary variance 1 / (p (1 - h p / 2)) for SGLD.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import UnsupportedEventError
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]

SEED = 11
RECORDS = 400
SAMPLERS = (dp.SGLD, dp.SGHMC, dp.SGNHT)


def preconditioned(**options: Any) -> dp.SGLD:
    return dp.SGLD(preconditioner="diagonal", **options)


ALL_SAMPLERS = (*SAMPLERS, dp.SGFS, preconditioned)  # for targets of the last two: test_fisher_scoring.py


@pytest.fixture(autouse=True)
def restore_isa() -> Iterator[None]:
    before = _core.isa()
    yield
    _core.use_isa(before)


def gaussian(width: int = 4) -> tuple[dp.Data, Floats, float]:
    """Return records of a Gaussian mean, the posterior mean and the posterior precision."""
    x = np.random.default_rng(3).normal(0.3, 1.0, size=(RECORDS, width))
    precision = RECORDS + 1.0
    return dp.Data(x), x.sum(axis=0) / precision, precision


def step_of(sampler: type, fraction: float, precision: float) -> float:
    """Return the step size that is `fraction` of the relaxation time of the target."""
    friction = sampler().friction_of_noise
    return fraction * friction / precision


def draws_of(sampler: type, fraction: float, steps: int = 200_000, **options: Any) -> tuple[Floats, Floats, float]:
    data, mean, precision = gaussian()
    spec = sampler(steps=steps, step_size=step_of(sampler, fraction, precision), **options)
    post = dp.sample(
        dp.GaussianMean(), data, spec, private=False, init=mean, seed=SEED, draws=steps, warmup=1000, progress=False
    )
    return np.asarray(next(iter(post.draws.values())))[0], mean, precision


@pytest.mark.parametrize("fraction", [0.5, 0.2])
def test_sgld_has_the_variance_of_its_step_size(fraction: float) -> None:
    theta, mean, precision = draws_of(dp.SGLD, fraction)
    ratio = theta.var(axis=0).mean() * precision
    print(f"h p = {fraction}: variance over the target's {ratio:.4f}, expected {1 / (1 - fraction / 2):.4f}")
    assert ratio == pytest.approx(1.0 / (1.0 - fraction / 2.0), rel=0.02)
    assert np.abs(theta.mean(axis=0) - mean).max() * precision**0.5 < 0.05


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_small_steps_reach_the_target(sampler: type) -> None:
    theta, mean, precision = draws_of(sampler, 0.1)
    error = np.abs(theta.mean(axis=0) - mean) * precision**0.5
    ratio = theta.std(axis=0) * precision**0.5
    print(f"{sampler.__name__}: mean error {error.max():.3f} sd, sd ratio {ratio.round(3)}")
    assert error.max() < 0.1
    assert np.abs(ratio - 1.0).max() < 0.07


@pytest.mark.parametrize("sampling", ["poisson", "without_replacement"])
def test_minibatches_are_unbiased_and_add_the_variance_they_should(sampling: str) -> None:
    """The batch's own noise: per step h^2 (n/b)^2 times the variance of a batch's sum, on top of 2h."""
    fraction, batch = 0.05, 100
    theta, mean, precision = draws_of(dp.SGLD, fraction, batch_size=batch, sampling=sampling)
    data, *_ = gaussian()
    x, rate, h = data._rows[:, :4], batch / RECORDS, fraction / precision
    second = ((x - mean) ** 2).sum(axis=0) + RECORDS / precision  # E over theta
    centred = RECORDS * x.var(axis=0) * RECORDS / (RECORDS - 1)
    batch_noise = (1.0 - rate) / rate * (second if sampling == "poisson" else centred)
    # Poisson samples of 1 - q: the multiplier of theta is random too; its share is in `second`.
    expected = (2.0 * h + h * h * batch_noise) / (1.0 - (1.0 - fraction) ** 2)
    ratio = theta.var(axis=0) / expected
    print(f"{sampling}: variance over expected {ratio.round(3)}, over the target's {(theta.var(axis=0) * precision)}")
    assert np.abs(theta.mean(axis=0) - mean).max() * precision**0.5 < 0.1
    assert np.abs(ratio - 1.0).max() < 0.06


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("sampling", ["full", "poisson"])
def test_private_runs_have_the_same_target(sampler: type, sampling: str) -> None:
    """Private: the clip is the only difference, and here it does not act."""
    data, mean, precision = gaussian()
    options = {} if sampling == "full" else {"batch_size": 300}
    spec = sampler(steps=100_000, step_size=step_of(sampler, 0.05, precision), clip=10.0, sampling=sampling, **options)
    post = dp.plan(dp.GaussianMean(), data.public, spec, init=mean).run(
        data, seed=SEED, draws=100_000, warmup=1000, progress=False
    )
    theta = np.asarray(next(iter(post.draws.values())))[0]
    ratio = theta.std(axis=0) * precision**0.5
    print(f"{sampler.__name__}, {sampling}: sd ratio {ratio.round(3)}")
    assert np.abs(theta.mean(axis=0) - mean).max() * precision**0.5 < 0.15
    assert np.abs(ratio - 1.0).max() < 0.08


def test_heat_is_the_temperature_of_the_chain() -> None:
    data, mean, precision = gaussian()
    spec = dp.SGLD(steps=100_000, step_size=0.05 / precision, clip=10.0, sampling="full")
    plan = dp.plan(dp.GaussianMean(), data.public, spec, init=mean, epsilon=300.0, delta=1e-6)
    assert plan.settings.heat > 1.2
    post = plan.run(data, seed=SEED, draws=100_000, warmup=1000, progress=False)
    ratio = np.asarray(next(iter(post.draws.values())))[0].var(axis=0).mean() * precision
    assert ratio == pytest.approx(plan.settings.heat**2 / (1.0 - 0.025), rel=0.05)


LARGE, SMALL = 20_481, 1_003  # five whole blocks and one record


def logistic(n: int, chains: int, sampler: Any, **options: Any) -> tuple[dp.Plan, dp.Data]:
    rng = np.random.default_rng(n)
    x = rng.uniform(-1.0, 1.0, size=(n, 3)) / 3**0.5
    data = dp.Data(x, (rng.random(n) < 0.4).astype(float), row_norm=1.0)
    spec = sampler(steps=30, step_size=0.01 / n, **options)
    return dp.plan(dp.LogisticRegression(intercept=True), data.public, spec, chains=chains), data


def grouped(n: int, groups: int, chains: int, sampler: type, **options: Any) -> tuple[dp.Plan, dp.Data]:
    """A softmax, on groups of one to several records."""
    rng = np.random.default_rng(n)
    x = rng.uniform(-1.0, 1.0, size=(n, 3)) / 3**0.5
    data = dp.Data(x, rng.integers(0, 3, n), row_norm=1.0, groups=rng.integers(0, groups, n))
    spec = sampler(steps=30, step_size=0.01 / n, **options)
    return dp.plan(dp.SoftmaxRegression(classes=3, intercept=True), data.public, spec, chains=chains), data


PLANS = {
    "groups, full": lambda s: grouped(LARGE, 4 * LARGE, 1, s, sampling="full", clip=2.0),
    "groups, Poisson": lambda s: grouped(SMALL, 300, 3, s, batch_size=101, clip=2.0),
    "full, one chain": lambda s: logistic(LARGE, 1, s, sampling="full"),
    "full, three chains": lambda s: logistic(LARGE, 3, s, sampling="full"),
    "full, few records": lambda s: logistic(SMALL, 3, s, sampling="full"),
    "Poisson, one chain": lambda s: logistic(SMALL, 1, s, batch_size=101),
    "Poisson, three chains": lambda s: logistic(SMALL, 3, s, batch_size=101),
    "without replacement": lambda s: logistic(SMALL, 3, s, batch_size=900, sampling="without_replacement"),
}


def advanced(made: tuple[dp.Plan, dp.Data], threads: int, block: int, chunks: int = 1) -> Floats:
    plan, data = made
    settings = plan.settings
    draws = np.full((plan.chains, settings.steps, settings.dim), np.nan)
    common = {"init": start_points(plan, plan.chains, SEED), "draws": draws, "warmup": 0, "thin": 1, "seed": SEED}
    core = settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    for _ in range(chunks):
        core.advance(settings.steps // chunks, threads, block)
    assert np.isfinite(draws).all()
    assert len(np.unique(draws)) == draws.size
    return draws


@pytest.mark.parametrize("sampler", ALL_SAMPLERS)
@pytest.mark.parametrize("name", list(PLANS))
def test_the_same_seed_gives_the_same_bits(name: str, sampler: Any) -> None:
    """Over threads, blocks, chunks and instruction sets."""
    if name.startswith("groups") and sampler is dp.SGFS:
        with pytest.raises(UnsupportedEventError, match="no proof for groups"):
            PLANS[name](sampler)
        return
    made = PLANS[name](sampler)
    reference = advanced(made, 1, 4096)
    for threads, block in ((1, 37), (2, 37), (2, 4096), (5, 1000)):
        assert np.array_equal(advanced(made, threads, block), reference), (threads, block)
    assert np.array_equal(advanced(made, 2, 4096, chunks=10), reference)
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        assert np.array_equal(advanced(made, 2, 4096), reference), isa


@pytest.mark.parametrize("sampler", ALL_SAMPLERS)
def test_records_without_a_gradient_change_nothing_of_a_full_run(sampler: Any) -> None:
    """Under add_remove the number of records enters only through the sum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    found = []
    for extra in (0, 1, 7):
        data = dp.Data(np.vstack([x, np.zeros((extra, 3))]), np.ones(50 + extra), row_norm=10.0)
        spec = sampler(steps=40, step_size=1e-3)
        plan = dp.plan(dp.LogisticRegression(), data.public, spec, adjacency="add_remove")
        found.append(advanced((plan, data), 1, 4096))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
