"""Data: what it refuses, what it stores, and that it never reveals a record."""

import gc
import weakref
from fractions import Fraction

import numpy as np
import pytest

import pydpmc as dp

HUGE, SMALLEST, SMALLEST_NORMAL = np.finfo(float).max, 5e-324, np.finfo(float).tiny
X = np.array([[0.25, -0.5], [0.125, 1.0], [2.0, 0.0]])


def stored(data: dp.Data) -> np.ndarray:
    public = data.public
    return data._rows[:, : public.width + public.has_target]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x": 3.0}, ["x must have one or two dimensions", "0"]),
        ({"x": np.zeros((2, 0))}, ["x must have at least one column", "(2, 0)"]),
        ({"x": X, "y": np.zeros(2)}, ["x has 3 rows", "y has shape (2,)"]),
        ({"x": X, "y": np.zeros((3, 1))}, ["x has 3 rows", "y has shape (3, 1)"]),
        ({"x": X, "row_norm": 0.0}, ["row_norm must be a positive finite number"]),
        ({"x": X, "row_norm": -1.0}, ["row_norm"]),
        ({"x": X, "row_norm": np.inf}, ["row_norm"]),
        ({"x": X, "row_norm": np.nan}, ["row_norm"]),
        ({"x": X, "x_bounds": (1.0, 0.0)}, ["x_bounds", "low <= high"]),
        ({"x": X, "x_bounds": (0.0, np.inf)}, ["x_bounds", "finite"]),
        ({"x": X, "x_bounds": (0.0, [1.0, 2.0, 3.0])}, ["x_bounds", "(2)"]),
        ({"x": X, "x_bounds": 3.0}, ["x_bounds must be (low, high)"]),
        ({"x": X, "y_bounds": (0.0, 1.0)}, ["y_bounds was given but y was not"]),
        ({"x": X, "y": np.zeros(3), "y_bounds": (1.0, 0.0)}, ["y_bounds", "low <= high"]),
        ({"x": X, "y": np.zeros(3), "y_bounds": 3.0}, ["y_bounds must be (low, high)"]),
        ({"x": X, "y": np.zeros(3), "y_bounds": (1.0, 2.0, 3.0)}, ["y_bounds must be (low, high)"]),
        ({"x": X, "columns": ["a"]}, ["columns must be 2 distinct names"]),
        ({"x": X, "columns": ["a", "a"]}, ["columns must be 2 distinct names"]),
        ({"x": X, "public_n": 0}, ["public_n must be a positive whole number"]),
        ({"x": X, "public_n": 2.5}, ["public_n must be a positive whole number"]),
        ({"x": X, "public_n": np.inf}, ["public_n must be a positive whole number"]),
        ({"x": X, "on_invalid": "ignore"}, ["on_invalid", "drop"]),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, words):
    with pytest.raises(ValueError) as refusal:
        dp.Data(**arguments)
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"x": np.zeros((2, 2), dtype="timedelta64[s]")}, "x"),
        ({"x": X, "y": np.array(["2020-01-01"] * 3, dtype="datetime64[D]")}, "y"),
        ({"x": np.zeros(2, dtype="V3")}, "x"),
    ],
)
def test_arrays_declared_to_hold_no_numbers_are_refused_by_name(arguments, name):
    with pytest.raises(TypeError, match=f"^{name} must hold real numbers"):
        dp.Data(**arguments)


def test_a_masked_array_is_refused_because_its_masked_values_would_be_used():
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[False, True])
    with pytest.raises(TypeError, match="x is a masked array"):
        dp.Data(masked)


def test_an_error_for_some_records_cannot_be_asked_for():
    with pytest.raises(ValueError, match='on_invalid must be "drop"'):
        dp.Data(X, on_invalid="raise")


@pytest.mark.parametrize("bad", [np.nan, np.inf, None, "many", b"\xff", 1j, [1.0, 2.0], object(), 10**400, {}])
def test_a_value_that_is_no_number_voids_its_own_record_alone(bad):
    x = [[0.25, -0.5], [bad, 1.0], [2.0, 0.0]]
    data = dp.Data(x, ["0", True, 1.0])
    assert np.isnan(stored(data)[:, 2]).tolist() == [False, True, False]
    np.testing.assert_array_equal(stored(data)[[0, 2]], [[0.25, -0.5, 0.0], [2.0, 0.0, 1.0]])


def test_a_dropped_row_still_counts_in_n_and_is_marked_with_nan():
    x = np.array([[0.1, 0.2], [np.nan, 5.0], [0.3, 0.4]])
    with_target = dp.Data(x, np.array([0.0, 1.0, np.inf]), on_invalid="drop")
    assert len(with_target) == with_target.public.n == 3
    assert np.isnan(stored(with_target)[:, 2]).tolist() == [False, True, True]
    alone = dp.Data(x, on_invalid="drop")
    assert np.isnan(stored(alone)[:, 0]).tolist() == [False, True, False]


@pytest.mark.parametrize("bad", [(np.nan, 0.5, 1.0), (0.1, np.inf, 0.0), (0.2, 0.1, np.nan), (-np.inf, np.nan, np.inf)])
def test_a_dropped_row_contributes_exactly_nothing(bad, rng):
    x, y = rng.uniform(-1, 1, (41, 2)), rng.integers(0, 2, 41).astype(float)
    x[17], y[17] = bad[:2], bad[2]
    neutral_x = x.copy()
    neutral_x[17] = 0.0  # under logistic regression the row x = 0 says nothing of beta
    neutral_y = y.copy()
    neutral_y[17] = 1.0
    plan = dp.plan(dp.LogisticRegression(), dp.Data(neutral_x, neutral_y, row_norm=2).public, SHORT)
    dropped = plan.run(dp.Data(x, y, row_norm=2, on_invalid="drop"), seed=3, progress=False)
    neutral = plan.run(dp.Data(neutral_x, neutral_y, row_norm=2), seed=3, progress=False)
    np.testing.assert_array_equal(dropped.draws["beta"], neutral.draws["beta"])


SHORT = dp.Barker(steps=400, scale=0.3)


def exact_norm_exceeds(row: np.ndarray, bound: float) -> bool:
    return sum(Fraction(float(v)) ** 2 for v in row) > Fraction(bound) ** 2


@pytest.mark.parametrize("bound", [1.0, 0.1, 1e-200, 1e200, 3.7])
def test_row_norm_is_never_exceeded_in_exact_arithmetic(bound, rng):
    width = 5
    rows = rng.normal(size=(300, width))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    extreme = rng.choice([HUGE, -HUGE, 1e308, SMALLEST, SMALLEST_NORMAL, 0.0, -0.0, 1.0, 1e-160], (300, width))
    nudged = np.nextafter(unit * bound, np.inf)
    with np.errstate(over="ignore", under="ignore"):
        data = dp.Data(np.concatenate([rows, unit * bound, nudged, extreme, rows * 1e300]), row_norm=bound)
    assert not any(exact_norm_exceeds(row, bound) for row in stored(data))


def test_a_long_row_keeps_its_direction_and_a_short_one_its_bits():
    x = np.array([[3e-4, 4e-4], [30.0, 40.0], [0.9 * HUGE, 1.2e308], [3e307, 4e307]])
    rows = stored(dp.Data(x, row_norm=1.0))
    np.testing.assert_array_equal(rows[0], x[0])
    np.testing.assert_allclose(rows[1:], [[0.6, 0.8], [0.8, 0.6], [0.6, 0.8]], rtol=0.01)


def test_bounds_clamp_every_column_and_the_target():
    x = np.array([[-5.0, 7.0], [0.5, 0.5]])
    data = dp.Data(x, np.array([9.0, -9.0]), x_bounds=([0.0, -1.0], 1.0), y_bounds=(-2.0, 3.0))
    np.testing.assert_array_equal(stored(data), [[0.0, 1.0, 3.0], [0.5, 0.5, -2.0]])


@pytest.mark.parametrize(
    ("width", "target", "stride"),
    [
        (1, False, 1),
        (1, True, 2),
        (3, True, 4),
        (4, False, 4),
        (4, True, 8),
        (5, False, 8),
        (7, True, 8),
        (8, True, 12),
    ],
)
def test_rows_are_aligned_and_padded_with_zeros(width, target, stride):
    data = dp.Data(np.ones((9, width)), np.ones(9) if target else None)
    assert data._rows.shape == (9, stride)
    assert data._rows.ctypes.data % 64 == 0
    assert data._rows.flags.c_contiguous
    assert not data._rows[:, width + target :].any()


def test_one_column_may_be_given_flat():
    flat, column = dp.Data(np.arange(4.0)), dp.Data(np.arange(4.0)[:, None])
    assert flat.public == column.public
    np.testing.assert_array_equal(flat._rows, column._rows)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.int64, np.float16, np.float32, np.float64])
def test_every_real_dtype_is_stored_as_the_same_doubles(dtype):
    values = np.array([[0, 1], [1, 1], [1, 0]])
    np.testing.assert_array_equal(stored(dp.Data(values.astype(dtype), values[:, 0].astype(dtype)))[:, :2], values)


def test_lists_fortran_order_and_views_are_stored_alike(rng):
    x = rng.normal(size=(70, 6))
    wide = np.zeros((140, 12))
    wide[::2, ::2] = x
    for same in (x.tolist(), np.asfortranarray(x), wide[::2, ::2], x[::-1][::-1]):
        np.testing.assert_array_equal(stored(dp.Data(same)), x)


def test_more_records_than_a_chunk_are_all_stored(rng):
    x = rng.normal(size=(2**19 + 7, 1))
    np.testing.assert_array_equal(stored(dp.Data(x)), x)


def test_the_input_is_neither_changed_nor_kept():
    x, y = X * 10, np.array([5.0, np.nan, -5.0])
    x_before, y_before = x.copy(), y.copy()
    data = dp.Data(x, y, row_norm=1.0, y_bounds=(-1, 1), on_invalid="drop")
    np.testing.assert_array_equal(x, x_before)
    np.testing.assert_array_equal(y, y_before)
    assert not np.shares_memory(data._rows, x)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_a_read_only_input_is_accepted():
    x = X.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(stored(dp.Data(x)), X)


def test_repr_and_public_hold_no_record():
    data = dp.Data(np.full((3, 1), 0.7654321), np.full(3, 0.123456), row_norm=1.0)
    assert "0.765" not in repr(data)
    assert "0.123" not in repr(data)
    assert data.public == dp.Public(n=3, columns=("x0",), has_target=True, row_norm=1.0)


def test_feature_norm_is_the_least_declared_bound():
    public = dp.Public(9, ("a", "b"), True, row_norm=6.0, x_bounds=((-3.0, 1.0), (0.0, 4.0)))
    assert public.feature_norm == 5.0
    assert dp.Public(9, ("a",), True, row_norm=2.0, x_bounds=((-3.0, 1.0),)).feature_norm == 2.0
    assert dp.Public(9, ("a",), True).feature_norm is None


def test_records_of_any_shape_are_flattened():
    images = np.arange(24.0).reshape(2, 3, 4)
    data = dp.Data(images, np.zeros(2))
    assert data.public.width == 12
    np.testing.assert_array_equal(stored(data)[:, :12], images.reshape(2, 12))
    assert dp.Data(np.zeros((0, 3, 4)), np.zeros(0)).public.n == 0
