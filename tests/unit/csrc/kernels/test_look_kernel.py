"""The compiled look: exact integer sums of gradient and curvature, whatever the order, threads or instruction set."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.special import ndtr, softmax

import pydpmc as dp
from pydpmc import _core
from pydpmc.data.storage import as_doubles
from pydpmc.posterior.looks import Look
from pydpmc.samplers.newton.look import entries, look_of
from pydpmc.samplers.newton.softmax_features import places

STEP = 2.0**-32
THETA = 0.7


def run_of(model, data, intercept, dim, constants=(0.0, 0.0), seed=1, weights=None):
    public = data.public
    return _core.NewtonRun(
        rows=data._rows,
        columns=public.width,
        has_target=public.has_target,
        model=model,
        intercept=intercept,
        constants=constants,
        dim=dim,
        seed=seed,
        weights=weights,
    )


def options(theta, radius=1.0, sigma=3.0, tau=2.0, *, clip=None, curvature_clip=None, **changed):
    return {
        "theta": list(theta),
        "clip": radius if clip is None else clip,
        "sigma": sigma,
        "curvature_clip": radius**2 / 4 if curvature_clip is None else curvature_clip,
        "tau": tau,
        "largest_square": (radius * (1 + 1e-12)) ** 2,
        "limits": (0.0, 0.0),
        "outer": False,
        "block_of": [0] * len(theta),
        "table": None,
        "threads": 1,
        "block": 4096,
        **changed,
    }


def terms(model, eta, y, constants, limits):
    if model == "logistic_regression":
        p = 1 / (1 + np.exp(-eta))
        return y - p, p * (1 - p)
    if model == "linear_regression":
        return np.clip(y - eta, -limits[0], limits[0]) / constants[0] ** 2, np.full_like(eta, constants[0] ** -2)
    if model == "huber_regression":
        z = (y - eta) / constants[0]
        return np.clip(z, -constants[1], constants[1]) / constants[0], (np.abs(z) < constants[1]) / constants[0] ** 2
    if model == "probit_regression":
        return y - ndtr(eta), np.exp(-eta * eta / 2) / math.sqrt(2 * math.pi)
    rows, first, per_unit = tables(model)
    weight, centre, h = (np.interp(eta, first + np.arange(len(rows)) / per_unit, column) for column in rows.T)
    return np.clip(weight * np.clip(y, 0, limits[1]) - centre, -limits[0], limits[0]), h


def tables(model):
    """A made-up table of terms for counts, with corners, that ends within reach."""
    if model not in ("poisson_regression", "negative_binomial_regression"):
        return None
    eta = np.linspace(-1.5, 2.0, 15)
    rows = np.column_stack([1 / (1 + 0.3 * np.exp(eta)), np.exp(eta), 3.0 * np.sin(eta) ** 2])
    return np.ascontiguousarray(rows), -1.5, 4.0


MODELS = {
    "logistic_regression": ((0.0, 0.0), (0.0, 0.0), 1.0, 0.25),
    "linear_regression": ((0.5, 0.0), (0.8, 0.0), 3.2, 4.0),
    "huber_regression": ((0.7, 1.3), (0.0, 0.0), 1.3 / 0.7, 0.7**-2),
    "poisson_regression": ((0.0, 0.0), (1.5, 2.0), 1.5, 3.0),
    "negative_binomial_regression": ((0.4, 0.0), (6.0, 9.0), 9.0, 3.0),
    "probit_regression": ((0.0, 0.0), (0.0, 0.0), 1.0, 1.0 / math.sqrt(2 * math.pi)),
}


def made(model, n, width, storage, rng):
    x = rng.normal(size=(n, width))
    y = (
        rng.poisson(1.0, size=n)
        if model in ("poisson_regression", "negative_binomial_regression")
        else rng.integers(0, 2, size=n)
    )
    return dp.Data(x, y.astype(float), row_norm=1.0, storage=storage)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_sums_are_those_of_the_formulas(model, storage, rng):
    constants, limits, slope, curve = MODELS[model]
    for width, intercept in ((1, False), (3, True), (4, False), (10, True), (17, False), (40, True)):
        data, dim = made(model, 333, width, storage, rng), width + intercept
        radius = math.hypot(1.0, intercept)
        theta = rng.normal(size=dim)
        x = as_doubles(data._rows, width, True)
        z, y = x[:, :width], x[:, -1] if storage == "fixed16" else x[:, width]
        z = np.column_stack([np.ones(len(z)), z]) if intercept else z
        r, h = terms(model, z @ theta, y, constants, limits)
        given = options(
            theta, radius, clip=slope * radius, curvature_clip=curve * radius**2, limits=limits, table=tables(model)
        )
        found = run_of(model, data, intercept, dim, constants).bare(**given)
        assert np.abs(found[:dim] * STEP * 3.0 - z.T @ r).max() < 333 * 3.0 * STEP + 1e-9
        i, j = np.triu_indices(dim)
        weight = np.where(i == j, 1.0, math.sqrt(2.0))
        per_record = 2 * curve * radius**2 * math.sqrt(dim) / 2.0**22
        assert np.abs(found[dim:] * STEP * 2.0 / weight - (z.T @ (h[:, None] * z))[i, j]).max() < 333 * per_record


@pytest.mark.parametrize("model", MODELS)
def test_neither_order_nor_threads_nor_instruction_set_matter(model, rng):
    constants, limits, slope, curve = MODELS[model]
    before, every = _core.isa(), _core.available_isas()
    for storage in ("float64", "float32", "fixed16"):
        data = made(model, 15_000, 21, storage, rng)
        theta = rng.normal(size=21)
        given = options(theta, clip=slope, curvature_clip=curve, limits=limits, table=tables(model))
        expected = run_of(model, data, False, 21, constants).bare(**given)
        noised = run_of(model, data, False, 21, constants).look(**given)
        try:
            splits = ((1, 4096), (2, 4096), (2, 77), (3, 1000))
            for isa, (threads, block) in [(before, s) for s in splits] + [(isa, (2, 777)) for isa in every]:
                assert _core.use_isa(isa)
                changed = given | {"threads": threads, "block": block}
                run = run_of(model, data, False, 21, constants)
                assert (run.bare(**changed) == expected).all()
                assert (run.look(**changed) == noised).all()
        finally:
            _core.use_isa(before)
        order = rng.permutation(15_000)
        shuffled = dp.Data(np.zeros((1, 21)), np.zeros(1), row_norm=1.0, storage=storage)
        shuffled._rows = np.ascontiguousarray(data._rows[order])
        assert (run_of(model, shuffled, False, 21, constants).bare(**given) == expected).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("outer", [False, True])
def test_a_record_counts_as_often_as_its_weight_says(model, outer, rng):
    """A weight that is not a number voids its record; weights of 1 change no bit."""
    constants, limits, slope, curve = MODELS[model]
    data, most = made(model, 300, 9, "float64", rng), 4.0
    weights = rng.integers(0, 5, 300).astype(float)
    weights[7] = math.nan
    theta = rng.normal(size=9)
    r, h = terms(model, data._rows[:, :9] @ theta, data._rows[:, 9], constants, limits)
    w = np.nan_to_num(weights)
    clips = {"clip": most * slope, "curvature_clip": (most * slope) ** 2 if outer else most * curve}
    given = options(theta, limits=limits, table=tables(model), outer=outer, **clips)
    before = _core.isa()
    try:
        for isa in _core.available_isas():
            assert _core.use_isa(isa)
            found = run_of(model, data, False, 9, constants, weights=weights).bare(**given)
            z = data._rows[:, :9]
            assert np.abs(found[:9] * STEP * 3.0 - z.T @ (w * r)).max() < 300 * 3.0 * STEP + 1e-9
            i, j = np.triu_indices(9)
            product = z.T @ (((w * r) ** 2 if outer else w * h)[:, None] * z)
            scale = np.where(i == j, 1.0, math.sqrt(2.0))
            error = 300 * 2 * clips["curvature_clip"] * 3.0 / 2.0**22
            assert np.abs(found[9:] * STEP * 2.0 / scale - product[i, j]).max() < error
    finally:
        _core.use_isa(before)
    ones = run_of(model, data, False, 9, constants, weights=np.ones(300)).bare(**given)
    assert (ones == run_of(model, data, False, 9, constants).bare(**given)).all()
    with pytest.raises(ValueError, match="one entry per row"):
        run_of(model, data, False, 9, constants, weights=np.ones(299))


def softmax_terms(z, y, theta, classes, intercept):
    """Residuals by class times rows, in the order of theta."""
    where = places(classes, z.shape[1], intercept)
    residual = np.eye(classes)[y.astype(int)] - softmax(z @ theta[where].T, axis=1)
    gradient = np.empty(theta.size)
    gradient[where] = residual.T @ z
    return gradient


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_softmax_sums_its_gradients_and_the_moments_of_its_rows(storage, classes, rng):
    before = _core.isa()
    for width, intercept in ((1, False), (3, True), (4, False), (10, True), (17, False)):
        x, across = rng.normal(size=(333, width)), width + intercept
        data = dp.Data(x, rng.integers(0, classes, 333).astype(float), row_norm=1.0, storage=storage)
        radius, theta = math.hypot(1.0, intercept), 2 * rng.normal(size=classes * across)
        values = as_doubles(data._rows, width, True)
        z, y = values[:, :width], values[:, -1] if storage == "fixed16" else values[:, width]
        z = np.column_stack([np.ones(len(z)), z]) if intercept else z
        given = options(theta, radius, clip=math.sqrt(2) * radius, curvature_clip=radius**2, block_of=[0] * across)
        constants = (float(classes), 0.0)
        found = run_of("softmax_regression", data, intercept, theta.size, constants).bare(**given)
        expected = softmax_terms(z, y, theta, classes, intercept)
        assert np.abs(found[: theta.size] * STEP * 3.0 - expected).max() < 333 * 3.0 * STEP + 1e-9
        i, j = np.triu_indices(across)
        weight = np.where(i == j, 1.0, math.sqrt(2.0))
        per_record = 2 * radius**2 * math.sqrt(across) / 2.0**22
        assert np.abs(found[theta.size :] * STEP * 2.0 / weight - (z.T @ z)[i, j]).max() < 333 * per_record
        try:
            for isa in _core.available_isas():
                assert _core.use_isa(isa)
                for threads, block in ((1, 77), (2, 100)):
                    run = run_of("softmax_regression", data, intercept, theta.size, constants)
                    assert (run.bare(**(given | {"threads": threads, "block": block})) == found).all()
        finally:
            _core.use_isa(before)
        with pytest.raises(ValueError, match="outer products"):
            run_of("softmax_regression", data, intercept, theta.size, constants).bare(**(given | {"outer": True}))


def test_a_record_of_a_softmax_that_is_no_class_or_not_finite_adds_nothing(rng):
    data = dp.Data(rng.normal(size=(40, 5)), rng.integers(0, 3, 40).astype(float), row_norm=1.0)
    rows = np.array(data._rows)
    rows[3, 5], rows[4, 5], rows[5, 2], rows[6, 1] = math.nan, 3.0, math.inf, 1.5
    theta = rng.normal(size=15)
    given = options(theta, clip=math.sqrt(2), curvature_clip=1.0, block_of=[0] * 5)
    both = []
    for part in (rows, np.delete(rows, [3, 4, 5, 6], axis=0)):
        some = dp.Data(np.zeros((1, 5)), np.zeros(1), row_norm=1.0)
        some._rows = np.ascontiguousarray(part)
        both.append(run_of("softmax_regression", some, False, 15, (3.0, 0.0)).bare(**given))
    assert (both[0] == both[1]).all()


def test_a_record_adds_the_same_wherever_it_stands(rng):
    data = made("logistic_regression", 300, 9, "float64", rng)
    theta = 3 * rng.normal(size=9)
    given = options(theta, sigma=2.0**20, tau=2.0**20)
    parts = []
    for k in range(300):
        alone = dp.Data(np.zeros((1, 9)), np.zeros(1), row_norm=1.0)
        alone._rows = data._rows[k : k + 1].copy()
        parts.append(run_of("logistic_regression", alone, False, 9).bare(**given)[:9])
    assert (np.sum(parts, axis=0) == run_of("logistic_regression", data, False, 9).bare(**given)[:9]).all()


def test_records_that_are_not_finite_or_too_long_add_nothing(rng):
    data = made("logistic_regression", 200, 6, "float64", rng)
    rows = np.repeat(data._rows, 2, axis=0)
    for k, bad in enumerate((math.nan, math.inf, -math.inf, 1e200, 1.1, 5e160)):
        rows[2 * k, k % 6] = bad
    rows[13, 6] = math.nan
    kept = [k for k in range(400) if k not in (0, 2, 4, 6, 8, 10, 13)]
    given = options(rng.normal(size=6))
    both = []
    for part in (rows, rows[kept]):
        some = dp.Data(np.zeros((1, 6)), np.zeros(1), row_norm=1.0)
        some._rows = np.ascontiguousarray(part)
        both.append(run_of("logistic_regression", some, False, 6).bare(**given))
    assert (both[0] == both[1]).all()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("width", [5, 40])
def test_no_record_adds_more_than_its_clips_whatever_its_target(model, share, width, rng):
    """Clips at the model's own bounds, which need not be computed, and below them."""
    constants, limits, slope, curve = MODELS[model]
    rows = np.array(made(model, 60, width, "float64", rng)._rows)
    rows[:, :width] /= np.linalg.norm(rows[:, :width], axis=1, keepdims=True)
    rows[:, width] = np.tile([0.0, 1.0, 7.0, -500.0, 1e100, -1e100], 10)
    clip, curvature_clip = share * slope, share * curve
    given = options(
        3 * rng.normal(size=width), clip=clip, curvature_clip=curvature_clip, limits=limits, table=tables(model)
    )
    for outer in (False, True):
        if outer:
            given |= {"outer": True, "curvature_clip": clip**2}
        gradients, curvatures = [], []
        for row in rows:
            alone = dp.Data(np.zeros((1, width)), np.zeros(1), row_norm=1.0)
            alone._rows = row[None].copy()
            found = run_of(model, alone, False, width, constants).bare(**given) * STEP
            gradients.append(3.0 * np.linalg.norm(found[:width]))
            curvatures.append(2.0 * np.linalg.norm(found[width:]))
        rounding = 3.0 * STEP * width + given["curvature_clip"] * math.sqrt(width) * 2.0**-21
        assert clip / 2 < max(gradients) < clip * (1 + 1e-11) + rounding
        assert max(curvatures) < given["curvature_clip"] * (1 + 1e-11) + rounding


@pytest.mark.parametrize("width", [1, 30])
def test_the_longest_rows_are_summed_without_rounding(width, rng):
    """Their integers are odd, and their squares add up to more than a double holds."""
    x, count, root = np.zeros((20_000, width)), 20_000, 2**22 - 1
    x[:, 0] = root / 2**22
    data, before = dp.Data(x, np.zeros(count), row_norm=1.0), _core.isa()
    try:
        for isa in _core.available_isas():
            assert _core.use_isa(isa)
            sums = run_of("logistic_regression", data, False, width).sums(**options(np.zeros(width)))
            high, low = (int(number) for number in sums[width])
            assert high * 2**40 + low == count * root**2
    finally:
        _core.use_isa(before)


def test_noise_has_its_standard_deviation_and_off_diagonals_half_the_variance(rng):
    data = made("logistic_regression", 50, 4, "float64", rng)
    given = options(rng.normal(size=4), sigma=5.0, tau=0.7)
    run, count = run_of("logistic_regression", data, False, 4), 4000
    looks = np.array([run.look(**given) for _ in range(count)])
    assert run.taken == count
    i, j = entries([0] * 4)
    expected = np.concatenate([np.full(4, 5.0), np.where(i == j, 0.7, 0.7 / math.sqrt(2))])
    assert np.abs(looks.std(axis=0) / expected - 1).max() < 5 / math.sqrt(2 * count)
    correlation = np.corrcoef(looks.T) - np.eye(14)
    assert np.abs(correlation).max() < 5.5 / math.sqrt(count)
    bare = run.bare(**given) * STEP * np.concatenate([np.full(4, 5.0), np.full(10, 0.7)])
    bare[4:] /= np.where(i == j, 1.0, math.sqrt(2))
    assert (np.abs(looks.mean(axis=0) - bare) < 5 * expected / math.sqrt(count)).all()


def test_blocks_and_diagonals_are_entries_of_the_full_curvature(rng):
    data = made("logistic_regression", 500, 20, "float64", rng)
    theta = rng.normal(size=20)
    run = run_of("logistic_regression", data, False, 20)
    full = run.bare(**options(theta))
    i, j = entries([0] * 20)
    for blocks in (list(range(20)), [k // 7 for k in range(20)], [k % 3 for k in range(20)]):
        part = run.bare(**options(theta, block_of=blocks))
        kept = np.asarray(blocks)[i] == np.asarray(blocks)[j]
        assert (part == np.concatenate([full[:20], full[20:][kept]])).all()


def test_outer_products_are_those_of_gradients(rng):
    data = made("logistic_regression", 500, 5, "float64", rng)
    theta = rng.normal(size=5)
    found = run_of("logistic_regression", data, False, 5).bare(**options(theta, outer=True, curvature_clip=1.0))
    x, y = data._rows[:, :5], data._rows[:, 5]
    g = (y - 1 / (1 + np.exp(-x @ theta)))[:, None] * x
    i, j = np.triu_indices(5)
    assert found[5:] * STEP * 2.0 / np.where(i == j, 1, math.sqrt(2)) == pytest.approx((g.T @ g)[i, j], abs=2e-3)


def test_a_look_is_unpacked_in_its_order():
    look = look_of(np.zeros(3), np.arange(9.0), [0, 0, 0], 1.0, 2.0)
    assert look.gradient.tolist() == [0, 1, 2]
    assert look.curvature.tolist() == [[3, 4, 5], [4, 6, 7], [5, 7, 8]]
    again = Look.from_dict(look.to_dict())
    assert (again.curvature == look.curvature).all()
    assert again.tau == 2.0
    several = look_of(np.zeros(4), np.arange(7.0), [0, 0], 1.0, 2.0)
    assert several.gradient.tolist() == [0, 1, 2, 3]
    assert several.curvature.tolist() == [[4, 5], [5, 6]]
    apart = look_of(np.zeros(3), np.arange(7.0), [0, 1, 0], 1.0, 2.0)
    assert apart.curvature.tolist() == [[3, 0, 4], [0, 5, 0], [4, 0, 6]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"theta": [0.0]}, "theta has the wrong length"),
        ({"theta": [math.nan] * 4}, "theta must be finite"),
        ({"sigma": 1e-9}, "clip is too large for its noise"),
        ({"tau": 0.0}, "between"),
        ({"tau": 1e-15}, "curvature_clip"),
        ({"block": 5000}, "block"),
        ({"block_of": [0]}, "block_of"),
    ],
)
def test_the_core_refuses_what_would_overflow(changed, message, rng):
    run = run_of("logistic_regression", made("logistic_regression", 9, 4, "float64", rng), False, 4)
    with pytest.raises(ValueError, match=message):
        run.look(**(options([0.0] * 4) | changed))
    assert run.taken == 0


def test_a_predictor_or_count_that_is_no_number_voids_its_record_of_a_count(rng):
    data = made("poisson_regression", 60, 3, "float64", rng)
    rows = np.array(data._rows)
    rows[3, 3], rows[4, 1], rows[9, 3] = math.nan, math.nan, math.inf
    limits = MODELS["poisson_regression"][1]
    given = options(rng.normal(size=3), clip=1.5, curvature_clip=3.0, limits=limits, table=tables("poisson_regression"))
    both = []
    for part in (rows, np.delete(rows, [3, 4, 9], axis=0)):
        some = dp.Data(np.zeros((1, 3)), np.zeros(1), row_norm=1.0)
        some._rows = np.ascontiguousarray(part)
        both.append(run_of("poisson_regression", some, False, 3).bare(**given))
    assert (both[0] == both[1]).all()


ROWS = np.ones((3, 3))


@pytest.mark.parametrize(
    ("model", "table"),
    [
        ("poisson_regression", None),
        ("logistic_regression", (ROWS, 0.0, 1.0)),
        ("poisson_regression", (ROWS[:1], 0.0, 1.0)),
        ("poisson_regression", (-ROWS, 0.0, 1.0)),
        ("poisson_regression", (ROWS * math.nan, 0.0, 1.0)),
        ("poisson_regression", (ROWS, 0.0, 0.0)),
        ("poisson_regression", (ROWS, math.inf, 1.0)),
    ],
)
def test_the_core_refuses_a_table_that_is_none(model, table, rng):
    run = run_of(model, made(model, 9, 4, "float64", rng), False, 4)
    with pytest.raises(ValueError, match="table"):
        run.look(**options([0.0] * 4, table=table))
    assert run.taken == 0


# Weights end where memory does: reading beyond them ends the process.
BEYOND_THE_WEIGHTS = """
import ctypes
import mmap

import numpy as np

from pydpmc import _core

pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
first = ctypes.addressof(ctypes.c_char.from_buffer(pages))
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
assert libc.mprotect(first + mmap.PAGESIZE, mmap.PAGESIZE, 0) == 0
for n in (1, 5, 8, 13, 64, 70):
    weights = np.frombuffer(pages, count=n, offset=mmap.PAGESIZE - 8 * n)
    rows = np.full((n, 4), 0.25)
    run = _core.NewtonRun(
        rows=rows, columns=3, has_target=True, model="logistic_regression", intercept=False,
        constants=(0.0, 0.0), dim=3, seed=1, weights=weights,
    )
    run.bare(
        theta=[0.1] * 3, clip=1.0, sigma=3.0, curvature_clip=0.25, tau=2.0, largest_square=1.0, limits=(0.0, 0.0),
        outer=False, block_of=[0] * 3, table=None, threads=1, block=4096,
    )
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect")
def test_a_look_reads_no_weight_beyond_the_last():
    ended = subprocess.run(
        [sys.executable, "-P", "-c", BEYOND_THE_WEIGHTS], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
