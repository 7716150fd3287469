"""No record moves the noised sum by more than clip, however extreme its values (docs/privacy/sgld.md, lemma 2)."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

SEED = 7
TINY, HUGE = 2.5e-162, 1e153  # the square of TINY is a subnormal number with one significant bit


def noised_sum(x, y, clip, theta):
    data = dp.Data(np.array(x, dtype=float), np.array(y, dtype=float))
    sampler = dp.SGLD(steps=1, step_size=2.0 / clip**2, clip=clip, sampling="full")
    plan = dp.plan(dp.LinearRegression(sigma=1.0), data.public, sampler)
    assert plan.settings.noise[0] == pytest.approx(clip)
    common = {
        "init": start_points(plan, plan.chains, SEED),
        "draws": np.empty((1, 1, len(theta))),
        "warmup": 0,
        "thin": 1,
        "seed": SEED,
    }
    return plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data).audit(list(theta), 0, 1)[0]


def moved_by(x, y, clip, theta=(0.0, 0.0)):
    """Norm of what one record adds to the sum: the noise is the same in both runs."""
    with_record = noised_sum([[0.0, 0.0], x], [0.0, y], clip, theta)
    without = noised_sum([[0.0, 0.0], [0.0, 0.0]], [0.0, 0.0], clip, theta)
    return float(np.linalg.norm(with_record - without))


@pytest.mark.parametrize(
    ("x", "y", "clip"),
    [
        ((HUGE, 0.0), TINY, 1e-10),
        ((HUGE, HUGE), TINY, 1e-10),
        ((TINY, 0.0), HUGE, 1e-10),
        ((TINY, TINY), HUGE, 1e-10),
        ((1e200, 0.0), 1e200, 1.0),
        ((1e308, 1e308), 1.0, 1.0),
        ((5e-324, 0.0), 1e308, 1e-20),
        ((3.0, 4.0), 1.0, 1.0),
        ((3.0, 4.0), 1.0, 1e-50),
        ((3e40, 4e40), -1e30, 1e50),
    ],
)
def test_an_extreme_record_moves_the_sum_by_at_most_clip(x, y, clip):
    assert moved_by(x, y, clip) <= clip * (1 + 1e-12)


def test_random_magnitudes_and_directions():
    random = np.random.default_rng(3)
    for _ in range(200):
        x = random.standard_normal(2) * 10.0 ** random.integers(-160, 160, 2)
        y, clip = random.standard_normal() * 10.0 ** random.integers(-160, 160), 10.0 ** random.integers(-40, 40)
        assert moved_by(x, y, clip, theta=random.standard_normal(2)) <= clip * (1 + 1e-12)


def test_a_clipped_record_moves_the_sum_by_nearly_clip():
    assert moved_by((3.0, 4.0), 1.0, 1.0) == pytest.approx(1.0, rel=1e-8)
    assert moved_by((0.03, 0.04), 1.0, 1.0) == pytest.approx(0.05, rel=1e-7)


@pytest.mark.parametrize("clip", [2.0**-201, 2.0**201])
def test_a_clip_whose_grid_could_overflow_is_refused(clip):
    with pytest.raises(ValueError, match="clip must lie between"):
        moved_by((1.0, 1.0), 1.0, clip)


def test_the_accounted_multiplier_is_below_the_one_that_runs():
    sampler = dp.SGLD(steps=3, step_size=1e-3, clip=1.0, sampling="full")
    public = dp.Public(n=100, columns=("a",), has_target=True)
    settings = dp.plan(dp.LinearRegression(sigma=1.0), public, sampler).settings
    [(event, _)] = settings.uses("replace", 1)
    assert event.noise_multiplier < settings.noise[0] / settings.clip < event.noise_multiplier * (1 + 1e-11)
