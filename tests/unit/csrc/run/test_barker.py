"""Extreme settings of the accept test that no plan produces: the core handles them all the same."""

import numpy as np

import pydpmc as dp
from pydpmc import _core
from pydpmc.running.run import core_target

TRIALS = 400


def test_log_odds_of_a_batch_are_clamped_at_x_max(rng):
    data = dp.Data(rng.normal(size=(200, 1)), rng.integers(0, 2, 200), row_norm=1.0)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=9, scale=0.05, batch_size=50, clip=0.005))
    arguments = plan.settings.core_arguments(_core, data.public) | {"x_max": 0.0}
    chains = _core.Chains(init=np.zeros((1, 1)), draws=np.zeros((1, 1, 1)), warmup=0, thin=1, seed=3)
    run = _core.BarkerRun(core_target(plan, data), chains, **arguments)
    far = 100.0  # the prior ratio is -5000
    bits = run.audit([0.0], [far], 0, TRIALS)
    assert abs(bits.mean() - 0.5) < 6 * 0.5 / np.sqrt(TRIALS)


def test_a_prior_ratio_that_is_not_a_number_is_rejected():
    target = _core.Target(
        rows=np.full((1, 1), np.nan), columns=1, has_target=False, model="gaussian_mean", intercept=False,
        constants=(1.0, 0.0), prior=np.array([[1.0, 0, 1, 1, 0]]),
    )  # fmt: skip
    chains = _core.Chains(init=np.zeros((1, 1)), draws=np.zeros((1, 1, 1)), warmup=0, thin=1, seed=3)
    run = _core.BarkerRun(
        target, chains, proposal=0, radius=1.0, factor=[1.0],
        shift_per_clip=1.0, clip=1.0, bits=30, batch=0, v_max=0.0, c=1.0, x_max=0.0, atoms=[], weights=[],
    )  # fmt: skip
    assert not run.audit([np.nan], [np.nan], 0, TRIALS).any()
