"""The minibatch test accepts as often as the exact test would, for small and large shares of the records.

Bits come from a frozen move of the compiled test. The variance of a batch mean must have its finite-population factor
1 - b/n: without it (planted below) the accept probability is visibly off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pydpmc as dp

N = 1000
C = 1.5
BITS = 400_000  # at half as many the planted fault below is 5 to 8 standard errors, by the seed
LOG_RATIO = 1.3  # of all records: where the logistic curve bends most


def frozen(share: float) -> tuple[dp.Plan, dp.Data]:
    """Return a run whose move -1 -> 1 has log ratio LOG_RATIO and a batch variance of about 0.45 (1 - share)."""
    x = np.random.default_rng(1).uniform(-1.0, 1.0, N)
    batch = round(share * N)
    kappa = (1.0 - share) / (batch - 1)
    w = math.sqrt(0.45 * (1.0 - share) / kappa / (2.0 * x).var()) / N
    prior = dp.Normal(loc=0.5 * (LOG_RATIO - w * (2.0 * x).sum()))
    data = dp.Data(x, x_bounds=(-1.0, 1.0))
    sampler = dp.Barker(steps=1, batch_size=batch, proposal="ball", scale=2.0, clip=2.0, w=w, c=C)
    return dp.plan(dp.GaussianMean(prior=prior), data.public, sampler), data


def error(compiled_run: Callable[..., Any], share: float, **changed: float) -> float:
    """Return the accept frequency less logistic(LOG_RATIO), in standard errors."""
    plan, data = frozen(share)
    core, _ = compiled_run(plan, data, 17, **changed)
    frequency = float(np.mean(core.audit([-1.0], [1.0], 0, BITS)))
    exact = 1.0 / (1.0 + math.exp(-LOG_RATIO))
    print(f"share {share}: accepted {frequency:.4f}, exact {exact:.4f}")
    return (frequency - exact) / math.sqrt(exact * (1.0 - exact) / BITS)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
def test_accept_frequency_is_that_of_all_records(compiled_run: Any, share: float) -> None:
    assert abs(error(compiled_run, share)) < 4.0


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_without_the_finite_population_factor_it_is_not(compiled_run: Any, share: float) -> None:
    plan, _ = frozen(share)
    assert abs(error(compiled_run, share, v_max=plan.settings.v_max / (1.0 - share))) > 6.0
