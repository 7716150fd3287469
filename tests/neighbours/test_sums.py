"""Sums without noise, by every kernel, model and storage: a hostile record adds at most what one is charged for.

Compared with the sum over all other records: what is left is the one record's own part. It is an integer vector, and
its norm is below the accounted bound without any slack.
"""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core, models
from pydpmc.samplers.base import target_arguments
from pydpmc.samplers.conjugate.noised_sums import exact_sum
from pydpmc.samplers.newton.families import ROUNDING_OF_NORM

spec = importlib.util.spec_from_file_location("neighbours_hostile", Path(__file__).parent / "hostile.py")
hostile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hostile)

N, CHANGED, WIDTH = 30, 7, 3
CLIP, PER_UNIT, BITS = 0.05, 2.0**20, 25
VALUES = (math.nan, None, "text", 0.5, 7, -1, "1", 10**400, 1e308, -1e308, math.inf, 5e-324, hostile.Evil(), [1, 2])
STORAGES = ("float64", "float32", "fixed16")
MODELS = {name: getattr(models, name)() for name in models.__all__ if name != "SoftmaxRegression"}
MODELS = {name: model for name, model in MODELS.items() if isinstance(model, models.Model)}
MODELS["SoftmaxRegression"] = dp.SoftmaxRegression(classes=3)
CASES = [(name, s) for name, model in MODELS.items() for s in STORAGES if model.needs_target or s != "fixed16"]


def records(model, width=None):
    rng = np.random.default_rng(11)
    wide = 1 if model.one_column else WIDTH if width is None else width
    x = rng.uniform(-0.8, 0.8, (N, wide)).tolist()
    if model.one_column and not isinstance(model, dp.GaussianMixture):
        x = rng.integers(0, 2, (N, 1)).tolist()
    return x, rng.integers(0, model.label_count or 4, N).tolist() if model.needs_target else None


def stored(model, x, y, **options):
    facts = {"row_norm": 1.5, **({"y_bounds": (0.0, 4.0)} if y is not None else {}), **options}
    data = dp.Data(x, y, **facts)
    return data if model.label_count is None else data.of_labels(model.label_count)


def tables(model, width=None, **options):
    """Return the data of all other records, and of tables with one hostile record among them."""
    x, y = records(model, width)
    others = [k for k in range(N) if k != CHANGED]
    groups = options.pop("groups", None)

    def made(keep, features, targets):
        own = {} if groups is None else {"groups": [groups[k] for k in keep]}
        chosen = [features[k] for k in keep], None if targets is None else [targets[k] for k in keep]
        return stored(model, *chosen, **options, **own)

    changed = []
    for value in VALUES:
        row = [value, *x[CHANGED][1:]]
        changed.append(made(range(N), [*x[:CHANGED], row, *x[CHANGED + 1 :]], y))
        if y is not None:
            changed.append(made(range(N), x, [*y[:CHANGED], value, *y[CHANGED + 1 :]]))
    return made(others, x, y), changed


def arguments(model, data):
    names = ("rows", "columns", "has_target", "model", "intercept", "constants", "group_start")
    return {name: value for name, value in target_arguments(model, data).items() if name in names}


def points(model, data):
    rng = np.random.default_rng(5)
    theta = [np.zeros(model.dim(data.public)), *rng.normal(size=(2, model.dim(data.public)))]
    return [point.tolist() for point in (*theta, 30.0 * theta[1])]


def gradients_are_bounded(model, others, changed, **kernel):
    theta = points(model, others)
    bound = math.hypot(CLIP, kernel.get("moment_scale", 0.0) * CLIP**2) * PER_UNIT
    coded = kernel.pop("coded", False)

    def sums(data, point):
        own = {"coded": data._coded} if coded else {}
        return _core.gradient_sum(**arguments(model, data), theta=point, clip=CLIP, per_unit=PER_UNIT, **kernel, **own)

    moved = 0
    for point in theta:
        plain = sums(others, point)
        for data in changed:
            part = sums(data, point) - plain
            assert sum(int(v) ** 2 for v in part) <= bound**2
            moved += bool(np.any(part))
    assert moved  # else nothing was compared


@pytest.mark.parametrize(("name", "storage"), CASES)
def test_clipped_gradients(name, storage):
    gradients_are_bounded(MODELS[name], *tables(MODELS[name], storage=storage))


@pytest.mark.parametrize(("name", "storage"), [case for case in CASES if case[0] != "SoftmaxRegression"])
def test_second_moments_of_gradients(name, storage):
    gradients_are_bounded(MODELS[name], *tables(MODELS[name], storage=storage), moment_scale=2.0)


@pytest.mark.parametrize("storage", STORAGES)
def test_gradients_of_groups(storage):
    groups = [k // 3 for k in range(N)]
    model = MODELS["LogisticRegression"]
    others, changed = tables(model, storage=storage, groups=groups)
    theta = points(model, others)[2]
    sums = [
        _core.gradient_sum(**arguments(model, data), theta=theta, clip=CLIP, per_unit=PER_UNIT)
        for data in (others, *changed)
    ]
    for one in sums[1:]:  # the record's group is clipped with it and without it
        assert np.linalg.norm((one - sums[0]).astype(float)) <= 2 * CLIP * PER_UNIT


@pytest.mark.parametrize("storage", ["float32", "fixed16"])
def test_narrow_gradients(storage):
    model = MODELS["LogisticRegression"]
    gradients_are_bounded(model, *tables(model, width=16, storage=storage), narrow=True)


def test_gradients_of_codes():
    model = MODELS["LogisticRegression"]
    rng = np.random.default_rng(2)
    x = np.zeros((N, 25))
    x[:, 0] = rng.uniform(-0.5, 0.5, N)
    x[np.arange(N), rng.integers(1, 9, N)] = 1.0
    y, options = rng.integers(0, 2, N), {"one_hot": [range(1, 9), range(9, 17), range(17, 25)]}
    others = stored(model, np.delete(x, CHANGED, 0), np.delete(y, CHANGED), **options)
    changed = []
    for place, value in ((0, 1e308), (0, np.nan), (9, 1.0), (1, 0.5), (20, 1e308), (20, -np.inf), (24, 1.0)):
        other = x.copy()
        other[CHANGED, place] = value
        changed.append(stored(model, other, y, **options))
    assert all(data._coded is not None for data in (others, *changed))
    gradients_are_bounded(model, others, changed, coded=True)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(("name", "storage"), CASES)
def test_clipped_ratios(name, storage, batch):
    model = MODELS[name]
    others, changed = tables(model, storage=storage)
    theta, moved = points(model, others), 0
    for now, then in ((theta[1], theta[2]), (theta[0], theta[3])):
        common = {"current": now, "proposal": then, "clip": CLIP, "bits": BITS}

        def ratio(data, common=common):
            index = {"index": np.arange(len(data._rows), dtype=np.uint32)} if batch else {}
            return _core.ratio_sum(**arguments(model, data), **common, **index)

        plain = ratio(others)
        for data in changed:
            found = ratio(data)
            assert abs(found[0] - plain[0]) <= 2**BITS
            assert 0 <= found[1] - plain[1] <= 4**BITS
            moved += found != plain
    assert moved


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("name", ["LogisticRegression", "BernoulliLogit", "PoissonRegression", "HuberRegression"])
def test_looks_of_newton(name, storage, adjacency):
    model = MODELS[name]
    if not model.needs_target and storage == "fixed16":
        pytest.skip("fixed16 is for models with a target")
    others, changed = tables(model, storage=storage, public_n=N)
    plan = dp.plan(model, changed[0].public, dp.Newton(shares=[1.0]), epsilon=4.0, delta=1e-5, adjacency=adjacency)
    settings, worlds = plan.settings, changed if adjacency == "replace" else [others, *changed]
    sigma, tau = settings.bounds.noise(settings.mu, adjacency, settings.dim, settings.curvature_share)
    counts = settings.family.table
    table = None if counts is None else (counts.rows, counts.first, counts.per_unit)
    for point in points(model, others):
        sums = []
        for data in worlds:
            own = {key: value for key, value in arguments(model, data).items() if key != "group_start"}
            look = _core.NewtonRun(dim=settings.dim, seed=1, **own).bare(
                theta=point, clip=settings.bounds.gradient, sigma=sigma, curvature_clip=settings.bounds.curvature,
                tau=tau, largest_square=(settings.family.radius * ROUNDING_OF_NORM) ** 2,
                limits=settings.family.limits, outer=settings.curvature == "outer",
                block_of=list(settings.blocks), table=table, threads=1, block=4096,
            )  # fmt: skip
            sums.append(look)
        for one in sums[1:]:
            assert np.linalg.norm(one - sums[0]) * 2.0**-32 <= settings.mu


@pytest.mark.parametrize("storage", STORAGES)
def test_sums_of_conjugate_draws(storage):
    regression = storage == "fixed16"
    model = dp.LinearRegression(sigma=1.0) if regression else MODELS["GaussianMean"]
    others, changed = tables(model, storage=storage, x_bounds=(-1.0, 1.0), public_n=N)
    plan = dp.plan(model, changed[0].public, dp.ConjugateSample(draws=2), epsilon=2.0, delta=1e-6)
    settings = plan.settings
    unit = math.ldexp(settings.noise, -settings.bits)

    def sums(data):
        shape = data.public.width, data.public.has_target
        count = settings.statistics_count
        return exact_sum(_core, data._rows, *shape, settings.statistics, count, settings.clip, unit)

    plain = sums(others)
    parts = [sums(data) - plain for data in changed]
    assert all(sum(int(v) ** 2 for v in part) <= (settings.clip / unit) ** 2 for part in parts)
    assert any(np.any(part) for part in parts)
