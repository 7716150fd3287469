"""Records stored in single precision: the bounds still hold exactly, and equal values give equal draws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core, models
from pydpmc.data.storage import inward, towards_zero

SEED = 11
SINGLE = np.float32


def stored(data: dp.Data) -> np.ndarray:
    return data._rows[:, : data.public.width + data.public.has_target]


def test_an_unknown_storage_is_refused_by_name():
    with pytest.raises(ValueError, match="storage must be one of float64, float32, fixed16, not 'float16'"):
        dp.Data(np.ones((2, 2)), storage="float16")  # type: ignore[arg-type]


def test_rounding_is_towards_zero_and_keeps_what_the_storage_has(rng):
    values = np.concatenate([rng.normal(size=1000), 10.0 ** rng.uniform(-320, 308, 1000), [0.0, 1e-46, -1e-46, 5e-324]])
    values = np.concatenate([values, -values, rng.normal(size=99).astype(SINGLE).astype(float)])
    with np.errstate(all="ignore"):
        rounded = towards_zero(values, "float32")
        kept = np.isfinite(values.astype(SINGLE)) & (values.astype(SINGLE) == values)
        assert (rounded.astype(SINGLE) == rounded).all()
    assert np.isfinite(rounded).all()
    assert (np.abs(rounded) <= np.abs(values)).all()
    np.testing.assert_array_equal(rounded[kept], values[kept])
    ordinary = (np.abs(values) > 1e-37) & (np.abs(values) < 3e38)
    assert (np.abs(rounded - values)[ordinary] <= 2.0**-23 * np.abs(values)[ordinary]).all()


@pytest.mark.parametrize("bound", [1.0, 0.1, 3.7, 1e-30, 1e30])
def test_single_precision_never_exceeds_row_norm_in_exact_arithmetic(bound, rng):
    rows = rng.normal(size=(300, 5))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True) * bound
    data = dp.Data(
        np.concatenate([rows, unit, np.nextafter(unit, np.inf), rows * 1e300]), row_norm=bound, storage="float32"
    )
    for row in stored(data):
        assert sum(Fraction(float(v)) ** 2 for v in row) <= Fraction(bound) ** 2
    lengths = np.linalg.norm(stored(data)[300:600].astype(float), axis=1)
    assert (lengths > bound * (1 - 2.0**-22)).all()


@pytest.mark.parametrize("bounds", [(0.1, 0.7), (-0.7, -0.1), (-0.3, 0.3), (0.0, 1.0), (1e-50, 0.1), (-3.0, 1e39)])
def test_values_on_their_bounds_stay_within_them(bounds):
    low, high = bounds
    values = np.array([low, high, np.nextafter(low, high), np.nextafter(high, low), -1e300, 1e300])
    data = dp.Data(values[:, None], values, x_bounds=bounds, y_bounds=bounds, storage="float32")
    for value in stored(data).ravel():
        assert Fraction(low) <= Fraction(float(value)) <= Fraction(high)
    assert stored(data)[0, 0] == pytest.approx(low, rel=2e-7, abs=2e-45)


def test_bounds_without_a_number_of_the_storage_between_them_are_refused():
    close = (0.1, np.nextafter(0.1, 1.0))
    assert inward(close, "float64", "x_bounds") == close
    for name in ("x_bounds", "y_bounds"):
        with pytest.raises(ValueError, match=rf'{name}: no float32 number lies within .*storage="float64"'):
            dp.Data(np.ones((2, 1)), np.ones(2), **{name: close}, storage="float32")


@pytest.mark.parametrize("width", [1, 3, 4, 5, 8, 109])
def test_rows_are_aligned_and_whole_fours_can_be_read(width):
    data = dp.Data(np.ones((9, width)), np.ones(9), storage="float32")
    assert data._rows.dtype == SINGLE
    assert data._rows.ctypes.data % 64 == 0
    assert data._rows.shape[1] >= width + 1
    assert width < 4 or data._rows.shape[1] % 4 == 0
    assert not data._rows[:, width + 1 :].any()


def test_a_dropped_record_is_marked_in_single_precision_too():
    data = dp.Data([[1.0, np.nan], [1.0, 2.0]], [0.0, 1.0], on_invalid="drop", storage="float32")
    assert np.isnan(stored(data)[:, 2]).tolist() == [True, False]


def representable(model: Any, rng: np.random.Generator, width: int) -> dict[str, Any]:
    """Return records that single precision holds exactly, short enough that no bound changes them."""
    n = 403
    x = rng.uniform(-0.5, 0.5, (n, 1 if model.one_column else width)).astype(SINGLE).astype(float)
    if isinstance(model, dp.BernoulliLogit):
        x = rng.integers(0, 2, (n, 1)).astype(float)
    y = rng.integers(0, model.label_count or 4, n).astype(float) if model.needs_target else None
    bounds = {"y_bounds": (0.0, 4.0)} if model.needs_target else {}
    return {"x": x, "y": y, "row_norm": 8.0} | bounds


SAMPLERS = {
    "all records": dp.Barker(steps=40, scale=0.05),
    "batches": dp.Barker(steps=40, batch_size=100, w=0.1, scale=0.05, clip=0.05),
    "gradients of all": dp.SGLD(steps=40, step_size=1e-4, clip=2.0, sampling="full"),
    "Poisson": dp.SGLD(steps=40, step_size=1e-4, clip=2.0, batch_size=50),
    "without replacement": dp.SGHMC(steps=40, step_size=1e-4, clip=2.0, batch_size=50, sampling="without_replacement"),
}


@pytest.mark.parametrize("kind", models.ALL)
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_are_the_same_to_the_last_bit_on_values_that_both_storages_hold(kind, name, rng):
    width = 6
    arguments = representable(kind(), rng, width)
    plan = dp.plan(kind(), dp.Data(**arguments).public, SAMPLERS[name], chains=2)
    found = []
    for storage, isa, threads in [
        ("float64", _core.available_isas()[-1], 1),
        *[("float32", isa, threads) for isa in _core.available_isas() for threads in (1, 2)],
    ]:
        assert _core.use_isa(isa)
        data = dp.Data(**arguments, storage=storage)
        assert data.public == plan.public
        post = plan.run(data, seed=SEED, threads=threads, warmup=0, progress=False)
        found.append(np.concatenate(list(post.draws.values()), axis=2))
    assert len(np.unique(found[0][0, :, 0])) > 3
    for draws in found[1:]:
        np.testing.assert_array_equal(draws, found[0])


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 12, 13, 109])
@pytest.mark.parametrize("isa", _core.available_isas())
def test_sums_over_single_precision_rows_are_those_of_the_same_doubles(width, isa, rng):
    assert _core.use_isa(isa)
    data = dp.Data(rng.normal(size=(67, width)), rng.integers(0, 2, 67), storage="float32")
    rest = {
        "columns": width,
        "has_target": True,
        "model": "logistic_regression",
        "intercept": True,
        "constants": (0, 0),
    }
    a, b = rng.normal(size=(2, width + 1)).tolist()
    for index in (None, np.arange(0, 67, 5, dtype=np.uint32)):
        single, double = (
            (
                _core.log_likelihoods(rows=rows, **rest, theta=a).tolist(),
                _core.ratio_sum(rows=rows, **rest, current=a, proposal=b, clip=0.5, bits=25, index=index),
                _core.gradient_sum(rows=rows, **rest, theta=a, clip=0.7, per_unit=2.0**30, index=index).tolist(),
            )
            for rows in (data._rows, data._rows.astype(float))
        )
        assert single == double


@pytest.mark.parametrize("rows", [np.zeros((3, 8), np.int32), np.zeros((3, 8), np.float16), np.zeros((8, 3)).T])
def test_the_core_refuses_rows_it_cannot_read(rows):
    with pytest.raises(ValueError, match=r"rows must be (float64, float32 or int16|contiguous)"):
        _core.log_likelihoods(
            rows=rows,
            columns=2,
            has_target=True,
            model="logistic_regression",
            intercept=False,
            constants=(0, 0),
            theta=[0, 0],
        )
