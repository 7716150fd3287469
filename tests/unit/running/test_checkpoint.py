"""Checkpoints: a killed run can be resumed, costs nothing more, and is never released twice."""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import BudgetError, CheckpointError, LedgerError
from pydpmc.planning.arguments import start_points
from pydpmc.running import checkpoint_file
from pydpmc.running.run import core_target

SAMPLERS = {
    "Barker": dp.Barker(steps=60, scale=0.05),
    "Barker on batches": dp.Barker(steps=60, scale=0.05, batch_size=50, clip=0.005),
    "SGLD": dp.SGLD(steps=60, step_size=1e-4, clip=2.0),
    "SGHMC": dp.SGHMC(steps=60, step_size=1e-4, clip=2.0),
    "SGNHT": dp.SGNHT(steps=60, step_size=1e-4, clip=2.0),
    "SGFS": dp.SGFS(steps=60, step_size=1e-4, clip=2.0),
    "preconditioned": dp.SGLD(steps=60, step_size=1e-4, clip=2.0, preconditioner="diagonal"),
}


@pytest.fixture
def data(rng):
    return dp.Data(rng.normal(size=(300, 2)), rng.integers(0, 2, 300), row_norm=1.0)


@pytest.fixture
def plan(data):
    return dp.plan(dp.LogisticRegression(), data.public, SAMPLERS["SGNHT"], chains=2)


def started(plan, data, seed=7):
    out = np.zeros((2, 60, plan.settings.dim))
    common = {"init": start_points(plan, 2, None), "draws": out, "warmup": 0, "thin": 1, "seed": seed}
    return out, plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_the_state_is_all_that_a_run_needs_to_go_on(sampler, data):
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=2)
    whole, straight = started(plan, data)
    straight.advance(60, 1, 64)
    _, first = started(plan, data)
    first.advance(25, 1, 64)
    rest, second = started(plan, data)
    second.restore(first.state(), 25)
    second.advance(35, 1, 64)
    assert second.steps_done == 60
    assert (rest[:, 25:] == whole[:, 25:]).all()
    assert not rest[:, :25].any()
    assert second.state() == straight.state()
    assert getattr(second, "accepted", []) == getattr(straight, "accepted", [])


def test_a_state_of_another_shape_is_refused(plan, data):
    _, core = started(plan, data)
    with pytest.raises(ValueError, match="another run"):
        core.restore(core.state()[:-1], 5)
    with pytest.raises(ValueError, match="steps_done"):
        core.restore(core.state(), 61)


def test_a_finished_run_is_returned_again_and_charged_once(plan, data, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=15, delta=1e-6)
    options = {"ledger": ledger, "checkpoint": tmp_path / "run.ckpt", "progress": False}
    first = plan.run(data, **options)
    again = plan.run(data, **options)
    assert (first.draws["beta"] == again.draws["beta"]).all()
    (entry,) = ledger.history()
    assert entry.finished
    assert entry.resumed == 0


class Stopped(Exception):
    pass


def stop_after(steps, monkeypatch):
    """Make the next run break down once so many steps are saved."""
    from pydpmc.running.safekeeping import Safekeeping

    def after_chunk(self, core):
        self.save(core)
        if core.steps_done >= steps:
            raise Stopped

    monkeypatch.setattr(Safekeeping, "after_chunk", after_chunk)
    monkeypatch.setattr("pydpmc.running.run.CHUNK_SECONDS", 0.0)  # else a busy machine's chunks may end with the run


def test_a_resumed_run_keeps_its_draws_and_takes_new_random_numbers(plan, data, tmp_path, monkeypatch):
    path, copy = tmp_path / "run.ckpt", tmp_path / "copy.ckpt"
    with monkeypatch.context() as patched:
        stop_after(20, patched)
        with pytest.raises(Stopped):
            plan.run(data, checkpoint=path, warmup=0, progress=False)
    header, (_, saved) = checkpoint_file.read(path)
    shutil.copy(path, copy)
    one, other = (plan.run(data, checkpoint=p, warmup=0, progress=False).draws["beta"] for p in (path, copy))
    done = header["steps_done"]
    assert 20 <= done < 60
    assert one.shape[1] == 60
    assert (one[:, :done].ravel() == saved).all()
    assert (one[:, :done] == other[:, :done]).all()
    assert not (one[:, done + 1 :] == other[:, done + 1 :]).any()


def test_a_copy_of_a_checkpoint_is_not_resumed_a_second_time(plan, data, tmp_path, monkeypatch):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=15, delta=1e-6)
    path, copy = tmp_path / "run.ckpt", tmp_path / "copy.ckpt"
    with monkeypatch.context() as patched:
        stop_after(20, patched)
        with pytest.raises(Stopped):
            plan.run(data, checkpoint=path, ledger=ledger, progress=False)
    shutil.copy(path, copy)
    with pytest.raises(CheckpointError, match="pass that ledger"):
        plan.run(data, checkpoint=path)
    plan.run(data, checkpoint=path, ledger=ledger, progress=False)
    with pytest.raises(LedgerError, match="already resumed"):
        plan.run(data, checkpoint=copy, ledger=ledger)
    (entry,) = ledger.history()
    assert (entry.finished, entry.resumed) == (True, 1)


def test_a_run_whose_checkpoint_was_resumed_elsewhere_returns_nothing(plan, data, tmp_path, monkeypatch):
    from pydpmc.running.safekeeping import Safekeeping

    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=15, delta=1e-6)
    path, copy = tmp_path / "run.ckpt", tmp_path / "copy.ckpt"
    elsewhere = []

    def after_chunk(self, core):
        if not elsewhere:
            elsewhere.append(True)
            self.save(core)
            shutil.copy(path, copy)
            plan.run(data, checkpoint=copy, ledger=ledger, progress=False)

    monkeypatch.setattr(Safekeeping, "after_chunk", after_chunk)
    with pytest.raises(LedgerError, match="must not be released"):
        plan.run(data, checkpoint=path, ledger=ledger, progress=False)
    assert not path.exists()
    assert len(ledger.history()) == 1


def test_a_crash_between_checkpoint_and_charge_is_made_up_for(plan, data, tmp_path, monkeypatch):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=15, delta=1e-6)
    with monkeypatch.context() as patched:
        patched.setattr(dp.Ledger, "reserve", lambda *_: (_ for _ in ()).throw(Stopped))
        with pytest.raises(Stopped):
            plan.run(data, checkpoint=tmp_path / "run.ckpt", ledger=ledger)
    assert ledger.history() == ()
    plan.run(data, checkpoint=tmp_path / "run.ckpt", ledger=ledger, progress=False)
    assert len(ledger.history()) == 1


def test_a_refused_run_leaves_no_checkpoint(plan, data, tmp_path):
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=0.01, delta=1e-6)
    with pytest.raises(BudgetError):
        plan.run(data, checkpoint=tmp_path / "run.ckpt", ledger=ledger)
    assert not (tmp_path / "run.ckpt").exists()


def test_what_cannot_be_resumed_is_refused_before_anything_runs(plan, data, tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    plan.run(data, checkpoint=path, progress=False)
    for options in ({"draws": 10}, {"warmup": 3}):
        with pytest.raises(CheckpointError, match="draws or warmup"):
            plan.run(data, checkpoint=path, **options)
    longer = dp.plan(dp.LogisticRegression(), data.public, dp.SGNHT(steps=70, step_size=1e-4, clip=2.0), chains=2)
    with pytest.raises(CheckpointError, match=r"another run.*plan"):
        longer.run(data, checkpoint=path)
    with pytest.raises(CheckpointError, match="new random numbers"):
        plan.run(data, checkpoint=tmp_path / "seeded.ckpt", seed=1)
    with pytest.raises(CheckpointError, match="cannot be written"):
        plan.run(data, checkpoint=tmp_path / "absent" / "run.ckpt")
    hidden = dp.samplers.base.last_iterates(60, 2, None, None)
    monkeypatch.setattr(type(plan.settings), "releases", lambda *_: hidden)
    with pytest.raises(CheckpointError, match="hides its intermediate states"):
        plan.run(data, checkpoint=tmp_path / "hidden.ckpt")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.ckpt", "run.ckpt.lock"]


def test_a_checkpoint_holds_no_key_and_no_pickle(plan, data, tmp_path):
    path = tmp_path / "run.ckpt"
    plan.run(data, checkpoint=path, progress=False)
    header, arrays = checkpoint_file.read(path)
    known = {"run", "ticket", "resumed", "charged", "steps_done", "token", "confirmed", "table", "sizes"}
    assert set(header) == known
    assert header["sizes"] == [2 * (2 * plan.settings.dim + 1), 2 * 48 * plan.settings.dim]
    size = len(checkpoint_file.MAGIC) + 8 + 32 + 8 * sum(array.size for array in arrays)
    assert path.stat().st_size - size == pytest.approx(len(str(header)), rel=0.1)  # nothing else is in the file


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_damaged_checkpoint_is_refused(plan, data, tmp_path, rng, count):
    path = tmp_path / "run.ckpt"
    plan.run(data, checkpoint=path, progress=False)
    content = path.read_bytes()
    for place in rng.integers(0, len(content), count):
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.integers(8)
        for damaged in (bytes(flipped), content[:place], rng.bytes(int(place) + 1)):
            path.write_bytes(damaged)
            with pytest.raises(CheckpointError, match="damaged"):
                checkpoint_file.read(path)
    with pytest.raises(CheckpointError, match="delete it to start anew"):
        plan.run(data, checkpoint=path)


def test_two_processes_do_not_share_a_checkpoint(plan, data, tmp_path):
    import fcntl

    path = tmp_path / "run.ckpt"
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CheckpointError, match="in use"):
            plan.run(data, checkpoint=path)


KILLED = """
    import os, signal, sys, time
    import numpy as np, pydpmc as dp
    from pathlib import Path
    from pydpmc.running import checkpoint_file, run as running, safekeeping
    safekeeping.INTERVAL, safekeeping.PATIENCE = 0.02, 1.0
    running.CHUNK_SECONDS = 0.003
    save = safekeeping.Safekeeping.after_chunk
    name, folder, kills = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    data = dp.Data(np.linspace(-1, 1, 8000).reshape(-1, 2), (np.arange(4000) % 3 == 0), row_norm=1.0)
    sampler = {"Barker": dp.Barker(steps=1500, scale=0.001),
               "SGHMC": dp.SGHMC(steps=1500, step_size=1e-8, clip=1.0, sampling="full")}[name]
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=2)
    ledger = dp.Ledger(folder / "study.ledger", epsilon=10, delta=1e-6)
    path, done = folder / "run.ckpt", 0
    def run():
        return plan.run(data, ledger=ledger, checkpoint=path, warmup=0, threads=1, progress=False, anyway=True)
    for kill in range(kills):
        child = os.fork()
        if child == 0:
            safekeeping.Safekeeping.after_chunk = lambda self, core: (save(self, core), time.sleep(0.05))
            run()
            os._exit(0)
        started = time.time()
        while time.time() - started < 60:
            time.sleep(0.05)
            if path.exists() and checkpoint_file.read(path)[0]["steps_done"] > done + 1000 // (kills + 1):
                break
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        header, (state, draws) = checkpoint_file.read(path)
        assert header["steps_done"] > done
        done = header["steps_done"]
    post = run()
    theta = post.draws["beta"]
    assert not post.interrupted and theta.shape[1] == 1500 and (theta[:, -1] != 0).any()
    assert (theta[:, :done].ravel() == draws).all()
    (entry,) = ledger.history()
    assert entry.finished and entry.guarantee == plan.guarantee and entry.resumed >= kills
    assert ledger.spent() == plan.guarantee
    print("resumed", entry.resumed, "last killed at", done)
"""


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["Barker", "SGHMC"])
def test_a_killed_run_is_resumed_and_the_ledger_adds_up(name, kills, tmp_path):
    called = [sys.executable, "-c", textwrap.dedent(KILLED), name, str(tmp_path), str(kills)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(called, capture_output=True, text=True, check=False, cwd="/", env=environment, timeout=900)
    assert done.returncode == 0, done.stderr
    print(done.stdout)


def test_ctrl_c_keeps_the_draws_and_the_run_can_go_on(data, plan, tmp_path, monkeypatch):
    from pydpmc.running.progress import Progress

    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=15, delta=1e-6)
    options = {"ledger": ledger, "checkpoint": tmp_path / "run.ckpt", "warmup": 0, "progress": False}

    def interrupt(self, done):
        if done > 10:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Progress, "update", interrupt)
        part = plan.run(data, **options)
    whole = plan.run(data, **options)
    made = part.draws["beta"].shape[1]
    assert part.interrupted
    assert 10 < made < 60
    assert (whole.draws["beta"][:, :made] == part.draws["beta"]).all()
    assert len(ledger.history()) == 1
