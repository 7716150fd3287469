"""Frozen moves of the compiled accept test, and what their bits say about epsilon.

The model is a Gaussian mean and the move goes from -1 to 1, so that the log-likelihood ratio of a record is
proportional to the record: 0 stays 0, and FAR is clipped to the bound, whatever it is. The prior adds any offset.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import beta, binom

import pydpmc as dp
from pydpmc import _core
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]

FAR = 1000.0
CHUNK = 1_000_000


def planned(records: npt.ArrayLike, offset: float, *, adjacency: str = "replace", **barker: Any) -> Any:
    """Return the plan and the data of a frozen move whose log prior ratio is `offset`."""
    data = dp.Data(np.asarray(records, dtype=float), public_n=len(np.asarray(records)))
    model = dp.GaussianMean(prior=dp.Normal(loc=0.5 * offset))
    sampler = dp.Barker(proposal="ball", scale=1.0, **barker)
    return dp.plan(model, data.public, sampler, adjacency=adjacency), data


def accepts(plan: Any, data: Any, count: int, seed: int, **changed: float) -> Floats:
    """Return accept bits of the frozen move; `changed` plants a fault behind the plan's back."""
    chains = _core.Chains(init=np.zeros((1, 1)), draws=np.empty((1, 0, 1)), warmup=0, thin=1, seed=seed)
    arguments = plan.settings.core_arguments(_core, data.public) | changed
    core = _core.BarkerRun(core_target(plan, data), chains, **arguments)
    return np.asarray(core.audit([-1.0], [1.0], 0, count))


def count_accepts(plan: Any, data: Any, total: int, seed: int, **changed: float) -> int:
    return sum(
        int(accepts(plan, data, min(CHUNK, total - start), seed + start, **changed).sum())
        for start in range(0, total, CHUNK)
    )


def epsilon_of_counts(p: float, q: float, steps: int, delta: float) -> float:
    """Return the exact epsilon of Binomial(steps, p) against Binomial(steps, q), the worse of both orders."""
    k = np.arange(steps + 1)
    first, second = binom.logpmf(k, steps, p), binom.logpmf(k, steps, q)
    return max(_epsilon(first, second, delta), _epsilon(second, first, delta))


def _epsilon(first: Floats, second: Floats, delta: float) -> float:
    def excess(eps: float) -> float:
        return float(np.maximum(np.exp(first) - np.exp(eps + second), 0.0).sum())

    if excess(0.0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while excess(high) > delta:
        low, high = high, 2.0 * high
    while high - low > 1e-10:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high


def lower_bound(counts: tuple[int, int], total: int, steps: int, delta: float, confidence: float) -> float:
    """Return a confidence bound below the epsilon of `steps` bits, from pooled bits of two worlds.

    The two accept probabilities are the only unknowns. Each moves towards the other by half of the error
    probability (Clopper-Pearson); the bits of the nearer pair are a post-processing of the bits of the true pair, so
    their exact epsilon is no larger.
    """
    low, high = sorted(counts)
    error = 0.5 * (1.0 - confidence)
    p_above = beta.isf(error, low + 1, total - low)
    q_below = beta.ppf(error, high, total - high + 1)
    return 0.0 if p_above >= q_below else epsilon_of_counts(p_above, q_below, steps, delta)


def logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@pytest.fixture(scope="session")
def audit() -> SimpleNamespace:
    tools: tuple[Callable[..., Any], ...] = (
        planned,
        accepts,
        count_accepts,
        epsilon_of_counts,
        lower_bound,
        logistic,
    )
    return SimpleNamespace(far=FAR, **{tool.__name__: tool for tool in tools})
