"""Audit, and record and replay, of a network under the gradient samplers; the query is that of test_gradient_query.py.

The network is one dense layer on inputs of zero, so that the biases take the whole gradient of a record.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import kstest, norm

import pydpmc as dp
from pydpmc import _core
from pydpmc.nn import Conv, Dense, Network, Tanh
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]

RECORDS, STEPS, SUMS, CLIP, SEED = 24, 8, 40, 0.6, 3
NETWORKS = {
    "dense": Network([Dense(4), Tanh(), Dense(2)]),
    "conv": Network([Conv(2, 2), Tanh(), Dense(2)], shape=(3, 3)),
}
SAMPLERS = [dp.SGLD, functools.partial(dp.SGLD, preconditioner="diagonal"), dp.SGHMC, dp.SGNHT]
SETTINGS: dict[str, dict[str, Any]] = {
    "full, replace": {"sampling": "full", "adjacency": "replace"},
    "full, add_remove": {"sampling": "full", "adjacency": "add_remove"},
    "poisson, replace": {"batch_size": 8, "adjacency": "replace"},
    "without replacement": {"sampling": "without_replacement", "batch_size": 8, "adjacency": "replace"},
}
ODD: dict[str, tuple[Any, float]] = {
    "NaN": (np.nan, 1.0),
    "missing target": (1.0, np.nan),
    "Inf": (np.inf, 1.0),
    "huge": (1e308, 0.0),
    "subnormal": (5e-324, 1.0),
    "unknown label": (0.5, 7.0),
    "zero": (0.0, 0.0),
    "far": ((-50.0, 80.0, 10.0, 0.0, 0.0, 3.0, 9.0, 1e3, -1e3), 1.0),
}


def table() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(8)
    return rng.normal(size=(RECORDS, 9)), rng.integers(0, 2, RECORDS).astype(float)


def pairs(adjacency: str) -> dict[str, Any]:
    x, y = table()
    found = {}
    for name, (row, label) in ODD.items():
        more = np.vstack([x[:-1], np.broadcast_to(np.array(row), 9)]), np.append(y[:-1], label)
        found[name] = more, ((x, y) if adjacency == "replace" else (x[:-1], y[:-1]))
    flipped = y.copy()
    flipped[-1] = 1.0 - flipped[-1]
    return found | ({"flipped": ((x, flipped), (x, y))} if adjacency == "replace" else {})


def planned(network: str, sampler: Any, setting: dict[str, Any], clip: float = CLIP) -> dp.Plan:
    options = {name: value for name, value in setting.items() if name != "adjacency"}
    spec = sampler(steps=STEPS, step_size=1e-3, clip=clip, **options)
    public = dp.Data(*table(), public_n=RECORDS).public
    return dp.plan(NETWORKS[network], public, spec, adjacency=setting["adjacency"])


def started(plan: dp.Plan, records: Any) -> tuple[Any, Floats]:
    data = dp.Data(*records, public_n=RECORDS).of_labels(2)
    draws = np.full((1, STEPS, plan.settings.dim), np.nan)
    common = {"init": start_points(plan, 1, SEED), "draws": draws, "warmup": 0, "thin": 1, "seed": SEED}
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data), draws


def farthest(plan: dp.Plan) -> float:
    rng, found = np.random.default_rng(4), 0.0
    for here, there in pairs(plan.adjacency).values():
        theta = (3.0 * rng.normal(size=plan.settings.dim)).tolist()
        moved = np.subtract(*(np.asarray(started(plan, one)[0].audit(theta, 0, SUMS)) for one in (here, there)))
        found = max(found, float(np.linalg.norm(moved, axis=1).max()))
    return found


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_record_moves_the_noised_sum_by_at_most_what_is_declared(name: str, network: str) -> None:
    plan = planned(network, dp.SGLD, SETTINGS[name])
    [(event, _)] = plan.guarantee.events
    one = float(plan.settings.noise[0]) / event.noise_multiplier
    allowed = 2.0 * one if plan.adjacency == "replace" else one
    found = farthest(plan)
    assert found <= allowed
    assert found > 0.5 * allowed  # or the test would show nothing
    object.__setattr__(plan.settings, "clip", 2.5 * CLIP)
    assert farthest(plan) > allowed  # a planted fault is caught


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", SETTINGS)
def test_no_record_changes_how_many_random_words_a_step_takes(name: str, sampler: Any, network: str) -> None:
    plan = planned(network, sampler, SETTINGS[name])
    reference = np.array(started(plan, table())[0].traced(STEPS))
    for here, _ in pairs(plan.adjacency).values():
        np.testing.assert_array_equal(np.array(started(plan, here)[0].traced(STEPS)), reference)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_record_changes_nothing_that_a_run_shows_but_its_draws(sampler: Any) -> None:
    plan = planned("dense", sampler, SETTINGS["full, replace"])

    def shown(records: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = dp.Data(*records, public_n=RECORDS)
            post = plan.run(data, seed=SEED, warmup=0, progress=False, threads=1, anyway=True)
        fields = {field.name: getattr(post, field.name) for field in dataclasses.fields(post) if field.name != "draws"}
        told = [str(w.message) for w in caught if not issubclass(w.category, dp.errors.ConvergenceWarning)]
        return fields, {name: values.shape for name, values in post.draws.items()}, told

    reference = shown(table())
    for kind, (here, _) in pairs("replace").items():
        assert shown(here) == reference, kind


def test_noised_sums_of_a_canary_follow_the_accounted_law() -> None:
    """All records but one cancel or have no gradient; sums along the canary's direction are N(L, sd^2)."""
    net = Network([Dense(2)])
    x, y = np.zeros((1, 3)), np.ones(1)
    sampler = dp.SGLD(steps=1, step_size=2.0, sampling="full", clip=0.5)
    data = dp.Data(x, y, public_n=10)
    plan = dp.plan(net, data.public, sampler, adjacency="add_remove")
    common = {"init": np.zeros((1, 8)), "draws": np.empty((1, 0, 8)), "warmup": 0, "thin": 1, "seed": 5}
    core = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    sums = np.asarray(core.audit([0.0] * 8, 0, 20_000))
    direction = np.zeros(8)
    direction[6:] = -1.0 / math.sqrt(2.0), 1.0 / math.sqrt(2.0)
    sd = float(plan.settings.noise[0])
    assert kstest(sums @ direction, norm(0.5, sd).cdf).pvalue > 1e-6
    assert kstest(sums[:, 0], norm(0.0, sd).cdf).pvalue > 1e-6
    [(event, _)] = plan.guarantee.events
    assert event.noise_multiplier <= sd / 0.5
