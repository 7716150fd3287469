"""Records cut into cells give the draws of records in one: bit for bit if all are read, and per cell if sampled."""

import clusters
import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.data.cells import cuts, part_of
from pydpmc.errors import InvalidArgument, WrongType

CELLS = (1, 2, 5, 1024)


def plan_of(data, sampler, **options):
    return dp.plan(dp.LogisticRegression(), data.public, sampler, **({"epsilon": 1.0, "delta": 1e-6} | options))


def both(storage="float64", **options):
    whole, scheme = clusters.table(1100), clusters.schema(**options)
    return scheme.data(whole, storage=storage), dp.Data.from_batches([whole], scheme, storage=storage, progress=False)


@pytest.mark.parametrize("sampler", clusters.ALL_RECORDS)
def test_all_records_give_the_same_draws_in_any_number_of_cells(sampler):
    memory, mapped = both(clusters.STORAGES[len(sampler) % 3])
    plan = clusters.plan_of(memory, sampler)
    wanted = clusters.draws(plan, memory)
    np.testing.assert_array_equal(clusters.draws(plan, mapped), wanted)
    for cells in (2, 5, 40):
        np.testing.assert_array_equal(clusters.draws(plan, mapped.in_cells(cells), threads=2), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("storage", clusters.STORAGES)
@pytest.mark.parametrize("sampler", clusters.EVERY)
def test_memory_files_and_threads_give_the_same_draws_in_as_many_cells(sampler, storage):
    memory, mapped = both(storage)
    plan = clusters.plan_of(memory, sampler)
    alone = clusters.draws(plan, memory)
    for cells in CELLS:
        found = clusters.draws(plan, memory.in_cells(cells), threads=1)
        np.testing.assert_array_equal(clusters.draws(plan, mapped.in_cells(cells), threads=2), found)
        if cells == 1 or sampler in clusters.ALL_RECORDS:
            np.testing.assert_array_equal(found, alone)


@pytest.mark.slow
def test_a_posterior_sample_in_cells():
    memory, mapped = both()
    plan = clusters.plan_of(memory, "PosteriorSample")
    alone = clusters.draws(plan, memory)
    np.testing.assert_array_equal(clusters.draws(plan, mapped), alone)
    np.testing.assert_array_equal(clusters.draws(plan, memory.in_cells(3)), alone)
    np.testing.assert_array_equal(clusters.draws(plan, mapped.in_cells(3)), alone)


@pytest.mark.parametrize("sampler", ["SGLD, samples", "SGHMC, samples", "DPVI, samples"])
def test_samples_belong_to_cells(sampler):
    memory, mapped = both("float32")
    plan = clusters.plan_of(memory, sampler)
    one = clusters.draws(plan, memory)
    np.testing.assert_array_equal(clusters.draws(plan, mapped), one)
    seen = [one]
    for cells in (2, 5, 30):
        found = clusters.draws(plan, memory.in_cells(cells))
        np.testing.assert_array_equal(clusters.draws(plan, mapped.in_cells(cells)), found)
        assert not any(np.array_equal(found, other) for other in seen)
        seen.append(found)


def test_groups_stay_whole():
    memory, mapped = both(group="who", max_group_size=9)
    plan = plan_of(memory, dp.SGLD(steps=6, sampling="full"))
    wanted = clusters.draws(plan, memory)
    for cells in (1, 3, 30):
        np.testing.assert_array_equal(clusters.draws(plan, mapped.in_cells(cells)), wanted)
    parts = [part_of(memory, units) for units in cuts(len(memory), 7)]
    assert sum(len(part) for part in parts) == len(memory)
    assert [int(part._group_start[-1]) for part in parts] == [len(part._rows) for part in parts]
    np.testing.assert_array_equal(np.concatenate([part._rows for part in parts]), memory._rows)


def test_conjugate_draws_and_a_count():
    rng = np.random.default_rng(2)
    data = dp.Data(np.append(rng.normal(size=(999, 2)), [[np.nan, 0.0]], axis=0), x_bounds=(-3, 3))
    plan = dp.plan(dp.GaussianMean(sigma=1.0), data.public, dp.ConjugateSample(draws=3), epsilon=1.0, delta=1e-6)
    np.testing.assert_array_equal(clusters.draws(plan, data.in_cells(7)), clusters.draws(plan, data))
    plan = dp.plan(dp.GaussianMean(sigma=1.0), data.public, dp.Langevin(draws=2, steps=5), epsilon=1.0, delta=1e-6)
    np.testing.assert_array_equal(clusters.draws(plan, data.in_cells(30)), clusters.draws(plan, data))


def test_more_records_than_declared_and_none_at_all():
    whole, scheme = clusters.table(300), clusters.schema()
    for rows in (0, 1, 299, 300):
        data = scheme.data(whole.slice(0, rows), public_n=200)
        plan = plan_of(data, dp.Langevin(draws=2, steps=4), adjacency="add_remove")
        np.testing.assert_array_equal(clusters.draws(plan, data.in_cells(5)), clusters.draws(plan, data))
    data = scheme.data(whole.slice(0, 0), public_n=200)
    plan = plan_of(data, dp.SGLD(steps=4, sampling="poisson"), adjacency="add_remove")
    assert np.isfinite(clusters.draws(plan, data.in_cells(3))).all()


@pytest.mark.parametrize(
    ("sampler", "words"),
    [
        (dp.SGLD(steps=5, sampling="without_replacement", batch_size=20), "fixed size"),
        (dp.Barker(steps=5, batch_size=200), "minibatch"),
    ],
)
def test_what_cells_cannot_do_is_refused(sampler, words):
    memory, _ = both()
    plan = plan_of(memory, sampler, epsilon=3.0)
    with pytest.raises(InvalidArgument, match=words):
        plan.run(memory.in_cells(2), progress=False, anyway=True)


@pytest.mark.os_key  # a run without a seed is one of those that are compared
def test_keys_of_cells_do_not_tell_the_key_of_the_noise():
    target = _core.Target(
        rows=np.zeros((1, 1)),
        columns=1,
        has_target=False,
        model="gaussian_mean",
        intercept=False,
        constants=(1.0, 0.0),
        prior=np.array([[1.0, 0.0, 1.0, 0.0, 0.0]]),
    )

    def run(seed):
        chains = _core.Chains(init=np.zeros((1, 1)), draws=np.zeros((1, 1, 1)), warmup=0, thin=1, seed=seed)
        numbers = {"clip": 1.0, "room": 1, "batch": 0, "gaps": None, "most": 0, "weight": 1.0}
        return _core.GradientRun(
            target,
            chains,
            sampler="sgld",
            parameters={"friction": [1.0]},
            sampling="full",
            step_size=[0.1],
            noise=[1.0],
            **numbers,
        )

    seeded = run(5)
    assert seeded.cell_keys(1) == [_core.random.key_from_seed(5)]
    keys = seeded.cell_keys(1024)
    assert len(set(keys)) == 1024
    assert _core.random.key_from_seed(5) not in keys
    assert keys[:3] == run(5).cell_keys(1024)[:3]
    secret = run(None)
    assert secret.cell_keys(1) == secret.cell_keys(1)
    assert secret.cell_keys(1) != run(None).cell_keys(1)
    # The noise of a secret run is not that of the key which samples: else whoever samples could take it off.
    (sampling,) = secret.cell_keys(1)
    secret.absorb(np.zeros((1, 1), dtype=np.int64))
    stream = _core.random.Stream(sampling, _core.random.purposes["noise"], 0, 0)
    noise = _core.random.fill_rounded_normal(stream, 1)[0] / 2.0**32
    moved = run(5)
    moved.absorb(np.zeros((1, 1), dtype=np.int64))
    seeded_stream = _core.random.Stream(_core.random.key_from_seed(5), _core.random.purposes["noise"], 0, 0)
    seeded_noise = _core.random.fill_rounded_normal(seeded_stream, 1)[0] / 2.0**32
    assert moved.state()[0] == pytest.approx(0.1 * seeded_noise, abs=1e-6)  # the noise can be computed from its key
    assert secret.state()[0] != pytest.approx(0.1 * noise, abs=1e-6)


def test_cells_are_counted():
    data, _ = both()
    with pytest.raises(InvalidArgument, match="cells must be"):
        dp.Data.from_batches([clusters.table(5)], clusters.schema(), cells=1025)
    assert data.in_cells(1) is data
    with pytest.raises(WrongType):
        dp.Data.from_batches([clusters.table(5)], clusters.schema(), shards=2)


def test_no_refusal_of_langevin_depends_on_a_private_number_of_records():
    def table(n):
        return dp.Data(np.ones((n, 1)), np.ones(n), row_norm=1.0, public_n=4096).in_cells(2)

    options = {"epsilon": 2.0, "delta": 1e-5, "adjacency": "add_remove"}
    plan = dp.plan(dp.LogisticRegression(), table(10).public, dp.Langevin(steps=3), **options)
    for n in (16_383, 16_384):
        assert plan.run(table(n), progress=False, anyway=True).draws["beta"].size > 0
