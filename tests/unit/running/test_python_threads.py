"""Runs from several Python threads at once, in forked and in spawned processes."""

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _files
from pydpmc.running import core_calls

SAMPLERS = (dp.Barker(steps=300, scale=0.05), dp.SGLD(steps=300, step_size=1e-4, clip=2.0), dp.Newton())


@pytest.fixture
def data(rng):
    return dp.Data(rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000), row_norm=1.0)


def plans(data):
    return [
        dp.plan(dp.LogisticRegression(), data.public, sampler, **{"epsilon": 1.0, "delta": 1e-6} if new else {})
        for sampler, new in zip(SAMPLERS, (False, False, True), strict=True)
    ]


def test_runs_at_the_same_time_do_not_disturb_each_other(data):
    def draws(job):
        plan, seed = job
        return plan.run(data, seed=seed, threads=2, progress=False).draws["beta"]

    jobs = [(plan, seed) for seed in range(4) for plan in plans(data)]
    alone = [draws(job) for job in jobs]
    with ThreadPoolExecutor(max_workers=6) as pool:
        together = list(pool.map(draws, jobs))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_without_a_seed_share_no_draw(data):
    plan = plans(data)[1]
    with ThreadPoolExecutor(max_workers=4) as pool:
        runs = list(pool.map(lambda _: plan.run(data, progress=False), range(4)))
    firsts = {float(run.draws["beta"][0, 0, 0]) for run in runs}
    assert len(firsts) == len(runs)
    assert all(run.private for run in runs)


PROCESSES = """
import multiprocessing, sys, warnings
from concurrent.futures import ProcessPoolExecutor
import numpy as np, pydpmc as dp

warnings.filterwarnings("ignore", message="the draws have not converged")

def drawn(seed):
    rng = np.random.default_rng(1)
    data = dp.Data(rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.SGLD(steps=100, step_size=1e-4, clip=2.0))
    return plan.run(data, seed=seed, threads=2, progress=False, anyway=True).draws["beta"].tobytes()

if __name__ == "__main__":
    warnings.filterwarnings("ignore", message=".*multi-threaded.*fork", category=DeprecationWarning)
    here = [drawn(1), drawn(2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(sys.argv[1])) as pool:
        assert list(pool.map(drawn, [1, 2])) == here
        assert len(set(pool.map(drawn, [None, None, None, None]))) == 4
    print("the same")
"""


@pytest.mark.parametrize(
    "method",
    [
        pytest.param("fork", marks=pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")),
        "spawn",
    ],
)
def test_other_processes_draw_the_same_with_a_seed_and_anew_without(method, tmp_path):
    script = tmp_path / "long.py"
    script.write_text(textwrap.dedent(PROCESSES))
    command = [sys.executable, "-W", "error", str(script), method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "the same"


BESIDE = """
import sys
first, second = sys.argv[1:]
for name in (first, second):
    __import__(name)
import numpy as np, pydpmc as dp, torch

rng = np.random.default_rng(1)
data = dp.Data(rng.normal(size=(20000, 3)), rng.integers(0, 2, 20000), row_norm=1.0)
plan = dp.plan(dp.LogisticRegression(), data.public, dp.Newton(), epsilon=1.0, delta=1e-6)
matrix, draws = torch.rand(400, 400, dtype=torch.float64), []
torch.set_num_threads(2)
for threads in (1, 2, 2):
    product = matrix @ matrix
    numbers = matrix.numpy() @ matrix.numpy()
    draws.append(plan.run(data, seed=1, threads=threads, progress=False).draws["beta"].tobytes())
    assert torch.allclose(torch.from_numpy(numbers), product)
assert len(set(draws)) == 1
print("the same")
"""


@pytest.mark.parametrize("order", [("torch", "pydpmc"), ("pydpmc", "torch")])
def test_threads_run_beside_those_of_torch_and_numpy(order, tmp_path):
    pytest.importorskip("torch", reason="torch brings an OpenMP runtime of its own; it is not installed")
    script = tmp_path / "long.py"
    script.write_text(BESIDE)
    done = subprocess.run(
        [sys.executable, str(script), *order], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "the same"


def test_a_system_that_does_not_tell_affinity_uses_all_its_cores(monkeypatch):
    monkeypatch.setattr(core_calls.sys, "platform", "darwin")
    monkeypatch.setattr(core_calls.os, "cpu_count", lambda: 5)
    assert core_calls.usable_cores() == 5
    monkeypatch.setattr(core_calls.os, "cpu_count", lambda: None)
    assert core_calls.usable_cores() == 1


def test_a_system_without_nofollow_refuses_a_link_all_the_same(monkeypatch, tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"x")
    link.symlink_to(target)
    monkeypatch.setattr(_files, "NO_FOLLOW", 0)
    with pytest.raises(OSError, match="symbolic link"):
        _files.read_itself(link, None)
    assert _files.read_itself(target, None) == b"x"
