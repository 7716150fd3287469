"""Awkward but valid input works and means what the plain array means."""

import numpy as np
import pytest

import pydpmc as dp

PLAIN = np.array([[0.5, -0.25], [0.125, 1.0], [-1.0, 0.0], [0.75, 0.5], [0.0, -0.5]])
LABELS = np.array([0, 1, 1, 0, 1])
QUICK = dp.Barker(steps=20, scale=0.1)


def read_only(values):
    frozen = values.copy()
    frozen.flags.writeable = False
    return frozen


def strided(values):
    wide = np.full((*values.shape, 3), np.nan)
    wide[..., 1] = values
    return wide[..., 1]


def memory_mapped(values, tmp_path):
    np.save(tmp_path / "values.npy", values)
    return np.load(tmp_path / "values.npy", mmap_mode="r")


AWKWARD = {
    "read-only": read_only,
    "strided": strided,
    "Fortran order": np.asfortranarray,
    "reversed twice": lambda values: values[::-1].copy()[::-1],
    "float32": lambda values: values.astype(np.float32),
    "float16": lambda values: values.astype(np.float16),
    "long double": lambda values: values.astype(np.longdouble),
    "big endian": lambda values: values.astype(">f8"),
    "nested lists": lambda values: values.tolist(),
    "nested tuples": lambda values: tuple(map(tuple, values.tolist())),
    "a subclass": lambda values: values.view(np.matrix),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("make", AWKWARD.values(), ids=AWKWARD)
def test_features_however_stored_are_the_same_records(make):
    plain = dp.Data(PLAIN, LABELS, row_norm=2.0)
    given = dp.Data(make(PLAIN), LABELS, row_norm=2.0)
    np.testing.assert_array_equal(given._rows, plain._rows)
    assert given.public == plain.public


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool, np.float32, np.float16])
def test_targets_of_any_type_of_number_are_the_same_records(dtype):
    given = dp.Data(PLAIN, LABELS.astype(dtype), row_norm=2.0)
    np.testing.assert_array_equal(given._rows, dp.Data(PLAIN, LABELS, row_norm=2.0)._rows)


def test_the_caller_s_arrays_are_left_alone(tmp_path):
    x, y = PLAIN.copy(), LABELS.astype(float)
    data = dp.Data(x, y, row_norm=0.1)
    dp.plan(dp.LogisticRegression(), data.public, QUICK).run(data, progress=False)
    np.testing.assert_array_equal(x, PLAIN)
    np.testing.assert_array_equal(y, LABELS)
    mapped = memory_mapped(PLAIN, tmp_path)
    np.testing.assert_array_equal(dp.Data(mapped, y, row_norm=0.1)._rows, data._rows)


@pytest.mark.parametrize("sampler", [QUICK, dp.SGLD(steps=20, step_size=1e-3), dp.Langevin(w=0.5, steps=5)])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (5, 1)])
def test_one_row_and_one_column_are_enough(rows, columns, sampler):
    data = dp.Data(PLAIN[:rows, :columns], LABELS[:rows], row_norm=1.0)
    if columns == 1 and sampler is QUICK:
        sampler = dp.Barker(steps=20, scale=0.1, proposal="ball")
    post = dp.plan(dp.LogisticRegression(), data.public, sampler).run(data, progress=False)
    assert post.draws["beta"].shape[2] == columns
    assert np.isfinite(post.draws["beta"]).all()
    assert post.private


def test_one_dimension_is_one_column():
    np.testing.assert_array_equal(dp.Data(PLAIN[:, 0])._rows, dp.Data(PLAIN[:, :1])._rows)


@pytest.mark.parametrize("make", [read_only, strided, np.asfortranarray, np.float32, np.ndarray.tolist])
def test_predictions_take_the_same(make):
    data = dp.Data(PLAIN, LABELS, row_norm=2.0)
    post = dp.plan(dp.LogisticRegression(), data.public, QUICK).run(data, progress=False)
    np.testing.assert_array_equal(post.predict(make(PLAIN)).mean, post.predict(PLAIN).mean)
    assert len(post.predict(make(PLAIN)[:1])) == 1


@pytest.mark.parametrize("make", [read_only, strided, np.float32, np.ndarray.tolist])
def test_quantiles_and_schemas_take_the_same(make):
    column = make(PLAIN[:, 0])
    first, second = (
        dp.private_quantiles(values, [0.5], grid=[-1.0, 0.0, 1.0], epsilon=1.0, seed=3).values
        for values in (column, PLAIN[:, 0])
    )
    assert first == second
    schema = dp.Schema({"a": dp.Number(-1, 1), "y": dp.Binary()}, target="y", missing="drop")
    given, plain = (schema.data({"a": values, "y": LABELS}) for values in (column, PLAIN[:, 0]))
    np.testing.assert_array_equal(given._rows, plain._rows)


@pytest.mark.parametrize("budget", [np.float64(1.0), np.float32(1.0), 1, np.int64(1)])
def test_numbers_of_numpy_are_numbers(budget):
    public = dp.Data(PLAIN, LABELS, row_norm=2.0).public
    plan = dp.plan(dp.LogisticRegression(), public, dp.Barker(steps=np.int32(50)), epsilon=budget, delta=1e-6)
    assert plan.guarantee.epsilon(1e-6) <= 1.0
    assert dp.Normal(scale=np.float32(2.0)).scale == 2.0
    assert dp.Number(np.int64(0), np.float32(1)).high == 1.0


@pytest.mark.parametrize("make", [read_only, np.asfortranarray, np.float32, np.ndarray.tolist])
def test_estimators_take_the_same(make):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    from pydpmc.sklearn import DPLogisticRegression

    fits = [
        DPLogisticRegression(row_norm=2.0, epsilon=100.0, sampler=QUICK, classes=[0, 1], random_state=1).fit(X, LABELS)
        for X in (make(PLAIN), PLAIN)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert fits[0].predict(make(PLAIN)).shape == (5,)
