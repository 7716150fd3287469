"""Runs on groups: the same bits as on records where groups are single, and sums that no group moves beyond its clip."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

GRADIENT_SAMPLERS = (dp.SGLD, dp.SGHMC, dp.SGNHT)
SAMPLINGS = [{"sampling": "full"}, {"batch_size": 30}, {"batch_size": 30, "sampling": "without_replacement"}]
ONE_EACH = [*(kind(steps=60, step_size=1e-3, **how) for kind in GRADIENT_SAMPLERS for how in SAMPLINGS)]


@pytest.mark.parametrize("sampler", [*ONE_EACH, dp.Barker(steps=60, scale=0.1)], ids=repr)
def test_runs_on_groups_of_one_are_runs_on_records_bit_for_bit(sampler, rng):
    x, y = rng.normal(size=(101, 3)), rng.integers(0, 2, 101)
    labels = rng.permutation(10**6)[:101]
    found = []
    for options in ({}, {"groups": labels}, {"groups": labels.astype(str), "max_group_size": 1}):
        data = dp.Data(x, y, row_norm=1.0, **options)
        post = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=2).run(data, seed=3, progress=False)
        found.append(post.draws["beta"])
    assert len(np.unique(found[0])) > 20
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_groups_of_records_in_single_precision_are_those_of_the_same_values_in_double(rng):
    x, y, ids = rng.normal(size=(200, 3)).astype(np.float32), rng.integers(0, 3, 200), rng.integers(0, 50, 200)
    model, found = dp.SoftmaxRegression(classes=3), []
    for storage in ("float64", "float32"):
        data = dp.Data(x, y, groups=ids, storage=storage)
        for sampler in (dp.SGLD(steps=60, step_size=1e-3, clip=1.0), dp.Barker(steps=60, scale=0.1, clip=0.5)):
            plan = dp.plan(model, data.public, sampler)
            found.append(plan.run(data, seed=3, progress=False).draws["beta"])
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def group(kind, rng):
    """The rows and targets of a group to put in the place of another."""
    size = rng.integers(1, 40)
    x, y = rng.normal(size=(size, 2)), rng.choice([-1.0, 0.0, 2.0], size)
    if kind == "huge":
        x, y = x * 10.0 ** rng.integers(-160, 160, (size, 2)), y * 10.0 ** rng.integers(-160, 160, size)
    elif kind == "broken":
        x[rng.random((size, 2)) < 0.5] = rng.choice([np.nan, np.inf, -np.inf])
    elif kind == "duplicate":
        x, y = np.repeat(x[:1], size, axis=0) * 1e3, np.repeat(y[:1] + 1e3, size)
    return x, y


def joined(groups, rng):
    x, y = (np.concatenate([g[i] for g in groups]) for i in (0, 1))
    ids = np.repeat(np.arange(len(groups)), [len(g[1]) for g in groups])
    return dp.Data(x, y, groups=ids, on_invalid="drop", public_n=12)


def noised_sum(plan, data, theta):
    common = {"init": start_points(plan, 1, 5), "draws": np.empty((1, 1, 2)), "warmup": 0, "thin": 1, "seed": 5}
    core = plan.settings.start(_core, core_target(plan, data), _core.Chains(**common), data)
    return core.audit(list(theta), 0, 3)


@pytest.mark.parametrize("how", SAMPLINGS, ids=repr)
@pytest.mark.parametrize("kind", ["ordinary", "huge", "broken", "duplicate"])
def test_another_group_in_the_place_of_one_moves_the_sums_by_at_most_two_clips(kind, how, rng):
    """With the noise and the batches frozen, whatever the sizes of the groups."""
    how = how | ({"batch_size": 6} if "batch_size" in how else {})
    farthest = 0.0
    for _ in range(40):
        clip = 10.0 ** rng.integers(-12, 6)
        groups = [group("ordinary", rng) for _ in range(12)]
        spec = dp.SGLD(steps=1, step_size=1.0 / clip**2, clip=clip, **how)
        other = [*groups]
        other[rng.integers(12)] = group(kind, rng)
        data, neighbour = joined(groups, rng), joined(other, rng)
        plan = dp.plan(dp.LinearRegression(sigma=1.0), data.public, spec)
        theta = rng.normal(size=2)
        moved = noised_sum(plan, data, theta) - noised_sum(plan, neighbour, theta)
        farthest = max(farthest, np.linalg.norm(moved, axis=1).max() / clip)
    assert 0.5 < farthest <= 2 * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["ordinary", "huge", "broken", "duplicate"])
def test_a_group_more_or_less_moves_the_sum_by_at_most_the_clip(kind, rng):
    farthest = 0.0
    for _ in range(60):
        clip = 10.0 ** rng.integers(-12, 6)
        groups = [group("ordinary", rng) for _ in range(12)]
        groups[5] = group(kind, rng)
        spec = dp.SGLD(steps=1, step_size=1.0 / clip**2, clip=clip, sampling="full")
        data, fewer = joined(groups, rng), joined(groups[:5] + groups[6:], rng)
        plan = dp.plan(dp.LinearRegression(sigma=1.0), data.public, spec, adjacency="add_remove")
        theta = rng.normal(size=2)
        moved = noised_sum(plan, data, theta) - noised_sum(plan, fewer, theta)
        farthest = max(farthest, np.linalg.norm(moved, axis=1).max() / clip)
    assert 0.5 < farthest <= 1 + 1e-9


def test_the_sum_over_groups_is_the_sum_over_records_where_nothing_is_clipped(rng):
    """So the target is the posterior of the records, each with weight w, whatever the groups."""
    ids = rng.integers(0, 300, 2000)
    x, y = rng.normal(size=(2000, 3)) / 3, rng.integers(0, 2, 2000)
    spec = dp.SGLD(steps=400, step_size=1e-5, sampling="full", clip=200.0)
    draws = []
    for options in ({}, {"groups": ids}):
        data = dp.Data(x, y, row_norm=1.0, **options)
        plan = dp.plan(dp.LogisticRegression(), data.public, spec)
        draws.append(plan.run(data, seed=2, warmup=0, progress=False).draws["beta"])
    np.testing.assert_allclose(draws[0], draws[1], rtol=0, atol=1e-8)
    assert draws[0].std() > 0.01
