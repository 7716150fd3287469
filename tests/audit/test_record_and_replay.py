"""Record and replay of every gradient sampler on neighbouring tables with frozen randomness.

A record may move the noised sum, by at most what is charged for, and nothing else: not how many random words a step
takes from any stream, nor a shape, an exception or a warning. The one exception is by design: under add_remove a
Poisson sample of n + 1 records is another sample than one of n, and takes other words from its own stream.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]

SEED, RECORDS, WIDTH, STEPS, SUMS, CLIP = 3, 24, 3, 12, 25, 0.6


def preconditioned(**options: Any) -> dp.SGLD:
    return dp.SGLD(preconditioner="diagonal", **options)


def variational(**options: Any) -> dp.DPVI:
    return dp.DPVI(noise_multiplier=2.0, **options)


SAMPLERS = (dp.SGLD, preconditioned, dp.SGHMC, dp.SGNHT, dp.SGFS, variational)
SETTINGS: dict[str, dict[str, Any]] = {
    "full, replace": {"sampling": "full", "adjacency": "replace"},
    "full, add_remove": {"sampling": "full", "adjacency": "add_remove"},
    "poisson, replace": {"batch_size": 8, "adjacency": "replace"},
    "poisson, add_remove": {"batch_size": 8, "adjacency": "add_remove"},
    "without replacement": {"sampling": "without_replacement", "batch_size": 8, "adjacency": "replace"},
}
# A row of x, and y.
ODD_RECORDS: dict[str, tuple[Any, float]] = {
    "NaN": (np.nan, 1.0),
    "missing target": (1.0, np.nan),
    "Inf": (np.inf, 1.0),
    "-Inf": ((-np.inf, 1.0, 0.0), -np.inf),
    "subnormal": (5e-324, 5e-324),
    "subnormal and huge": ((5e-324, 1e-310, 0.0), 1e308),
    "huge": (1e308, -1e308),
    "large": ((1e150, -1e100, 3.0), 1e120),
    "long": ((-50.0, 80.0, 10.0), 1e3),
    "zero": (0.0, 0.0),
}


def log_lik(theta: Any, record: Any) -> Any:
    return -0.5 * (record["y"] - record["x"] @ theta["beta"]) ** 2


def grad(theta: Any, record: Any) -> Any:
    return {"beta": (record["y"] - record["x"] @ theta["beta"])[:, None] * record["x"]}


MODELS = {
    "built-in": dp.LinearRegression(sigma=1.0),
    "own": dp.models.from_numpy(log_lik, grad, parameters={"beta": WIDTH}, microbatch=5),
}
model = "built-in"


@pytest.fixture(autouse=True, params=MODELS)
def _model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "model", request.param)


def table() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(8)
    return rng.normal(size=(RECORDS, WIDTH)), rng.normal(size=RECORDS) * 2.0


def neighbours(adjacency: str) -> dict[str, tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]:
    """Return pairs of tables by name: the last record changed, or one that is there or not."""
    x, y = table()
    rng = np.random.default_rng(9)
    changed = {name: (np.broadcast_to(np.array(row), WIDTH), target) for name, (row, target) in ODD_RECORDS.items()}
    changed |= {"duplicate": (x[0], y[0])}
    changed |= {f"another {k}": (rng.normal(size=WIDTH) * 3.0**k, rng.normal() * 3.0**k) for k in range(4)}
    pairs = {}
    for name, (row, target) in changed.items():
        more = np.vstack([x[:-1], row]), np.append(y[:-1], target)
        pairs[name] = (more, (x, y) if adjacency == "replace" else (x[:-1], y[:-1]))
    return pairs


def planned(sampler: Callable[..., Any], setting: dict[str, Any]) -> dp.Plan:
    options = {name: value for name, value in setting.items() if name != "adjacency"}
    spec = sampler(steps=STEPS, step_size=1e-3, clip=CLIP, **options)
    public = dp.Data(*table(), public_n=RECORDS).public
    return dp.plan(MODELS[model], public, spec, adjacency=setting["adjacency"])


def started(plan: dp.Plan, records: tuple[Floats, Floats]) -> tuple[Any, Floats]:
    data = dp.Data(*records, public_n=RECORDS, on_invalid="drop")
    draws = np.full((1, STEPS, WIDTH), np.nan)
    common = {"init": start_points(plan, plan.chains, SEED), "draws": draws, "warmup": 0, "thin": 1, "seed": SEED}
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data), draws


def words(plan: dp.Plan, records: tuple[Floats, Floats]) -> npt.NDArray[np.int64]:
    """Return what each step takes from the streams of sampling, of protection and of diffusion."""
    core, draws = started(plan, records)
    taken = np.array(core.traced(STEPS))
    assert taken.shape == (STEPS, 3)
    assert np.isfinite(draws).all()
    return taken


def noised_sums(plan: dp.Plan, records: tuple[Floats, Floats], theta: Floats) -> Floats:
    found = np.asarray(started(plan, records)[0].audit(theta.tolist(), 0, SUMS))
    assert found.shape == (SUMS, plan.settings.released)
    return found


def declared(plan: dp.Plan) -> float:
    """Return the largest distance of neighbouring sums that the guarantee pays for."""
    [(event, _)] = plan.guarantee.events
    one = float(plan.settings.noise[0]) / event.noise_multiplier
    return 2.0 * one if plan.adjacency == "replace" else one


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_record_changes_no_number_of_random_words(name: str, sampler: Callable[..., Any]) -> None:
    plan = planned(sampler, SETTINGS[name])
    streams = slice(1, 3) if name == "poisson, add_remove" else slice(0, 3)
    for kind, (here, there) in neighbours(plan.adjacency).items():
        one, other = words(plan, here), words(plan, there)
        assert np.array_equal(one[:, streams], other[:, streams]), kind
        assert 64 * one[:, 1].min() >= 48 * plan.settings.released  # bits: docs/privacy/rounded_normal.md
        assert (one[:, 0] > 0).any() == (plan.settings.sampling != "full")


def sums_of_pairs(name: str, sampler: Callable[..., Any], faulty: bool = False) -> tuple[float, float]:
    """Return the largest distance of neighbouring noised sums, and what is declared."""
    plan = planned(sampler, SETTINGS[name])
    allowed, farthest = declared(plan), 0.0
    if faulty:
        object.__setattr__(plan.settings, "clip", 1.5 * CLIP)
    rng = np.random.default_rng(4)
    for here, there in neighbours(plan.adjacency).values():
        if name == "poisson, add_remove":  # two samples of the others would differ by more than one record
            here, there = (others_without_gradient(records) for records in (here, there))
        theta = np.zeros(WIDTH) if name == "poisson, add_remove" else rng.normal(size=WIDTH)
        moved = noised_sums(plan, here, theta) - noised_sums(plan, there, theta)
        farthest = max(farthest, float(np.linalg.norm(moved, axis=1).max()))
    return farthest, allowed


def others_without_gradient(records: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    x, y = (values.copy() for values in records)
    y[: RECORDS - 1] = 0.0
    return x, y


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_record_moves_the_noised_sum_by_at_most_what_is_declared(name: str, sampler: Callable[..., Any]) -> None:
    farthest, allowed = sums_of_pairs(name, sampler)
    print(f"{name}: moved by {farthest:.4f} of {allowed:.4f} declared")
    assert farthest <= allowed
    assert farthest > 0.6 * allowed  # or the test would show nothing


@pytest.mark.parametrize("sampler", [dp.SGLD, dp.SGFS])
@pytest.mark.parametrize("name", ["full, replace", "full, add_remove", "without replacement"])
def test_a_clip_that_is_wrong_by_half_is_caught(name: str, sampler: Callable[..., Any]) -> None:
    farthest, allowed = sums_of_pairs(name, sampler, faulty=True)
    assert farthest > allowed


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_record_changes_nothing_that_a_run_shows_but_its_draws(name: str, sampler: Callable[..., Any]) -> None:
    plan = planned(sampler, SETTINGS[name])

    def shown(records: tuple[Floats, Floats]) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            data = dp.Data(*records, public_n=RECORDS, on_invalid="drop")
            all_iterates = {} if sampler is variational else {"warmup": 0}
            post = plan.run(data, seed=SEED, progress=False, threads=1, **all_iterates)
        assert np.isfinite(post.draws["beta"]).all()
        fields = {field.name: getattr(post, field.name) for field in dataclasses.fields(post) if field.name != "draws"}
        # That draws have not converged is said of the draws, which are paid for.
        told = [str(w.message) for w in caught if not issubclass(w.category, dp.errors.ConvergenceWarning)]
        return fields, post.draws["beta"].shape, told

    reference = shown(table())
    for kind, (here, there) in neighbours(plan.adjacency).items():
        assert shown(here) == reference, kind
        assert shown(there) == reference, kind


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", ["full, add_remove", "poisson, add_remove"])
def test_a_single_record_is_enough(name: str, sampler: Callable[..., Any]) -> None:
    plan = planned(sampler, SETTINGS[name])
    x, y = table()
    alone, pair = words(plan, (x[:1], y[:1])), words(plan, (x[:2], y[:2]))
    assert np.array_equal(alone[:, 1:], pair[:, 1:])
