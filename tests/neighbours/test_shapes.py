"""Records of another shape, in lists, estimators and files: each is read by itself, or is void."""

import datetime
import sys
import types
import warnings

import numpy as np
import pytest

import pydpmc as dp


class NoClass:
    @property
    def __class__(self):
        raise RuntimeError("no")


class NoLength(list):
    def __len__(self):
        raise RuntimeError("no")


class NoValues(tuple):
    def __iter__(self):
        raise RuntimeError("no")


class WrongWhole(int):
    def __int__(self):
        return True  # of which Python warns


class WrongNumber(float):
    def __float__(self):
        return np.float64(2.0)  # of which Python warns


ROWS = [[0.1, 0.2], [0.2, 0.3], [0.3, 0.1], [0.1, 0.1], [0.4, 0.0]]
LABELS = [0, 1, 0, 1, 1]
SHAPES = ([1.0, 2.0, 3.0], [1.0], [], "ab", b"ab", 5, None, {"a": 1}, [[1.0], [2.0]], np.zeros((2, 2)), np.zeros(3))
EVIL = (NoClass(), NoLength([1.0, 2.0]), NoLength([1.0]), NoValues((1.0, 2.0)), WrongWhole(3), WrongNumber(3.0))


def quiet(build):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return build()


def in_place(values, place, value):
    return [*values[:place], value, *values[place + 1 :]]


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("declared", [{}, {"columns": ["a", "b"]}, {"x_bounds": ([-1, -1], [1, 1])}])
def test_a_row_of_any_shape_leaves_the_others(place, declared):
    plain = quiet(lambda: dp.Data(ROWS, LABELS, row_norm=1.0, **declared))
    others = np.arange(5) != place
    for row in (*SHAPES, *EVIL):
        data = quiet(lambda r=row: dp.Data(in_place(ROWS, place, r), LABELS, row_norm=1.0, **declared))
        assert data.public == plain.public
        np.testing.assert_array_equal(data._rows[others], plain._rows[others])
        changed = in_place(LABELS, place, row)
        data = quiet(lambda c=changed: dp.Data(ROWS, c, row_norm=1.0, groups=c, **declared))
        assert len(data._rows) == 5
        cell = in_place(ROWS, place, [0.1, row])
        data = quiet(lambda c=cell: dp.Data(c, LABELS, row_norm=1.0, **declared))
        np.testing.assert_array_equal(data._rows[others], plain._rows[others])


def test_a_declared_width_leaves_nothing_to_the_other_records():
    """Without one, what most records are decides; with one, no number of them does."""
    rows = [[1.0, 2.0], [1.0], 3.0, [1.0, 2.0, 3.0]]
    data = dp.Data(rows, columns=["a", "b"], row_norm=10.0)
    np.testing.assert_array_equal(np.isnan(data._rows[:, 0]), [False, True, True, True])
    one = dp.Data([[1.0], 2.0, (3.0,), [1.0, 2.0]], columns=["a"], row_norm=10.0)
    np.testing.assert_array_equal(one._rows[:, 0], [1.0, 2.0, 3.0, np.nan])
    assert dp.Data([], columns=["a", "b"], row_norm=1.0).public.width == 2
    with pytest.raises(ValueError, match="declare columns"):
        dp.Data([])
    with pytest.raises(TypeError, match="declare columns"):
        dp.Data(rows)


@pytest.mark.parametrize("table", [{"a": [1.0]}, {1.0, 2.0}])
def test_what_has_no_records_in_order_is_refused_by_its_type(table):
    with pytest.raises(TypeError, match="records in order"):
        dp.Data(table)


def test_a_list_of_tables_has_no_width():
    for table in ([[[1, 2], [3, 4]], [[1, 2], [3, 4]]], [[[1, 2], [3]], [[1], [2]]]):
        with pytest.raises(ValueError, match="one or two dimensions"):
            dp.Data(table)


def test_a_list_of_one_value_is_that_value():
    """Entry by entry: one nested label turned all others into missing ones, or refused the table."""
    nested = ([[0], [1], [0], [1], [1]], [0, [1], [0], [1], 1], [[0], [1], 0, 1, np.array([1])])
    for labels in nested:
        data = dp.Data(ROWS, labels, row_norm=1.0, groups=labels)
        assert data.public.n == 2
        np.testing.assert_array_equal(np.sort(data._rows[:, 2]), [0, 0, 1, 1, 1])
    assert np.isnan(dp.Data(ROWS, in_place(LABELS, 1, [1, 0]), row_norm=1.0)._rows[1, 2])


@pytest.fixture
def fitted(monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    from pydpmc.sklearn import DPLogisticRegression, base

    stored, make = [], base.Data
    monkeypatch.setattr(base, "Data", lambda *a, **k: stored.append(make(*a, **k)) or stored[-1])

    def fit(X, y, classes=(0, 1)):
        sampler = dp.Barker(steps=3, scale=0.1)
        options = {"row_norm": 1.0, "sampler": sampler, "epsilon": 50.0, "random_state": 1, "classes": list(classes)}
        return DPLogisticRegression(**options).fit(X, y), stored[-1]

    return fit


@pytest.mark.parametrize("place", [0, 2])
def test_an_estimator_s_first_record_does_not_say_how_many_features_there_are(fitted, place):
    _, plain = fitted(ROWS, LABELS)
    others = np.arange(5) != place
    for row in (*SHAPES, *EVIL):
        model, data = quiet(lambda r=row: fitted(in_place(ROWS, place, r), LABELS))
        assert model.n_features_in_ == 2
        np.testing.assert_array_equal(data._rows[others], plain._rows[others])
        score = quiet(lambda m=model, r=row: m.private_score(in_place(ROWS, place, r), LABELS, epsilon=1.0, seed=1))
        assert 0.0 <= score.value <= 1.0


def test_a_frame_of_labels_is_read_value_by_value(fitted):
    """scikit-learn made floats of nullable integers, in which labels beyond 2^53 are one."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra pydpmc[dataframes])")
    large = [2**53, 2**53 + 1]
    labels = [large[k] for k in LABELS]
    for value in (large[1], pd.NA):
        column = pd.Series(in_place(labels, 4, value), dtype="Int64")
        with pytest.warns(UserWarning, match="column-vector"):
            _, data = fitted(ROWS, pd.DataFrame({"y": column}), large)
        np.testing.assert_array_equal(data._rows[:4, 2], LABELS[:4])


def test_a_scaler_does_not_warn_of_a_record():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    from pydpmc.sklearn import BoundsScaler

    scaled = quiet(lambda: BoundsScaler(low=-1e-5, high=1e-5).fit_transform([[1e-6, 0.0], [1e308, -1e308]]))
    np.testing.assert_allclose(scaled[1], [0.5**0.5, -(0.5**0.5)])


def test_a_dictionary_of_texts_in_a_parquet_file_is_decoded_value_by_value(tmp_path):
    """One text that is no UTF-8 refused the file."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra pydpmc[dataframes])")
    import pyarrow.parquet as pq

    if int(pa.__version__.partition(".")[0]) < 21:
        pytest.skip("before version 21 pyarrow checks dictionaries of texts as it reads them")
    path, scheme = tmp_path / "t.parquet", dp.Schema({"w": dp.Category(["a", "b"])}, missing="drop")
    words = pa.array([b"a", b"\xff", b"b"]).view(pa.string())
    pq.write_table(pa.table({"w": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), words)}), path)
    assert scheme.data(path)._rows[:, :2].tolist() == [[0, 0], [0, 1], [1, 0]]


def test_times_of_pandas_are_the_same_in_arrow_and_as_objects():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra pydpmc[dataframes])")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra pydpmc[dataframes])")
    times = [datetime.time(0, 0, 1), datetime.time(0, 0, 2), None]
    scheme = dp.Schema({"t": dp.Category(["00:00:01", "00:00:02"], missing="level")}, missing="drop")
    array = pd.array(times, dtype=pd.ArrowDtype(pa.time64("us")))
    for column in (pd.Series(times, dtype=object), pd.Series(array), array, pd.Index(array)):
        assert scheme.data({"t": column})._rows[:, :3].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]


def test_a_table_like_pandas_is_not_given_to_arrow(monkeypatch):
    """Arrow infers the type of a column of objects from all records."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra pydpmc[dataframes])")
    frame = pd.DataFrame({"w": pd.Series(["a", 1, b"b"], dtype=object)})
    known = types.SimpleNamespace(implementation=types.SimpleNamespace(is_modin=lambda: True), to_pandas=lambda: frame)
    monkeypatch.setitem(sys.modules, "narwhals", types.SimpleNamespace(from_native=lambda *_, **__: known))
    table = types.SimpleNamespace(columns=["w"])
    scheme = dp.Schema({"w": dp.Category(["a", "b"])}, missing="drop")
    assert scheme.data(table)._rows[:, :2].tolist() == [[0, 0], [0, 1], [1, 0]]
