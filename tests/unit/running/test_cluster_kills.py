"""Workers and drivers that are killed in the middle of steps: the same draws, one charge, no hang."""

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import cluster_workers
import clusters
import numpy as np
import pytest

import pydpmc as dp
from pydpmc.data.cluster import session
from pydpmc.running import run as running

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]  # the warnings are Dask's own
ROWS, CELLS, LONGEST = 40_000, 4, 60.0
HELPERS = Path(__file__).parents[2] / "helpers"


@pytest.fixture(scope="module")
def client():
    with clusters.local_client(n_workers=0, dashboard_address="localhost:0") as c:
        c.own_workers = cluster_workers.Workers(c)
        for _ in range(3):
            c.own_workers.add()
        c.wait_for_workers(3, timeout=120)
        yield c


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("parquet")
    clusters.files(found, ROWS)
    return found


@pytest.fixture
def as_if_private(monkeypatch):
    """Let a run with a seed be charged: only so can its draws be compared."""
    monkeypatch.setattr(running, "_void", lambda *_: None)


class Clock:
    """Seconds in which this process ran: one that was stopped, as a shared machine may do, did not hang."""

    def __init__(self):
        self.seconds = 0.0
        threading.Thread(target=self._tick, daemon=True).start()

    def _tick(self):
        while True:
            before = time.monotonic()
            time.sleep(0.05)
            self.seconds += min(time.monotonic() - before, 1.0)


class Killer:
    """Kills a worker a few milliseconds after a question went out, at questions spread over a run."""

    def __init__(self, monkeypatch, client, kills, steps, rng):
        self.killed, self.pauses, self._client, self._rng = [], [], client, rng
        at = set(np.linspace(3, steps - 3, kills).astype(int).tolist())
        clock, true, numbers = Clock(), session.ClusterSession.ask, itertools.count()

        def ask(asked, wanted, threads):
            if next(numbers) in at:
                client.wait_for_workers(2, timeout=600)  # how fast a machine starts processes is no matter here
                threading.Thread(target=self._kill, args=(asked._cluster,), daemon=True).start()
            before = clock.seconds
            answer = true(asked, wanted, threads)
            self.pauses.append(clock.seconds - before)
            return answer

        monkeypatch.setattr(session.ClusterSession, "ask", ask)

    def _kill(self, cluster):
        pids = self._client.own_workers.pids()
        holders = sorted(set(cluster._at.values()) & set(pids) - set(self.killed))
        if holders:
            address = holders[self._rng.integers(len(holders))]
            time.sleep(self._rng.uniform(0.0, 0.004))
            os.kill(pids[address], signal.SIGKILL)
            self.killed.append(address)
            self._client.own_workers.add()
            if len(self.killed) % 10 == 0:
                print(f"{len(self.killed)} workers killed, longest step so far {max(self.pauses):.1f} s", flush=True)


@pytest.mark.parametrize("kills", [100])
def test_killed_workers_change_nothing(client, folder, kills, tmp_path, monkeypatch, as_if_private, rng):
    scheme = clusters.schema()
    data = dp.Data.from_parquet(folder, scheme, client=client, cells=CELLS, timeout=LONGEST)
    memory = scheme.data(clusters.table(ROWS)).in_cells(CELLS)
    steps = 10 + 3 * kills
    ledger = dp.Ledger(tmp_path / "study.ledger", epsilon=5.0, delta=1e-5)
    for number, sampler in enumerate(
        (
            dp.SGLD(steps=steps, sampling="poisson", batch_size=5000),
            dp.Langevin(draws=1, steps=steps),
        )
    ):
        plan = dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-6)
        wanted = clusters.draws(plan, memory)
        with monkeypatch.context() as patched:
            killer = Killer(patched, client, kills if number == 0 else min(kills, 20), steps, rng)
            found = clusters.draws(plan, data, ledger=ledger)
        print(f"{type(sampler).__name__}: {len(killer.killed)} workers killed, longest step {max(killer.pauses):.1f} s")
        assert len(killer.killed) >= 0.9 * (kills if number == 0 else min(kills, 20))
        assert max(killer.pauses) < LONGEST
        np.testing.assert_array_equal(found, wanted)
        assert [entry.finished for entry in ledger.history()] == [True] * (number + 1)


DRIVER = """
    import json, sys, time
    from pathlib import Path
    sys.path.insert(0, sys.argv[1])
    import clusters, distributed, numpy as np, pydpmc as dp
    from pydpmc.running import run as running, safekeeping
    safekeeping.INTERVAL = 0.0
    running.CHUNK_SECONDS = 0.003
    running._void = lambda *_: None  # a run with a seed, whose draws can be compared, is charged as if it had none
    scheduler, files, folder, steps = sys.argv[2], sys.argv[3], Path(sys.argv[4]), int(sys.argv[5])
    names = ("tls_ca_file", "tls_client_cert", "tls_client_key")
    security = distributed.Security(**{name: str(folder / name) for name in names}, require_encryption=True)
    if __name__ == "__main__":
        with distributed.Client(scheduler, security=security) as client:
            data = dp.Data.from_parquet(files, clusters.schema(), client=client, cells=4)
            sampler = dp.SGLD(steps=steps, sampling="poisson", batch_size=5000)
            plan = dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-6)
            options = {"ledger": folder / "study.ledger", "checkpoint": folder / "run.ckpt"}
            found = clusters.draws(plan, data, warmup=0, **options)
            np.save(folder / "draws.npy", found)
"""


@pytest.mark.parametrize("kills", [20])
def test_a_killed_driver_goes_on_from_its_checkpoint(client, folder, kills, tmp_path, rng):
    from pydpmc.running import checkpoint_file

    for name in ("tls_ca_file", "tls_client_cert", "tls_client_key"):
        (tmp_path / name).write_text(getattr(client.security, name))
    steps, path = 150 * (kills + 1), tmp_path / "run.ckpt"
    dp.Ledger(tmp_path / "study.ledger", epsilon=3.0, delta=1e-5)
    script = [sys.executable, "-c", textwrap.dedent(DRIVER), str(HELPERS), client.scheduler.address, str(folder)]
    done = killed = 0
    longest, clock = 0.0, Clock()
    while True:
        started = clock.seconds
        driver = subprocess.Popen([*script, str(tmp_path), str(steps)], cwd="/", stderr=subprocess.PIPE, text=True)
        goal = done + rng.integers(5, 40)
        while killed < kills and driver.poll() is None and _steps_done(checkpoint_file, path) < goal:
            assert clock.seconds - started < LONGEST
            time.sleep(0.01)
        if killed < kills and driver.poll() is None:
            driver.kill()
            killed += 1
        errors = driver.communicate(timeout=300)[1]
        now = _steps_done(checkpoint_file, path)
        assert now > done or driver.returncode == 0, errors
        done, longest = now, max(longest, clock.seconds - started)
        if driver.returncode == 0:
            break
        assert driver.returncode == -signal.SIGKILL, errors
    memory = clusters.schema().data(clusters.table(ROWS)).in_cells(4)
    sampler = dp.SGLD(steps=steps, sampling="poisson", batch_size=5000)
    plan = dp.plan(dp.LogisticRegression(), memory.public, sampler, epsilon=1.0, delta=1e-6)
    np.testing.assert_array_equal(np.load(tmp_path / "draws.npy"), clusters.draws(plan, memory, warmup=0))
    (entry,) = dp.Ledger(tmp_path / "study.ledger").history()
    print(json.dumps({"killed": killed, "resumed": entry.resumed, "longest life of a driver, s": round(longest, 1)}))
    assert killed == kills
    assert entry.finished
    assert entry.resumed >= kills


def _steps_done(checkpoint_file, path):
    return checkpoint_file.read(path)[0]["steps_done"] if path.exists() else 0
