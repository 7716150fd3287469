"""The grid stays short enough for memory, and what it costs at rare samples lies above the exact price."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from pydpmc.accounting import PoissonGaussian
from pydpmc.accounting.composition.composed_losses import composed_losses
from pydpmc.accounting.composition.grid import choose_step

RARE = [(1e-7, 0.4, 1e-12), (1e-7, 0.3, 1e-12), (1e-5, 0.5, 1e-10), (1e-6, 0.35, 1e-9), (1e-8, 0.25, 1e-12)]


def one_step(epsilon, q, sd):
    """delta of one step for a removed record, in closed form; epsilon may be negative."""
    above = np.expm1(epsilon) + q
    x = sd * sd * np.log(np.maximum(above, 1e-300) / q) + 0.5
    found = q * stats.norm.sf((x - 1) / sd) - above * stats.norm.sf(x / sd)
    return np.where(above > 0, found, -np.expm1(epsilon))


def two_steps(epsilon, q, sd):
    """The same of two steps: the second one's delta, integrated over the first one's loss."""
    x, width = np.linspace(-12 * sd, 1 + 14 * sd, 20_001, retstep=True)
    ratio = 1 - q + q * np.exp((x - 0.5) / sd**2)
    return float(np.sum(width * stats.norm.pdf(x, scale=sd) * ratio * one_step(epsilon - np.log(ratio), q, sd)))


@pytest.mark.parametrize(("q", "sd", "delta"), RARE)
@pytest.mark.parametrize("steps", [1, 2])
def test_rare_samples_cost_no_less_than_the_exact_price(q, sd, delta, steps):
    epsilon = composed_losses(((PoissonGaussian(sd, q), steps),), "add_remove").epsilon(delta)
    exact = one_step if steps == 1 else two_steps
    assert math.isfinite(epsilon)
    assert exact(epsilon, q, sd) <= delta, "no less than the exact epsilon"
    assert exact(0.8 * epsilon - 0.4, q, sd) >= delta, "and not far more"


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_grid_has_more_cells_than_memory_allows(adjacency, rough):
    for q, sd in [(1e-7, 0.007), (1e-7, 0.12), (1e-8, 0.72), (1e-4, 0.3), (0.01, 1.0)]:
        event = PoissonGaussian(sd, q)
        step = choose_step(((event, 3),), adjacency, rough)
        assert all(len(loss.masses) <= 600_000 for loss in event.privacy_loss(adjacency, step))


PLAN = """
import dataclasses, resource, sys
import numpy as np, pydpmc as dp
public = dataclasses.replace(dp.Data(np.zeros((2, 1)), np.zeros(2), row_norm=1.0).public, n=10**9)
sampler = dp.SGLD(steps=int(sys.argv[1]), sampling="poisson", batch_size=100)
dp.plan(dp.LogisticRegression(), public, sampler, epsilon=1.0, delta=1e-12)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux alone")
@pytest.mark.parametrize("steps", [1, 3, 20_000])
def test_a_plan_on_rare_samples_stays_within_300_MB(steps):
    made = subprocess.run([sys.executable, "-P", "-c", PLAN, str(steps)], capture_output=True, text=True, check=True)
    print(f"{steps} steps: {made.stdout.strip()} MB")
    assert int(made.stdout) < 300
