"""Two threads on one run of the core: the second is refused, since both would draw the same noise."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.running.run import core_target

STEPS, RECORDS, TRIES = 300_000, 20_000, 10_000
SAMPLERS: dict[str, Any] = {
    "Barker": dp.Barker(steps=STEPS, scale=0.01),
    "SGLD": dp.SGLD(steps=STEPS, step_size=1e-6, clip=0.6, sampling="full"),
    "Langevin": dp.Langevin(draws=1, w=0.1, steps=STEPS),
    "NUTS": dp.NUTS(draws=STEPS, warmup=20),
}


@pytest.fixture(scope="module")
def data() -> dp.Data:
    rng = np.random.default_rng(2)
    return dp.Data(rng.normal(size=(RECORDS, 2)), rng.integers(0, 2, RECORDS), row_norm=1.0)


def started(plan: dp.Plan, data: dp.Data) -> Any:
    last = plan.settings.releases(1, None, None).hidden
    draws = np.full((1, 1 if last else STEPS, 2), np.nan)
    common = {"init": np.zeros((1, 2)), "draws": draws, "warmup": STEPS - 1 if last else 0, "thin": 1, "seed": 7}
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)


def advance_until_refused(core: Any, thread: threading.Thread) -> None:
    for _ in range(TRIES):  # until the first has begun
        core.advance(0, 1, 512)
        thread.join(0.001)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_second_thread_is_refused(name: str, data: dp.Data) -> None:
    plan = dp.plan(dp.LogisticRegression(), data.public, SAMPLERS[name], private=name != "NUTS")
    core = started(plan, data)
    thread = threading.Thread(target=core.advance, args=(STEPS, 1, 512))
    thread.start()
    try:
        with pytest.raises(RuntimeError, match="another thread"):
            advance_until_refused(core, thread)
    finally:
        core.stop()
        thread.join()
    core.advance(0, 1, 512)  # the turn was given back


def test_two_threads_take_no_look_twice() -> None:
    """Two looks with the noise of one stream differ by what the records do, without noise."""
    rng = np.random.default_rng(3)
    data = dp.Data(rng.normal(size=(200_000, 2)), rng.integers(0, 2, 200_000), row_norm=1.0)
    core = _core.NewtonRun(
        rows=data._rows, columns=2, has_target=True, model="logistic_regression",
        intercept=False, constants=(0.0, 0.0), dim=2, seed=7,
    )  # fmt: skip
    options: dict[str, Any] = {"theta": [0.0, 0.0], "clip": 1.0, "sigma": 1.0, "curvature_clip": 0.25, "tau": 1.0}
    options |= {"largest_square": 1.1, "limits": (0.0, 0.25), "outer": False, "block_of": [0, 0]}
    released: list[bytes] = []
    refused: list[bool] = []

    def look() -> None:
        for _ in range(20):
            try:
                released.append(core.look(**options, threads=1, block=4096).tobytes())
            except RuntimeError:
                refused.append(True)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused
    assert core.taken == len(released) == len(set(released))
