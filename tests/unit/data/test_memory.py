"""Peak memory, measured in a process of its own: one copy of the records in Data, and a run that adds little to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ALLOWED = 20e6  # less than a second copy of the records
SCRIPT = """
import json, pathlib, sys
import numpy as np
import scipy.stats  # R-hat imports it, but not if all draws are alike, which chance decides
import pydpmc as dp

def peak():
    return 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

def now():
    return 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

def grown(call):
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = now()
    result = call()
    return result, peak() - before

name, storage, columns, sampling = sys.argv[1:]
n, width = 400_000, int(columns)
x = np.random.default_rng(1).standard_normal((n, width)) / width**0.5
y = (x[:, 0] > 0).astype(float)
small = dp.Data(x[:100], y[:100], row_norm=2.0, storage=storage)
sampler = {
    "Barker": lambda steps: dp.Barker(steps=steps, scale=0.01, batch_size=None if sampling == "full" else 50, w=1e-3),
    "SGLD": lambda steps: dp.SGLD(steps=steps, step_size=1e-7, batch_size=None if sampling == "full" else 50),
    "Langevin": lambda steps: dp.Langevin(steps=steps, w=1e-3, draws=2),
    "NUTS": lambda steps: dp.NUTS(draws=2, warmup=20, max_depth=1),
}[name]
private = {"private": False} if name == "NUTS" else {}
dp.plan(dp.LogisticRegression(), small.public, sampler(5), **private).run(small, threads=2, progress=False, anyway=True)
data, made = grown(lambda: dp.Data(x, y, row_norm=2.0, storage=storage))
del x, y
plan = dp.plan(dp.LogisticRegression(), data.public, sampler(10), **private)
post, ran = grown(lambda: plan.run(data, threads=2, progress=False, anyway=True))
draws = sum(values.nbytes for values in post.draws.values())
print(json.dumps({"rows": data._rows.nbytes, "made": made, "ran": ran, "draws": draws}))
"""


def usage(*arguments: str) -> dict[str, float]:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("no /proc/self/clear_refs here: peak memory cannot be measured")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("sampler", "storage", "columns", "sampling"),
    [
        ("Barker", "float64", "10", "full"),
        ("SGLD", "float32", "20", "minibatch"),
        ("SGLD", "fixed16", "20", "full"),
        ("Langevin", "float64", "10", "full"),
        ("NUTS", "float64", "10", "full"),
    ],
)
def test_a_run_needs_the_records_once_its_draws_and_at_most_20_megabytes(sampler, storage, columns, sampling):
    found = usage(sampler, storage, columns, sampling)
    print({name: f"{value / 1e6:.1f} MB" for name, value in found.items()})
    assert found["rows"] > 25e6
    assert found["made"] < found["rows"] + ALLOWED
    assert found["ran"] < found["draws"] + ALLOWED
