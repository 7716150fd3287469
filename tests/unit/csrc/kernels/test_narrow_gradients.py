"""Sums of gradients of records stored in fewer bits: bounded in exact integers, near the exact gradients, the same
on every instruction set, in every order and at any number of threads (docs/privacy/sgld.md, lemma 2')."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from loops import for_each

import pydpmc as dp
from pydpmc import _core, models
from pydpmc.data.storage import FIXED16_STEP, as_doubles

NARROW = ("float32", "fixed16")
WIDTHS = [16, 17, 31, 32, 109, 1030]  # the last: rows so long that eight are read at once
MODELS = {
    "logistic_regression": (0.0, 0.0),
    "linear_regression": (0.5, 0.0),
    "poisson_regression": (0.0, 0.0),
    "negative_binomial_regression": (0.5, 0.0),
    "hinge_classifier": (0.0, 0.0),
    "huber_regression": (0.5, 1.345),
}
FLOAT_INTEGERS = 4e6
LARGEST_FACTOR = 8191


def stored(rng: np.random.Generator, width: int, storage: str, n: int = 67) -> dp.Data:
    x = rng.normal(size=(n, width)) / np.sqrt(width)
    x[5], x[9] = 0.0, x[9] * 1e-3
    return dp.Data(x, rng.integers(0, 2, n), row_norm=2.0, storage=storage)  # type: ignore[arg-type]


def arguments(data: dp.Data, model: str, intercept: bool) -> dict[str, Any]:
    return {
        "rows": data._rows,
        "columns": data.public.width,
        "has_target": True,
        "model": model,
        "intercept": intercept,
        "constants": MODELS[model],
    }


def finest(storage: str, clip: float, factor: float) -> float:
    return FLOAT_INTEGERS / clip if storage == "float32" else LARGEST_FACTOR / FIXED16_STEP / factor


def total(of: dict[str, Any], theta: Any, clip: float, per_unit: float, index: Any = None) -> list[int]:
    index = None if index is None else np.asarray(index, dtype=np.uint32)
    return _core.gradient_sum(
        **of, theta=np.asarray(theta).tolist(), clip=clip, per_unit=per_unit, index=index, narrow=True
    ).tolist()


def exact_gradients(data: dp.Data, model: str, intercept: bool, theta: Any) -> np.ndarray:
    values = as_doubles(data._rows, data.public.width, True)
    x, y = values[:, : data.public.width], values[:, data.public.width]
    x = np.column_stack([np.ones(len(x)), x]) if intercept else x
    eta, (sigma, threshold) = x @ theta, MODELS[model]
    residual = {
        "logistic_regression": lambda: y - 1 / (1 + np.exp(-eta)),
        "linear_regression": lambda: (y - eta) / sigma**2,
        "poisson_regression": lambda: y - np.exp(eta),
        "negative_binomial_regression": lambda: (y - np.exp(eta)) / (1 + sigma * np.exp(eta)),
        "hinge_classifier": lambda: np.where((2 * y - 1) * eta < 1, 2 * y - 1, 0),
        "huber_regression": lambda: np.clip((y - eta) / sigma, -threshold, threshold) / sigma,
    }[model]()
    return x * residual[:, None]


@for_each("storage", NARROW)
@for_each("intercept", [False, True])
@for_each("width", WIDTHS)
@for_each("model", MODELS)
def test_each_record_is_its_clipped_gradient_within_the_rounding(model, width, intercept, storage, rng):
    data, clip = stored(rng, width, storage), 1.5
    theta = rng.normal(size=width + intercept) * 0.3
    gradients = exact_gradients(data, model, intercept, theta)
    norms = np.linalg.norm(gradients, axis=1)
    row_norms = np.linalg.norm(as_doubles(data._rows, width, True)[:, :width], axis=1)
    factor = 4.0
    per_unit = finest(storage, clip, factor)
    expected = gradients * np.minimum(1.0, clip / np.maximum(norms, 1e-300))[:, None] * per_unit
    found = np.array([total(arguments(data, model, intercept), theta, clip, per_unit, [i]) for i in range(len(norms))])
    if storage == "float32":
        allowed = 0.5 + 0.5 * np.sqrt(width + intercept) + 2e-6 * np.abs(expected) + 1e-6 * clip * per_unit
    else:
        half = 0.51 / FIXED16_STEP * FIXED16_STEP  # half of a factor, times a feature in units of the grid
        largest = np.maximum(row_norms, 1.0 if intercept else 0.0)[:, None] / FIXED16_STEP
        allowed = 2 * half * largest + 2e-6 * np.abs(expected) + 1e-6 * per_unit
    assert (np.abs(found - expected) <= allowed).all()
    assert np.abs(found).max() > 0.05 * clip * per_unit / np.sqrt(width)


@pytest.mark.parametrize("storage", NARROW)
@pytest.mark.parametrize("model", MODELS)
def test_the_largest_contribution_is_within_the_declared_sensitivity_in_exact_arithmetic(model, storage, rng):
    """Clips from far below to far above the gradients; the norm of the integers is compared as a fraction."""
    longest = Fraction(0)
    for width, intercept, clip in [
        (16, False, 0.3),
        (17, True, 0.7),
        (109, False, 1e-3),
        (109, True, 2.0),
        (32, True, 50),
    ]:
        data = stored(rng, width, storage, n=24)
        of, theta = arguments(data, model, intercept), rng.normal(size=width + intercept) * 3
        for per_unit in (finest(storage, clip, 1.0), finest(storage, clip, 1.0) / 777, 3.0 / clip):
            bound = Fraction(clip) * Fraction(per_unit)
            for i in range(24):
                square = sum(q * q for q in total(of, theta, clip, per_unit, [i]))
                assert square <= (bound * (1 + Fraction(1, 2 * 10**12))) ** 2
                longest = max(longest, Fraction(square) / bound**2)
    print(f"{model}, {storage}: largest norm {float(longest) ** 0.5:.6f} of the sensitivity")
    assert longest > Fraction(98, 100) ** 2


@pytest.mark.parametrize("width", [16, 240, 241, 1000])
def test_sixteen_bit_predictors_are_exact(width, rng):
    """Targets next to the predictors leave residuals that show their last digits."""
    slopes = np.append(rng.normal(size=width - 1), 3.99999999)
    x = rng.uniform(-2, 2, (40, width))
    x[0], x[1], x[2, 1:] = np.sign(slopes) * 1.99999, -np.sign(slopes) * 1.99999, 0.0  # the longest sums
    scale = 2.0 ** (22 - int(np.floor(np.log2(slopes.max()))))
    rounded = [Fraction(v) / Fraction(scale) for v in np.rint(slopes * scale).tolist()]
    whole = np.floor(np.abs(x) / FIXED16_STEP) * np.sign(x) * FIXED16_STEP
    eta = [sum(Fraction(a) * b for a, b in zip(row, rounded, strict=True)) for row in whole.tolist()]
    data = dp.Data(x, [float(e) for e in eta], row_norm=1e4, x_bounds=(-2.0, 2.0), storage="fixed16")
    stored_x, stored_y = np.split(as_doubles(data._rows, width, True), [width], axis=1)
    np.testing.assert_array_equal(stored_x, whole)
    residual = [(Fraction(y) - e) * 4 for y, e in zip(stored_y[:, 0].tolist(), eta, strict=True)]  # over sigma^2
    assert max(abs(r) for r in residual) < 1e-3
    per_factor = 8000 / float(max(abs(r) for r in residual))
    of, theta = arguments(data, "linear_regression", True), np.append(0.0, slopes)
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        for i, r in enumerate(residual):
            found = total(of, theta, 0.1, per_factor / FIXED16_STEP, [i])[0] * FIXED16_STEP
            assert abs(found - float(r) * per_factor) < 0.6


def test_the_intercept_is_rounded_once(rng):
    """The factor of a record without features, next to the middle of two integers: single precision would meet it."""
    data = dp.Data(np.zeros((1, 16)), [1.0], row_norm=1.0, storage="float32")
    of = arguments(data, "linear_regression", True)
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        for middle, nearest in ((1026638.5 + 1e-7, 1026639), (1026639.5 - 1e-7, 1026639)):
            assert total(of, np.zeros(17), 10.0, middle / 4, [0])[0] == nearest  # (1 - 0) / sigma^2 = 4


@pytest.mark.parametrize("storage", NARROW)
@pytest.mark.parametrize("slope", [np.nan, np.inf, 1e300])
def test_slopes_beyond_all_bounds_add_nothing_or_a_clipped_gradient(slope, storage, rng):
    data = stored(rng, 20, storage)
    theta = np.append(rng.normal(size=19), slope)
    for model in MODELS:
        found = np.array([total(arguments(data, model, False), theta, 1.0, 1e5, [i]) for i in range(20)])
        assert np.linalg.norm(found, axis=1).max() <= 1e5
        if np.isnan(slope) and model == "logistic_regression":
            assert not found.any()


@for_each("value", [0.0, 5e-324, 1e-45, 1e-40, 1e-30, 1e-20, 1.0, 1e20, 1e30, 1e38, 3.4e38, 1e300])
@for_each("target", [0.0, 1e-40, 1.0, -1e20, 1e38, -1e300])
def test_extreme_records_stay_within_the_clip(value, target, rng):
    x = np.full((3, 20), value) * rng.choice([-1.0, 1.0], (3, 20))
    x[1, 1:] = 0.0
    x[2] *= rng.uniform(0, 1, 20) ** 30
    data = dp.Data(x, np.full(3, target), storage="float32")
    for theta in (np.zeros(20), rng.normal(size=20), rng.normal(size=20) * 1e30):
        for clip in (1e-10, 1.0, 1e10):
            per_unit = FLOAT_INTEGERS / clip
            for i in range(3):
                found = total(arguments(data, "linear_regression", False), theta, clip, per_unit, [i])
                assert sum(q * q for q in found) <= (Fraction(clip) * Fraction(per_unit)) ** 2


@pytest.mark.parametrize("storage", NARROW)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_sums_are_sums_of_records_on_every_instruction_set(width, intercept, storage, rng):
    x, y = rng.normal(size=(601, width)) / np.sqrt(width), rng.integers(0, 2, 601).astype(float)
    x[11], y[30] = np.nan, np.nan
    data = dp.Data(x, y, row_norm=2.0, on_invalid="drop", storage=storage)
    of, theta = arguments(data, "logistic_regression", intercept), rng.normal(size=width + intercept)
    per_unit = finest(storage, 0.7, 1.0)
    found = []
    for isa in _core.available_isas():
        assert _core.use_isa(isa)
        one_by_one = np.array([total(of, theta, 0.7, per_unit, [i]) for i in range(601)])
        assert not one_by_one[[11, 30]].any()
        everybody = one_by_one.sum(axis=0).tolist()
        assert everybody == total(of, theta, 0.7, per_unit)
        assert everybody == total(of, theta, 0.7, per_unit, rng.permutation(601))
        assert one_by_one[3:300:7].sum(axis=0).tolist() == total(of, theta, 0.7, per_unit, np.arange(3, 300, 7))
        found.append(one_by_one)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


SAMPLERS = {
    "full": dp.SGLD(steps=30, step_size=1e-4, clip=0.8, sampling="full"),
    "Poisson": dp.SGLD(steps=30, step_size=1e-4, clip=0.8, batch_size=50),
    "without replacement": dp.SGHMC(steps=30, step_size=1e-4, clip=0.8, batch_size=50, sampling="without_replacement"),
}


@pytest.mark.parametrize("storage", NARROW)
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_do_not_depend_on_threads_or_instruction_set_and_hardly_on_storage(name, storage, rng):
    x = rng.normal(size=(6000, 20)) / np.sqrt(20)
    y = (rng.random(6000) < 1 / (1 + np.exp(-3 * x[:, 0]))).astype(float)
    plan = dp.plan(dp.LogisticRegression(), dp.Data(x, y, row_norm=2.0).public, SAMPLERS[name], chains=2)
    runs = [("float64", _core.available_isas()[-1], 1)]
    runs += [(storage, isa, threads) for isa in _core.available_isas() for threads in (1, 2)]
    found = []
    for stored_as, isa, threads in runs:
        assert _core.use_isa(isa)
        data = dp.Data(x, y, row_norm=2.0, storage=stored_as)
        post = plan.run(data, seed=3, threads=threads, warmup=0, progress=False)
        found.append(np.concatenate(list(post.draws.values()), axis=2))
    for draws in found[2:]:
        np.testing.assert_array_equal(draws, found[1])
    exact, share = found[0], {"float32": 1e-3, "fixed16": 2e-2}[storage]
    assert 0 < np.abs(found[1] - exact).max() < share * np.abs(np.diff(exact, axis=1)).mean()


def test_what_cannot_be_summed_narrowly_is_refused_by_the_core(rng):
    few = dp.Data(rng.normal(size=(4, 6)), np.ones(4), row_norm=2.0, storage="fixed16")
    double = dp.Data(rng.normal(size=(4, 20)), np.ones(4))
    for data in (few, double):
        with pytest.raises(ValueError, match="no narrow sums"):
            total(arguments(data, "logistic_regression", False), np.zeros(data.public.width), 1.0, 1e6)
    single = dp.Data(rng.normal(size=(4, 20)), np.ones(4), storage="float32")
    with pytest.raises(ValueError, match="too fine"):
        total(arguments(single, "logistic_regression", False), np.zeros(20), 1.0, 1e7)


@pytest.mark.parametrize("kind", [kind for kind in models.ALL if kind().needs_target])
@pytest.mark.parametrize("storage", NARROW)
def test_every_regression_runs_on_wide_records(kind, storage, rng):
    model = kind()
    x, y = rng.normal(size=(300, 18)) / 5, rng.integers(0, model.label_count or 3, 300)
    data = {s: dp.Data(x, y, row_norm=2.0, y_bounds=(0.0, 4.0), storage=s) for s in ("float64", storage)}
    sampler = dp.SGLD(steps=30, step_size=1e-4, clip=1.0, batch_size=50)
    plan = dp.plan(model, data["float64"].public, sampler)
    exact, narrow = (
        np.concatenate(
            [v.reshape(1, 30, -1) for v in plan.run(d, seed=1, warmup=0, progress=False).draws.values()], axis=2
        )
        for d in data.values()
    )
    assert np.abs(narrow - exact).max() < 1e-2 * np.abs(np.diff(exact, axis=1)).mean()


@pytest.mark.parametrize("lost", [[3], [0, 7, 66], list(range(8))], ids=["one", "some", "a whole group"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_stored_row_that_is_not_finite_adds_nothing(rng, value, lost):
    """`Data` stores no such row; lemma 2' holds for the kernel all the same."""
    data = stored(rng, 17, "float32")
    theta, rest = rng.normal(size=17), [i for i in range(67) if i not in lost]
    of = arguments(data, "logistic_regression", False)
    without = total(of, theta, 1.0, 4e6, rest)
    of["rows"] = of["rows"].copy()
    of["rows"][lost, 2] = value
    assert total(of, theta, 1.0, 4e6) == without
