"""Every random word of a run has one use: streams are disjoint by purpose, chain and step, and no key leaves.

The core logs (purpose, chain, step, number of words) of every stream that a run takes words from. A stream that appears
twice gave the same words twice: noise that protects records would also be seen through what protects nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

SEED, CHAINS, STEPS, RECORDS = 0x1234_5678_9ABC, 3, 40, 60
PURPOSES = {number: name for name, number in _core.random.purposes.items()}
Entry = tuple[str, int, int]

GRADIENT = {"steps": STEPS, "step_size": 1e-3, "clip": 0.6}
SAMPLERS: dict[str, tuple[Any, set[str]]] = {
    "Barker": (dp.Barker(steps=STEPS, scale=0.1), {"proposal", "accept"}),
    "Barker on batches": (
        dp.Barker(steps=STEPS, scale=0.05, batch_size=20, clip=0.005),
        {"proposal", "accept", "subsample"},
    ),
    "SGLD": (dp.SGLD(**GRADIENT, sampling="full"), {"noise"}),
    "SGLD on batches": (dp.SGLD(**GRADIENT, batch_size=10), {"noise", "subsample"}),
    "preconditioned": (
        dp.SGLD(**GRADIENT, batch_size=10, preconditioner="diagonal"),
        {"noise", "subsample", "diffusion"},
    ),
    "SGHMC": (dp.SGHMC(**GRADIENT, sampling="full"), {"noise"}),
    "SGNHT": (dp.SGNHT(**GRADIENT, sampling="without_replacement", batch_size=10), {"noise", "subsample"}),
    "SGFS": (dp.SGFS(**GRADIENT, sampling="full", noise_matrix=(0.5, 1.0)), {"noise", "diffusion"}),
    "DPVI": (
        dp.DPVI(steps=STEPS, noise_multiplier=2.0, clip=0.6, batch_size=10),
        {"noise", "subsample", "diffusion"},
    ),
}
CHAIN_OF = {"draws": np.empty((CHAINS, STEPS, 2)), "warmup": 0, "thin": 1}


@pytest.fixture
def logged() -> Iterator[Any]:
    """Yield a function that returns what was used since it was last called, and how often."""

    def counted() -> Counter[Entry]:
        return Counter((PURPOSES[p], chain, step) for p, chain, step, words in _core.random.logged_streams() if words)

    _core.random.log_streams(True)
    yield counted
    _core.random.log_streams(False)


def records(target: bool = True) -> dp.Data:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(RECORDS, 2))
    return dp.Data(x, rng.integers(0, 2, RECORDS), row_norm=1.0) if target else dp.Data(x, row_norm=1.0)


def started(plan: dp.Plan, data: dp.Data) -> Any:
    common = CHAIN_OF | {"init": start_points(plan, CHAINS, SEED), "seed": SEED}
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)


@pytest.mark.parametrize("name", SAMPLERS)
def test_no_word_of_a_chain_is_used_twice(name: str, logged: Any) -> None:
    data, (sampler, expected) = records(), SAMPLERS[name]
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=CHAINS)
    core = started(plan, data)
    for chunk in (1, 7, STEPS - 8):
        core.advance(chunk, 2, 64)
    del core
    used = logged()
    assert {purpose for purpose, _, _ in used} == expected
    # The stream of a sample is read again after a chunk, for the same steps.
    once = {entry: count for entry, count in used.items() if entry[0] != "subsample"}
    assert set(once.values()) == {1}
    for purpose in expected - {"subsample"}:
        last = 1 if name == "DPVI" and purpose == "diffusion" else 0  # draws after the last step have their own stream
        steps = range(STEPS + last)
        assert {(c, t) for p, c, t in used if p == purpose} == {(c, t) for c in range(CHAINS) for t in steps}
    if "subsample" in expected:
        assert {c for p, c, _ in used if p == "subsample"} == set(range(CHAINS))


@pytest.mark.parametrize("name", ["Barker on batches", "SGLD on batches", "SGNHT"])
def test_no_word_of_a_sample_is_used_twice_within_a_chunk(name: str, logged: Any) -> None:
    data, (sampler, _) = records(), SAMPLERS[name]
    core = started(dp.plan(dp.LogisticRegression(), data.public, sampler, chains=CHAINS), data)
    core.advance(STEPS, 2, 64)
    del core
    assert set(logged().values()) == {1}


RUNS: dict[str, tuple[Any, bool, Any, set[str]]] = {
    "Langevin": (dp.LogisticRegression(), True, dp.Langevin(draws=3, w=0.5, steps=9), {"noise"}),
    "conjugate mean": (dp.GaussianMean(), False, dp.ConjugateSample(draws=3, w=0.3), {"noise", "diffusion"}),
    "conjugate regression": (dp.LinearRegression(sigma=1.0), True, dp.ConjugateSample(draws=3), {"noise", "diffusion"}),
    "Newton": (dp.LogisticRegression(), True, dp.Newton(draws=20), {"look", "diffusion"}),
    "posterior sample": (
        dp.LogisticRegression(),
        True,
        dp.PosteriorSample(draws=2, w=0.1),
        {"trajectory", "adaptation"},
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_no_word_of_a_run_is_used_twice(name: str, logged: Any) -> None:
    model, target, sampler, expected = RUNS[name]
    data = records(target)
    if name == "conjugate regression":
        rng = np.random.default_rng(6)
        data = dp.Data(rng.normal(size=(RECORDS, 2)), rng.normal(size=RECORDS), row_norm=1.0, y_bounds=(-1.0, 1.0))
    plan = dp.plan(
        model, data.public, sampler, epsilon=2.0 if name.startswith(("conj", "Newton")) else None, delta=1e-6
    )
    plan.run(data, seed=SEED, progress=False)
    used = logged()
    assert {purpose for purpose, _, _ in used} == expected
    assert set(used.values()) == {1}


def test_nuts_uses_no_word_twice(logged: Any) -> None:
    data = records()
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.NUTS(draws=40, warmup=40), chains=2, private=False)
    plan.run(data, seed=SEED, progress=False)
    used = logged()
    assert {purpose for purpose, _, _ in used} == {"trajectory", "adaptation"}
    assert set(used.values()) == {1}


def test_a_seeded_start_and_its_chain_share_no_word() -> None:
    """Their streams have the same names, so their keys must differ."""
    seeds: list[int] = []

    class Spy:
        def __getattr__(self, name: str) -> Any:
            found = getattr(_core, name)
            if name not in ("GradientRun", "LangevinRun", "BarkerRun"):
                return found
            return lambda target, chains, **rest: (seeds.append(chains.seed), found(target, chains, **rest))[1]

    data = records()
    sampler = dp.Hybrid(start=dp.SGLD(**GRADIENT, sampling="full"), chain=dp.Barker(steps=STEPS, scale=0.1))
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler)
    common = {"init": np.zeros((1, 2)), "draws": np.empty((1, STEPS, 2)), "warmup": 0, "thin": 1, "seed": SEED}
    plan.settings.start(Spy(), core_target(plan, data), _core.Chains(**common), data).advance(STEPS, 1, 64)
    assert len(set(seeds)) == 2


def test_prior_starts_use_a_stream_per_chain(logged: Any) -> None:
    plan = dp.plan(dp.LogisticRegression(), records().public, dp.Barker(steps=9, scale=0.1), chains=3, init="prior")
    start_points(plan, 3, SEED)
    assert logged() == Counter({("initial", chain, 0): 1 for chain in range(3)})


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_state_holds_no_word_of_the_key(name: str) -> None:
    """In no form: not its bytes, and not the numbers that its words are."""
    data, (sampler, _) = records(), SAMPLERS[name]
    core = started(dp.plan(dp.LogisticRegression(), data.public, sampler, chains=CHAINS), data)
    core.advance(STEPS, 1, 64)
    state = np.array(core.state())
    key = _core.random.key_from_seed(SEED)
    halves, words = np.frombuffer(key, dtype="<u4"), np.frombuffer(key, dtype="<u8")
    held = state.tobytes() + state.astype(np.float32).tobytes()
    for part in (*halves, *words):
        assert part.tobytes() not in held
        assert part.astype(float) not in np.abs(state)
        assert part.view(f"i{part.itemsize}").astype(float) not in state
    assert (halves > 2**16).all()  # or a word could be there by chance
