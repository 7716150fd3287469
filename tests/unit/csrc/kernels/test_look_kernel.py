"""The compiled look: exact integer sums of gradient and curvature, whatever the order, threads or instruction set."""

from __future__ import annotations

import math

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
    mean = np.exp(np.minimum(eta, limits[1]))
    weight = 1 / (1 + constants[0] * mean)  # 1 for Poisson
    return (np.clip(y, 0, limits[0]) - mean) * weight, np.where(eta < limits[1], mean * weight, 0.0)


MODELS = {
    "logistic_regression": ((0.0, 0.0), (0.0, 0.0), 1.0, 0.25),
    "linear_regression": ((0.5, 0.0), (0.8, 0.0), 3.2, 4.0),
    "huber_regression": ((0.7, 1.3), (0.0, 0.0), 1.3 / 0.7, 0.7**-2),
    "poisson_regression": ((0.0, 0.0), (6.0, math.log(3.0)), 6.0, 3.0),
    "negative_binomial_regression": ((0.4, 0.0), (6.0, math.log(3.0)), 6.0, 3.0 / 2.2),
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
        given = options(theta, radius, clip=slope * radius, curvature_clip=curve * radius**2, limits=limits)
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
        given = options(theta, clip=slope, curvature_clip=curve, limits=limits)
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
    given = options(theta, limits=limits, outer=outer, **clips)
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
