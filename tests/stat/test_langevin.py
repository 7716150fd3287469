"""Langevin draws: the same bits for any threads, blocks and instruction set, and the posterior that was asked for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp
import pydpmc.running.run
from pydpmc import _core

Floats = npt.NDArray[np.float64]

SEED = 9
DRAWS = 8_000
LARGE = 60_003  # three threads share the records of a step; not a multiple of eight


@pytest.fixture(autouse=True)
def restore_isa() -> Iterator[None]:
    before = _core.isa()
    yield
    _core.use_isa(before)


def records(n: int, width: int = 3) -> dp.Data:
    rng = np.random.default_rng(n)
    x = rng.uniform(-1.0, 1.0, size=(n, width)) / math.sqrt(width)
    return dp.Data(x, (rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * x[:, 0]))).astype(float), row_norm=1.0)


def drawn(plan: dp.Plan, data: dp.Data, **options: Any) -> Floats:
    post = plan.run(data, seed=SEED, progress=False, **options)
    return np.concatenate(list(post.draws.values()), axis=2)[0]


@pytest.mark.parametrize(("n", "draws"), [(LARGE, 1), (2_003, 3)])
def test_draws_do_not_depend_on_threads_or_blocks(n: int, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = records(n)
    model = dp.LogisticRegression(intercept=True)
    plan = dp.plan(model, data.public, dp.Langevin(draws=draws, w=0.1, steps=30))
    reference = drawn(plan, data, threads=1)
    assert len(np.unique(reference)) == reference.size
    for threads, block in itertools.product((1, 3), (37, 4096)):
        monkeypatch.setattr(pydpmc.running.run, "BLOCK", block)
        assert np.array_equal(drawn(plan, data, threads=threads), reference), (threads, block)


def test_draws_do_not_depend_on_the_instruction_set_or_the_order_of_records() -> None:
    data = records(2_003, 9)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(draws=2, w=0.1, steps=50))
    found = {}
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        found[isa] = drawn(plan, data)
    print(f"instruction sets compared: {list(found)}")
    order = np.random.default_rng(1).permutation(2_003)
    shuffled = dp.Data(data._rows[order, :9], data._rows[order, 9], row_norm=1.0)
    found["shuffled"] = drawn(plan, shuffled)
    reference = next(iter(found.values()))
    for name, draws in found.items():
        assert np.array_equal(draws, reference), name


def test_the_first_draws_of_many_are_those_of_few() -> None:
    data = records(203)
    few, many = (
        drawn(dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(draws=k, w=0.1, steps=20)), data)
        for k in (2, 5)
    )
    assert np.array_equal(many[:2], few)


@pytest.mark.parametrize("prior", [dp.Normal(scale=0.1, loc=1.0), dp.Flat()], ids=repr)
def test_the_gaussian_mean_is_its_closed_form(prior: Any) -> None:
    """Tempered to w = 0.2; discretisation widens it by what the plan states and no more."""
    rng = np.random.default_rng(4)
    x = np.clip(rng.normal(0.3, 0.5, size=(24, 2)), -2.0, 2.0)
    data = dp.Data(x, x_bounds=(-2.0, 2.0))
    plan = dp.plan(dp.GaussianMean(prior=prior, sigma=0.5), data.public, dp.Langevin(draws=DRAWS, w=0.2, bias=0.05))
    precision = 0.2 * 24 / 0.25
    pull = 0.2 * x.sum(axis=0) / 0.25
    if isinstance(prior, dp.Normal):
        precision, pull = precision + 100.0, pull + 100.0
    draws = drawn(plan, data)
    sd = 1.0 / math.sqrt(precision)
    ratio = draws.std(axis=0) / sd
    print(f"{plan.settings.steps} steps, sd ratio {ratio}")
    assert np.abs(draws.mean(axis=0) - pull / precision).max() < (0.05 + 4.0 / math.sqrt(DRAWS)) * sd
    assert (ratio > 1.0 - 5.0 / math.sqrt(2 * DRAWS)).all()
    assert (ratio < 1.05 + 5.0 / math.sqrt(2 * DRAWS)).all()
    assert abs(np.corrcoef(draws.T)[0, 1]) < 5.0 / math.sqrt(DRAWS)
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 5.0 / math.sqrt(DRAWS)


def test_a_coin_is_sampled_from_its_tempered_posterior() -> None:
    ones, n, w = 37, 50, 0.4
    data = dp.Data(np.repeat([1.0, 0.0], [ones, n - ones]))
    draws = drawn(dp.plan(dp.BernoulliLogit(), data.public, dp.Langevin(draws=DRAWS, w=w, bias=0.05)), data)[:, 0]
    theta = np.linspace(-6.0, 6.0, 4001)
    log = w * (ones * theta - n * np.logaddexp(0.0, theta)) - 0.5 * theta**2
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    mean = float(mass @ theta)
    sd = math.sqrt(float(mass @ (theta - mean) ** 2))
    assert abs(draws.mean() - mean) < (0.05 + 4.0 / math.sqrt(DRAWS)) * sd
    assert abs(draws.std() / sd - 1.0) < 0.05 + 4.0 / math.sqrt(2 * DRAWS)


def test_huber_regression_shrugs_off_outliers() -> None:
    rng = np.random.default_rng(6)
    x = rng.uniform(-1.0, 1.0, size=(400, 1))
    y = 1.5 * x[:, 0] + 0.3 * rng.normal(size=400)
    y[:20] = 1e6
    data = dp.Data(x, y, row_norm=1.0)
    draws = drawn(dp.plan(dp.HuberRegression(sigma=0.3), data.public, dp.Langevin(draws=40, w=0.05, steps=2000)), data)
    assert abs(draws.mean() - 1.5) < 0.3
