"""Features in sixteen bits stay within their bounds; values on the grid give the same draws, others nearly the same."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core, models
from pydpmc.data.storage import FIXED16_STEP, as_doubles

SEED = 12
REGRESSIONS = [kind for kind in models.ALL if kind().needs_target]


def stored(data: dp.Data) -> np.ndarray:
    return as_doubles(data._rows, data.public.width, data.public.has_target)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": np.ones(2)}, ["between -2 and 2", "row_norm or x_bounds", "float32"]),
        ({"y": np.ones(2), "row_norm": 2.5}, ["between -2 and 2"]),
        ({"y": np.ones(2), "x_bounds": (0.0, 3.0)}, ["between -2 and 2"]),
        ({"y": np.ones(2), "x_bounds": ([0.0, -2.5], 1.0)}, ["between -2 and 2"]),
        ({"row_norm": 1.0}, ["needs y", "float32"]),
        ({"y": np.ones(2), "x_bounds": (1e-6, 2e-6)}, ["x_bounds: no fixed16 number lies within"]),
    ],
)
def test_features_without_bounds_in_range_are_refused(arguments, words):
    with pytest.raises(ValueError) as refusal:
        dp.Data(np.ones((2, 2)), storage="fixed16", **arguments)
    for word in words:
        assert word in str(refusal.value)


def test_features_are_multiples_of_the_step_and_targets_single_precision(rng):
    x, y = rng.uniform(-1, 1, (300, 5)), rng.normal(size=300) * 1e6
    data = dp.Data(x, y, x_bounds=(-1, 1), storage="fixed16")
    values = stored(data)
    assert data._rows.dtype == np.int16
    assert data._rows.nbytes == 300 * 8 * 2
    assert (values[:, :5] / FIXED16_STEP % 1 == 0).all()
    assert (np.abs(values[:, :5]) <= np.abs(x)).all()
    assert np.abs(values[:, :5] - x).max() < FIXED16_STEP
    np.testing.assert_allclose(values[:, 5], y, rtol=2.0**-23)


@pytest.mark.parametrize("bound", [2.0, 1.0, 0.3])
def test_row_norm_holds_exactly_on_the_bound(bound, rng):
    rows = rng.normal(size=(300, 4))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True) * bound
    axes = np.eye(4) * bound
    data = dp.Data(np.concatenate([unit, axes, -axes, rows * 1e300]), np.zeros(608), row_norm=bound, storage="fixed16")
    for row in stored(data)[:, :4]:
        assert sum(Fraction(float(v)) ** 2 for v in row) <= Fraction(bound) ** 2
    np.testing.assert_allclose(stored(data)[300:304, :4], axes, atol=1.01 * FIXED16_STEP)


@pytest.mark.parametrize("bounds", [(0.1, 0.7), (-0.7, -0.1), (-2.0, 2.0), (0.0, 1.0)])
def test_values_on_their_bounds_stay_within_them(bounds):
    values = np.array([*bounds, -1e300, 1e300])
    data = dp.Data(values[:, None], np.zeros(4), x_bounds=bounds, storage="fixed16")
    for value in stored(data)[:, 0]:
        assert Fraction(bounds[0]) <= Fraction(float(value)) <= Fraction(bounds[1])
    assert np.abs(stored(data)[:2, 0] - bounds).max() <= FIXED16_STEP


def regression(model: Any, rng: np.random.Generator, n: int = 403, width: int = 6) -> dict[str, Any]:
    """Return records on the grid, short enough that no bound changes them."""
    x = rng.integers(-8000, 8000, (n, width)) * FIXED16_STEP
    y = rng.integers(0, model.label_count or 3, n).astype(float)
    return {"x": x, "y": y, "row_norm": 2.0, "y_bounds": (0.0, 4.0)}


SAMPLERS = {
    "all records": dp.Barker(steps=30, scale=0.05),
    "batches": dp.Barker(steps=30, batch_size=100, w=0.1, scale=0.05, clip=0.05),
    "gradients of all": dp.SGLD(steps=30, step_size=1e-4, clip=2.0, sampling="full"),
    "Poisson": dp.SGLD(steps=30, step_size=1e-4, clip=0.4, batch_size=50),
}


@pytest.mark.parametrize("kind", REGRESSIONS)
@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_are_the_same_to_the_last_bit_on_values_of_the_grid(kind, name, rng):
    model = kind()
    arguments = regression(model, rng)
    plan = dp.plan(model, dp.Data(**arguments).public, SAMPLERS[name], chains=2)
    found = []
    for storage, isa, threads in [
        ("float64", _core.available_isas()[-1], 1),
        *[("fixed16", isa, threads) for isa in _core.available_isas() for threads in (1, 2)],
    ]:
        assert _core.use_isa(isa)
        data = dp.Data(**arguments, storage=storage)
        assert data.public == plan.public
        np.testing.assert_array_equal(stored(data)[:, :7], np.column_stack([arguments["x"], arguments["y"]]))
        post = plan.run(data, seed=SEED, threads=threads, warmup=0, progress=False)
        found.append(np.concatenate([draws.reshape(2, 30, -1) for draws in post.draws.values()], axis=2))
    assert len(np.unique(found[0][0, :, 0])) > 3
    for draws in found[1:]:
        np.testing.assert_array_equal(draws, found[0])


@pytest.mark.parametrize(
    "sampler",
    [
        dp.Langevin(steps=20, w=0.1),  # its rounding is charged: the fine grid on any storage
        dp.SGFS(steps=20, step_size=1e-4, clip=1.0, batch_size=50),
        dp.Barker(steps=20, scale=0.05),
    ],
    ids=lambda sampler: type(sampler).__name__,
)
def test_samplers_on_the_fine_grid_draw_the_same_from_wide_records(sampler, rng):
    arguments = regression(dp.LogisticRegression(), rng, width=20) | {"row_norm": None, "x_bounds": (-1.0, 1.0)}
    arguments["x"] /= 16
    arguments["x"] = np.round(arguments["x"] / FIXED16_STEP) * FIXED16_STEP
    data = {s: dp.Data(**arguments, storage=s) for s in ("float64", "float32", "fixed16")}
    plan = dp.plan(dp.LogisticRegression(), data["float64"].public, sampler)
    found = [plan.run(d, seed=SEED, progress=False).draws["beta"] for d in data.values()]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 12, 13, 109])
@pytest.mark.parametrize("isa", _core.available_isas())
def test_sums_over_sixteen_bits_are_those_of_the_same_doubles(width, isa, rng):
    assert _core.use_isa(isa)
    x, y = rng.uniform(-1, 1, (67, width)), rng.integers(0, 2, 67).astype(float)
    x[11], y[30] = np.nan, np.nan
    small = dp.Data(x, y, x_bounds=(-1, 1), on_invalid="drop", storage="fixed16")
    values = stored(small)
    double = dp.Data(values[:, :width], values[:, width], x_bounds=(-1, 1), on_invalid="drop")
    rest = {
        "columns": width,
        "has_target": True,
        "model": "logistic_regression",
        "intercept": True,
        "constants": (0, 0),
    }
    a, b = rng.normal(size=(2, width + 1)).tolist()
    for index in (None, np.arange(0, 67, 5, dtype=np.uint32), np.array([11, 30], dtype=np.uint32)):
        found = [
            (
                _core.ratio_sum(rows=rows, **rest, current=a, proposal=b, clip=0.5, bits=25, index=index),
                _core.gradient_sum(rows=rows, **rest, theta=a, clip=0.7, per_unit=2.0**30, index=index).tolist(),
            )
            for rows in (small._rows, double._rows)
        ]
        assert found[0] == found[1]
    assert found[0] == ((0, 0, 0), [0] * (width + 1))


def test_the_core_refuses_a_model_without_targets():
    data = dp.Data(np.ones((4, 2)), np.ones(4), row_norm=2.0, storage="fixed16")
    with pytest.raises(ValueError, match="fixed16 needs a model with a target"):
        _core.log_likelihoods(
            rows=data._rows,
            columns=2,
            has_target=True,
            model="gaussian_mean",
            intercept=False,
            constants=(1, 0),
            theta=[0, 0],
        )


def test_rounding_moves_the_posterior_by_far_less_than_its_spread(rng):
    """Posterior modes, by Newton's method, of the values as they came and as they are stored."""
    n, width = 30_000, 10
    x = rng.normal(size=(n, width)) / np.sqrt(2 * width)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ np.linspace(-2, 2, width)))).astype(float)
    shifts = {}
    tables = {s: dp.Data(x, y, row_norm=2.0, storage=s) for s in ("float64", "float32", "fixed16")}
    for storage, data in tables.items():
        features, beta = stored(data)[:, :width], np.zeros(width)
        for _ in range(12):
            p = 1 / (1 + np.exp(-features @ beta))
            precision = (features * (p * (1 - p))[:, None]).T @ features + np.eye(width)
            beta = beta + np.linalg.solve(precision, features.T @ (y - p) - beta)
        shifts[storage] = beta
    sd = np.sqrt(np.diag(np.linalg.inv(precision)))
    moved = {s: np.abs((shifts[s] - shifts["float64"]) / sd).max() for s in tables}
    print({s: f"{m:.1e} posterior sds" for s, m in moved.items()})
    assert moved["float32"] < 1e-4
    assert 0 < moved["fixed16"] < 0.03


@pytest.mark.parametrize("columns", [4, 15, 16, 29, 30, 109])
def test_rows_of_whole_sixteens_hold_their_squares(columns: int) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(200, columns)) / np.sqrt(columns)
    data = dp.Data(x, rng.integers(0, 2, 200), row_norm=1.0, storage="fixed16")
    features = data._rows[:, :columns].astype(float) * 2.0**-14
    squares = data.row_squares()
    np.testing.assert_allclose(squares, (features**2).sum(axis=1), rtol=1e-14)
    assert np.shares_memory(squares, data._rows) == (columns >= 16)
    with pytest.raises(ValueError, match="read-only"):
        squares[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        data._rows[0, 0] = 0
