"""The sample of a step belongs to the key, the chain and the step, however a run gets there."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

STEPS, RECORDS, WIDTH = 53, 40, 2  # over three streams of sixteen steps
SAMPLERS = {
    "poisson": dp.SGLD(steps=STEPS, step_size=1e-3, clip=1.0, batch_size=8),
    "without replacement": dp.SGLD(steps=STEPS, step_size=1e-3, clip=1.0, batch_size=8, sampling="without_replacement"),
    "barker": dp.Barker(steps=STEPS, batch_size=30, proposal="gaussian", scale=0.3, clip=0.05, c=2.0, w=0.4),
}


def records():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(RECORDS, WIDTH))
    return dp.Data(x, x[:, 0] + rng.normal(size=RECORDS))


def started(name, chains=2):
    data = records()
    model = dp.LinearRegression(sigma=1.0)
    plan = dp.plan(model, data.public, SAMPLERS[name], private=False, adjacency="replace", chains=chains)
    draws = np.full((chains, STEPS, WIDTH), np.nan)
    common = {"init": start_points(plan, chains, 3), "draws": draws, "warmup": 0, "thin": 1, "seed": 3}
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data), draws


def audited(name, core, first, count):
    theta = [0.1] * WIDTH
    arguments = (theta, [x + 0.02 for x in theta]) if name == "barker" else (theta,)
    return np.asarray(core.audit(*arguments, first, count))


@pytest.fixture(params=SAMPLERS)
def straight(request):
    core, draws = started(request.param)
    core.advance(STEPS, 1, 4096)
    assert np.isfinite(draws).all()
    return request.param, draws


@pytest.mark.parametrize("chunks", [[1] * STEPS, [15, 1, 1, 36], [16, 0, 16, 0, 21]])
def test_chunks_make_no_difference(straight, chunks):
    name, wanted = straight
    core, draws = started(name)
    for chunk in chunks:
        core.advance(chunk, 2, 4096)
    np.testing.assert_array_equal(draws, wanted)


def test_neither_do_steps_that_are_taken_twice(straight):
    name, wanted = straight
    core, draws = started(name)
    core.advance(20, 1, 4096)
    state = core.state()
    core.advance(1, 1, 4096)
    core.restore(state, 20)
    core.advance(7, 1, 4096)
    core.restore(state, 20)
    core.advance(STEPS - 20, 1, 4096)
    np.testing.assert_array_equal(draws, wanted)


@pytest.mark.parametrize("name", SAMPLERS)
def test_the_order_of_audits_makes_no_difference(name):
    core = started(name)[0]
    together = audited(name, core, 0, 40)
    alone = [audited(name, core, step, 1)[0] for step in reversed(range(40))]
    np.testing.assert_array_equal(together, alone[::-1])
    core.advance(20, 1, 4096)
    np.testing.assert_array_equal(audited(name, core, 20, 5), together[20:25])
