"""The same seed gives the same bits: for any threads, blocks and instruction set, and any order of the records."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp
import pydpmc.running.run
from pydpmc import _core

Floats = npt.NDArray[np.float64]

SEED = 5
LARGE = 100_003  # five threads share the records of a step; not a multiple of eight
SMALL = 2_003


@pytest.fixture(autouse=True)
def restore_isa() -> Iterator[None]:
    before = _core.isa()
    yield
    _core.use_isa(before)


def records(n: int, width: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(n)
    x = rng.uniform(-1.0, 1.0, size=(n, width)) / width**0.5
    return x, (rng.random(n) < 0.4).astype(float)


def logistic(data: dp.Data, chains: int, **barker: Any) -> dp.Plan:
    return dp.plan(
        dp.LogisticRegression(intercept=True), data.public, dp.Barker(**barker), private=False, chains=chains
    )


def full(n: int, chains: int, steps: int = 40) -> tuple[dp.Plan, dp.Data]:
    data = dp.Data(*records(n), row_norm=1.0)
    return logistic(data, chains, steps=steps, scale=0.02), data


def minibatch(chains: int, steps: int = 200) -> tuple[dp.Plan, dp.Data]:
    data = dp.Data(*records(SMALL), row_norm=1.0)
    options = {"batch_size": 301, "proposal": "ball", "scale": 0.03, "w": 0.2}
    return logistic(data, chains, steps=steps, **options), data


PLANS = {
    "full, one chain": lambda: full(LARGE, 1),
    "full, three chains": lambda: full(LARGE, 3),
    "full, few records": lambda: full(SMALL, 3),
    "minibatch, one chain": lambda: minibatch(1),
    "minibatch, three chains": lambda: minibatch(3),
}


def advanced(compiled_run: Any, made: Any, threads: int, block: int, chunks: int = 1) -> tuple[Floats, Any]:
    plan, data = made
    core, draws = compiled_run(plan, data, SEED)
    for _ in range(chunks):
        core.advance(plan.settings.steps // chunks, threads, block)
    assert np.isfinite(draws).all()
    return draws, core.accepted


@pytest.mark.parametrize("name", list(PLANS))
def test_draws_do_not_depend_on_threads_or_blocks(compiled_run: Any, name: str) -> None:
    made = PLANS[name]()
    reference, accepted = advanced(compiled_run, made, 1, 4096)
    assert all(0 < count < made[0].settings.steps for count in accepted)
    for threads, block in itertools.product((1, 2, 5), (37, 1000, 4096)):
        draws, _ = advanced(compiled_run, made, threads, block)
        assert np.array_equal(draws, reference), (threads, block)


@pytest.mark.parametrize("name", list(PLANS))
def test_draws_do_not_depend_on_the_instruction_set(compiled_run: Any, name: str) -> None:
    made = PLANS[name]()
    found = {}
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        found[isa], _ = advanced(compiled_run, made, 2, 4096)
    print(f"instruction sets compared: {list(found)}")
    reference = next(iter(found.values()))
    for isa, draws in found.items():
        assert np.array_equal(draws, reference), isa


def test_draws_do_not_depend_on_how_often_the_run_returns_to_python(compiled_run: Any) -> None:
    made = minibatch(3)
    assert np.array_equal(advanced(compiled_run, made, 2, 4096)[0], advanced(compiled_run, made, 2, 4096, chunks=20)[0])


def test_chains_and_seeds_differ(compiled_run: Any) -> None:
    plan, data = full(SMALL, 3)
    draws = advanced(compiled_run, (plan, data), 1, 4096)[0]
    core, other = compiled_run(plan, data, SEED + 1)
    core.advance(plan.settings.steps, 1, 4096)
    for first, second in [*itertools.combinations(draws, 2), *zip(draws, other, strict=True)]:
        assert not np.array_equal(first, second)


def test_sample_does_not_depend_on_threads_or_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, data = full(LARGE, 1)
    found = []
    for threads, block in [(1, 4096), (2, 37), (5, 1000)]:
        monkeypatch.setattr(pydpmc.running.run, "BLOCK", block)
        found.append(plan.run(data, seed=SEED, threads=threads, warmup=0, progress=False).draws["beta"])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


MODELS: dict[str, Any] = {
    "logistic": dp.LogisticRegression(),
    "linear": dp.LinearRegression(),
    "poisson": dp.PoissonRegression(),
    "hinge": dp.HingeClassifier(),
    "huber": dp.HuberRegression(),
    "mean": dp.GaussianMean(),
    "mixture": dp.GaussianMixture(),
    "coin": dp.BernoulliLogit(),
    "softmax": dp.SoftmaxRegression(classes=3),
}


def table(name: str, order: npt.NDArray[np.intp], width: int) -> dp.Data:
    x, y = records(len(order), width)
    if name == "coin":
        return dp.Data(y[order])
    if name == "mixture":
        return dp.Data(x[order, 0])
    return dp.Data(x[order], None if name == "mean" else y[order])


@pytest.mark.parametrize("width", [1, 3, 4, 9])
@pytest.mark.parametrize("name", list(MODELS))
def test_the_order_of_the_records_does_not_matter(compiled_run: Any, name: str, width: int) -> None:
    n = 1_003
    rng = np.random.default_rng(width)
    orders = [np.arange(n), np.arange(n)[::-1], *(rng.permutation(n) for _ in range(3))]
    found = []
    for order in orders:
        data = table(name, order, width)
        plan = dp.plan(MODELS[name], data.public, dp.Barker(steps=60, proposal="gaussian", scale=0.02), private=False)
        found.append(advanced(compiled_run, (plan, data), 1, 100)[0])
    assert len(np.unique(found[0][0, :, 0])) > 5
    for draws in found[1:]:
        assert np.array_equal(draws, found[0])


@pytest.mark.parametrize("width", [1, 3, 4, 9])
@pytest.mark.parametrize("name", list(MODELS))
def test_a_record_contributes_the_same_at_every_position(compiled_run: Any, name: str, width: int) -> None:
    """Records that contribute nothing pad the table, so that one record sits in each lane, body and remainder."""
    x, y = records(64, width)
    if name == "coin":
        x, y = y[:, None], None
    elif name == "mixture":
        x, y = x[:, :1], None
    elif name == "mean":
        y = None
    found = []
    for size, position in [(1, 0), (8, 0), (8, 7), (19, 3), (19, 12), (19, 18), (64, 40)]:
        padded, target = np.full((size, x.shape[1]), np.nan), None if y is None else np.full(size, np.nan)
        padded[position] = x[5]
        if y is not None and target is not None:
            target[position] = y[5]
        data = dp.Data(padded, target, on_invalid="drop")
        plan = dp.plan(MODELS[name], data.public, dp.Barker(steps=60, proposal="gaussian", scale=0.5), private=False)
        found.append(advanced(compiled_run, (plan, data), 1, 5)[0])
    for draws in found[1:]:
        assert np.array_equal(draws, found[0])


def test_duplicated_records_count_twice_at_half_the_weight(compiled_run: Any) -> None:
    """Twice the table at w = 1/2 has the same D at every step, to the last bit of the integer sum."""
    x, y = records(SMALL)
    found = []
    for copies in (1, 2, 4):
        data = dp.Data(np.tile(x, (copies, 1)), np.tile(y, copies), row_norm=1.0)
        plan = logistic(data, 1, steps=200, scale=0.1, w=1.0 / copies)
        core, draws = compiled_run(plan, data, SEED, bits=40)
        core.advance(200, 1, 777)
        found.append(draws)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
