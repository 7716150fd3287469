"""A run that is stopped in the middle: how soon, and what is left. Counted in blocks and steps, never in seconds."""

from __future__ import annotations

import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.core_calls import stoppable
from pydpmc.running.run import core_target

HERE = Path(__file__).parent
STEPS, FIRST, CHAINS, RECORDS = 300_000, 20, 2, 20_000  # far more steps than are made before the stop
PATIENCE = 100.0  # seconds: beyond them the run would go on for ever
GRADIENT = {"steps": STEPS, "step_size": 1e-6, "clip": 0.6}
SAMPLERS: dict[str, Any] = {
    "Barker": dp.Barker(steps=STEPS, scale=0.01),
    "Barker on batches": dp.Barker(steps=STEPS, scale=0.01, batch_size=1000, clip=0.0005),
    "SGLD": dp.SGLD(**GRADIENT, sampling="full"),
    "SGHMC": dp.SGHMC(**GRADIENT, sampling="full"),
    "SGNHT on batches": dp.SGNHT(**GRADIENT, batch_size=1000),
    "SGFS": dp.SGFS(**GRADIENT, sampling="full"),
    "preconditioned": dp.SGLD(**GRADIENT, sampling="full", preconditioner="diagonal"),
}


@pytest.fixture(scope="module")
def data() -> dp.Data:
    rng = np.random.default_rng(2)
    return dp.Data(rng.normal(size=(RECORDS, 2)), rng.integers(0, 2, RECORDS), row_norm=1.0)


def in_thread(core: Any, steps: int) -> threading.Thread:
    thread = threading.Thread(target=core.advance, args=(steps, 1, 512))
    thread.start()
    return thread


def wait_until_at_work(thread: threading.Thread) -> None:
    """A stop that comes before the chunk begins would not show what becomes of the chunk."""
    assert thread.ident is not None
    clock = time.pthread_getcpuclockid(thread.ident)
    while thread.is_alive() and time.clock_gettime(clock) < 0.02:
        thread.join(0.001)


def joined(thread: threading.Thread) -> bool:
    thread.join(PATIENCE)
    return not thread.is_alive()


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_stopped_run_is_back_where_its_chunk_began(name: str, data: dp.Data) -> None:
    plan = dp.plan(dp.LogisticRegression(), data.public, SAMPLERS[name], chains=CHAINS)
    draws = np.full((CHAINS, STEPS, 2), np.nan)
    common = {"init": start_points(plan, CHAINS, 7), "draws": draws, "warmup": 0, "thin": 1, "seed": 7}
    core = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    core.advance(FIRST, 1, 512)
    state = core.state()
    thread = in_thread(core, STEPS - FIRST)
    while np.isnan(draws[0, FIRST + 5, 0]) and thread.is_alive():  # the first chain is in the middle of its chunk
        thread.join(0.001)
    core.stop()
    assert joined(thread)
    assert np.isnan(draws[:, -1]).all()
    assert core.steps_done == FIRST
    assert core.state() == state
    core.advance(3, 1, 512)
    assert core.steps_done == FIRST


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stopped_langevin_run_releases_nothing(threads: int, data: dp.Data) -> None:
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(draws=1, w=0.1, steps=STEPS))
    draws = np.full((1, 1, 2), np.nan)
    common = {"init": np.zeros((1, 2)), "draws": draws, "warmup": STEPS - 1, "thin": 1, "seed": 7}
    core = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    core.advance(FIRST, threads, 512)
    thread = in_thread(core, STEPS - FIRST)
    wait_until_at_work(thread)
    core.stop()
    assert joined(thread)
    assert core.steps_done == FIRST
    assert np.isnan(draws).all()


def endless_nuts() -> Any:
    """One transition of a million gradients: on a flat density no trajectory turns back."""
    target = _core.Target(
        rows=np.zeros((RECORDS, 4)), columns=1, has_target=True, model="logistic_regression",
        intercept=False, constants=(0.0, 0.0), prior=np.zeros((1, 5)),
    )  # fmt: skip
    chains = _core.Chains(init=np.zeros((1, 1)), draws=np.full((1, 9, 1), np.nan), warmup=0, thin=1, seed=7)
    return _core.NutsRun(
        target, chains, weight=1.0, prior_weight=1.0,
        loglik_range=(-np.inf, np.inf), target_accept=0.8, max_depth=20, jitter=0.0,
    )  # fmt: skip


def test_a_trajectory_is_stopped_in_the_middle() -> None:
    core = endless_nuts()
    thread = in_thread(core, 1)
    while core.gradients[0] < 1000 and thread.is_alive():
        thread.join(0.001)
    core.stop()
    assert joined(thread)
    assert core.steps_done == 0
    assert core.gradients == [0]  # the dropped chunk is not counted


@pytest.mark.parametrize("start", [dp.SGLD(**GRADIENT, sampling="full"), dp.Langevin(draws=2, w=0.1, steps=STEPS)])
def test_a_hybrid_run_is_stopped_in_its_start(start: Any, data: dp.Data) -> None:
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Hybrid(start=start, chain=SAMPLERS["Barker"]))
    draws = np.full((1, 9, 2), np.nan)
    common = {"init": np.zeros((1, 2)), "draws": draws, "warmup": 0, "thin": 1, "seed": 7}
    core = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    thread = in_thread(core, 9)
    while core._running is None and thread.is_alive():
        thread.join(0.001)
    core.stop()
    assert joined(thread)
    assert core.steps_done == 0
    assert core._chain is None
    assert np.isnan(draws).all()


def test_a_stopped_conjugate_run_releases_nothing() -> None:
    data = dp.Data(np.zeros((9, 2)), row_norm=1.0)
    plan = dp.plan(dp.GaussianMean(), data.public, dp.ConjugateSample(draws=3), epsilon=1.0, delta=1e-6)
    draws = np.full((3, 1, 2), np.nan)
    common = {"init": np.zeros((3, 2)), "draws": draws, "warmup": 0, "thin": 1, "seed": 7}
    core = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    core.stop()
    core.advance(1, 1, 512)
    assert core.steps_done == 0
    assert np.isnan(draws).all()


def test_a_second_ctrl_c_waits_for_the_chunk_as_well() -> None:
    """It writes into the draws, which are read as soon as the block is left."""

    class Core:
        def __init__(self) -> None:
            self.stops, self.ended, self._gate = 0, False, threading.Event()

        def advance(self, steps: int, threads: int, block: int) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            self._gate.wait(PATIENCE)
            self.ended = True

        def stop(self) -> None:
            self.stops += 1
            if self.stops < 3:
                signal.setitimer(signal.ITIMER_REAL, 0.01)
            else:
                self._gate.set()

    core = Core()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), stoppable(core) as advance:
            advance(1, 1, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert core.ended
    assert core.stops >= 3


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not here to compile a team of threads by itself")
    made = tmp_path_factory.mktemp("team") / "stopped"
    flags = ["-std=c++20", "-O1", "-fopenmp", f"-I{HERE.parents[2] / 'csrc'}"]
    subprocess.run([compiler, *flags, str(HERE / "stopped_team.cpp"), "-o", str(made)], check=True)
    return made


@pytest.mark.parametrize("threads", [1, 4])
def test_a_team_works_on_no_more_than_a_block_a_thread_after_a_stop(program: Path, threads: int) -> None:
    done = subprocess.run([str(program), str(threads)], capture_output=True, text=True, check=True, timeout=PATIENCE)
    before, after = map(int, done.stdout.split())
    assert 100 <= before <= 100 + threads
    assert after <= threads
