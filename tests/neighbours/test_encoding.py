"""From a table to Data: one hostile record leaves every other row, all public facts and all warnings as they were."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pydpmc as dp

spec = importlib.util.spec_from_file_location("neighbours_hostile", Path(__file__).parent / "hostile.py")
hostile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hostile)

OTHERS = np.arange(hostile.N) != hostile.CHANGED
READERS = sorted(hostile.READERS)
SILENT = settings(deadline=None, suppress_health_check=list(HealthCheck))


def seen(data):
    """Return the rows as numbers, bit by bit, and all that is public."""
    return np.array(data._rows).view(np.uint8).reshape(len(data._rows), -1), data.public


def made(build):
    """Build with every warning an error, whatever the filters of the test run are."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return build()


def agree_but_for_the_record(one, other):
    (rows, public), (rows_too, public_too) = seen(one), seen(other)
    assert public == public_too
    np.testing.assert_array_equal(rows[OTHERS], rows_too[OTHERS])


@pytest.mark.parametrize("reader", READERS)
def test_every_hostile_value_in_every_column(reader):
    table_of = hostile.READERS[reader]
    names = [name for name in hostile.PLAIN if name != "who" or reader != "matrix"]
    plain = made(lambda: hostile.schema().data(table_of(hostile.PLAIN)))
    for i, value in enumerate(hostile.ALL):
        for name in (names[i % len(names)], names[(i + 1) % len(names)]):
            changed = made(lambda n=name, v=value: hostile.schema().data(table_of(hostile.with_record(n, v))))
            agree_but_for_the_record(plain, changed)


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("reader", READERS)
def test_every_hostile_value_in_every_column_and_storage(reader, storage):
    table_of = hostile.READERS[reader]
    options = {"storage": storage}
    scheme = hostile.schema(row_norm=1.0)
    plain = made(lambda: scheme.data(table_of(hostile.PLAIN), **options))
    for value in hostile.ALL:
        for name in hostile.COLUMNS:
            changed = made(lambda n=name, v=value: scheme.data(table_of(hostile.with_record(n, v)), **options))
            agree_but_for_the_record(plain, changed)


@settings(SILENT, max_examples=50)
@given(
    st.sampled_from(sorted(hostile.COLUMNS)),
    hostile.values,
    st.sampled_from(READERS),
    st.sampled_from(["float64", "float32"]),
)
def test_a_generated_value_in_any_reader(name, value, reader, storage):
    table_of, scheme = hostile.READERS[reader], hostile.schema(interactions=[["size", "word"]])
    agree_but_for_the_record(
        made(lambda: scheme.data(table_of(hostile.PLAIN), storage=storage)),
        made(lambda: scheme.data(table_of(hostile.with_record(name, value)), storage=storage)),
    )


def test_the_review_s_attack_on_a_list_of_bools():
    columns = {"x": dp.Number(0, 1), "y": dp.Binary(positive=True)}
    scheme = dp.Schema(columns, target="y", missing="drop")
    y = [True, False] * 50
    plain = scheme.data({"x": [0.5] * 100, "y": y})
    for value in (float("nan"), "text", None, 2**70):
        changed = scheme.data({"x": [0.5] * 100, "y": [*y[:-1], value]})
        np.testing.assert_array_equal(plain._rows[:-1], changed._rows[:-1])
    floats = dp.Schema({"c": dp.Category([1.0, 2.5])}, missing="drop")
    one, other = (floats.data({"c": [1.0, 2.5, value]}) for value in (1.0, "text"))
    np.testing.assert_array_equal(one._rows[:2], other._rows[:2])


@pytest.mark.parametrize("text", ["1.0", "1", "True", "nan", "", "x", "\ud800", "a,b", 'a"b', "a\nb", "\x00"])
def test_a_csv_file_is_read_as_text(text, tmp_path):
    plain = made(lambda: hostile.schema().data(hostile.csv_file(hostile.PLAIN, tmp_path)))
    for name in hostile.PLAIN:
        table = hostile.with_record(name, text)
        agree_but_for_the_record(plain, made(lambda t=table: hostile.schema().data(hostile.csv_file(t, tmp_path))))


def test_an_empty_line_of_a_one_column_file_is_a_record(tmp_path):
    path, scheme = tmp_path / "t.csv", dp.Schema({"a": dp.Number(0, 2)}, missing="drop")
    path.write_text("a\n1\n\n2\n")
    data = scheme.data(path)
    assert len(data) == 3
    assert np.isnan(data._rows[:, 0]).tolist() == [False, True, False]


def test_an_arrow_string_that_is_no_text_is_one_missing_value():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra pydpmc[dataframes])")
    words = pa.array([b"a", b"\xff", b"b"]).cast(pa.binary()).view(pa.string())
    data = dp.Schema({"w": dp.Category(["a", "b"], missing="level")}, missing="drop").data(pa.table({"w": words}))
    assert data._rows[:, :3].tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]


def dtype_variants():
    """Return columns that hold 1, 0, missing in the dtypes that libraries choose."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra pydpmc[dataframes])")
    pl = pytest.importorskip("polars", reason="polars is not installed (extra pydpmc[dataframes])")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra pydpmc[dataframes])")
    from decimal import Decimal

    ones = [1, 0, None]
    frames = [pd.Series(ones, dtype=d) for d in ("float64", "Int64", "Float64", "object", "boolean", "string")]
    frames += [pd.Series(ones, dtype="Int8").astype("category"), pd.Series(["1.0", "0", None]).astype("category")]
    frames += [pd.Series(ones, dtype="float64").astype(pd.SparseDtype(float)), pd.Series([True, False, None])]
    frames += [pd.Series(ones, dtype=pd.ArrowDtype(t)) for t in (pa.int8(), pa.float32(), pa.bool_())]
    frames += [pd.Series([True, False, pd.NA], dtype=object)]
    frames += [pl.Series("a", ones).cast(t) for t in (pl.Int8, pl.Float32, pl.Boolean, pl.Decimal(10, 2))]
    frames += [pl.Series("a", ["1", "0", None], dtype=t) for t in (pl.String, pl.Categorical)]
    frames += [pa.array(ones).cast(t) for t in (pa.int64(), pa.float64(), pa.decimal128(22, 2), pa.bool_())]
    frames += [pa.array(np.array([1, 0, 7], np.float16), mask=np.array([False, False, True]))]
    frames += [pa.array(["1", "0", None]).dictionary_encode(), pa.chunked_array([["1.0"], ["0", None]])]
    frames += [pa.array([b"1", b"0", None]), pa.array(ones, pa.uint8()).dictionary_encode()]
    arrays = [
        np.array([1, 0, np.nan]),
        np.array(["1", "0", "nan"]),
        np.array([b"1.0", b"0", b""]),
        np.array([1, 0, np.nan + 0j]),
    ]
    lists = [
        ones,
        [True, False, None],
        [1.0, "0", float("nan")],
        [Decimal(1), b"0", pd.NA],
        [np.int8(1), False, pd.NaT],
    ]
    return [*frames, *arrays, np.ma.masked_array([1, 0, 7], [0, 0, 1]), *lists]


def test_one_column_in_every_dtype_is_one_column():
    columns = {
        "a": dp.Number(0, 1),
        "b": dp.Binary(missing="constant", fill=1),
        "c": dp.Category([1, 0], missing="level"),
    }
    scheme = dp.Schema(columns, missing="drop")
    expected = np.array([[1, 1, 0, 0, 0], [-1, 0, 1, 0, 0], [np.nan, 0, 0, 0, 0]])
    variants = dtype_variants()
    assert len(variants) >= 35
    for column in variants:
        data = made(lambda c=column: scheme.data({"a": c, "b": c, "c": c}))
        np.testing.assert_array_equal(
            data._rows[:, :5], expected, err_msg=f"{type(column)} {getattr(column, 'dtype', '')}"
        )
        assert (
            dp.Data(
                np.zeros((3, 1)), groups=column if not isinstance(column, np.ma.MaskedArray) else [1, 0, None]
            ).public.n
            == 3
        )
        if not isinstance(column, np.ma.MaskedArray):
            np.testing.assert_array_equal(dp.Data(column)._rows[:, 0], [1, 0, np.nan])


@pytest.mark.parametrize("value", hostile.ALL, ids=lambda v: type(v).__name__)
def test_data_takes_any_value_of_one_record(value):
    x, y = [[0.1 * k, -0.2] for k in range(hostile.N)], [k % 2 for k in range(hostile.N)]
    groups = [k // 2 for k in range(hostile.N)]
    plain = made(lambda: dp.Data(x, y, row_norm=1.0))
    wrong = [list(row) for row in x]
    wrong[hostile.CHANGED][1] = value
    labels = [*y[: hostile.CHANGED], value, *y[hostile.CHANGED + 1 :]]
    if not isinstance(value, (list, np.ndarray, tuple)):
        agree_but_for_the_record(plain, made(lambda: dp.Data(wrong, y, row_norm=1.0)))
        agree_but_for_the_record(plain, made(lambda: dp.Data(x, labels, row_norm=1.0)))
    agree_but_for_the_record(plain, made(lambda: dp.Data(x, hostile.objects(labels), row_norm=1.0)))
    ids = [*groups[: hostile.CHANGED], value, *groups[hostile.CHANGED + 1 :]]
    grouped = made(lambda: dp.Data(x, y, row_norm=1.0, groups=ids))
    assert len(grouped._rows) == hostile.N
    others = {tuple(row) for row in plain._rows[OTHERS].tolist()}
    assert others <= {tuple(row) for row in grouped._rows.tolist()}


@settings(SILENT, max_examples=30)
@given(
    st.lists(
        st.one_of(st.floats(), st.floats(width=32), st.integers(-(2**63), 2**63 - 1), st.booleans()),
        min_size=1,
        max_size=9,
    )
)
def test_fast_paths_give_what_each_value_gives_by_itself(listed):
    from pydpmc.data import columns as c
    from pydpmc.data.schema.levels import level_codes

    for dtype in (np.float64, np.float32, np.float16, np.int64, np.uint8, bool, np.longdouble):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array = np.array([float(v) for v in listed]).astype(dtype)
        fast, slow = c.of_array(array), c.RawColumn(hostile.objects(list(array)))
        np.testing.assert_array_equal(c.numbers(fast, ["1"]), c.numbers(slow, ["1"]))
        np.testing.assert_array_equal(c.label_codes(fast), c.label_codes(slow))
        levels = [0, 1, 2.5, *listed[:2]]
        keys = list({c.canonical(v): v for v in levels if v == v}.values())
        np.testing.assert_array_equal(level_codes(keys, fast, ["3"]), level_codes(keys, slow, ["3"]))
    same = c.of_values(listed)
    np.testing.assert_array_equal(c.numbers(same), c.numbers(c.RawColumn(hostile.objects(listed))))


@pytest.mark.parametrize("cell", [[], (1.0, 2.0), np.array([1.0, 2.0]), {"a": 1}], ids=repr)
def test_a_cell_or_row_of_another_shape_voids_its_own_record(cell):
    rows = [[float(i), 1.0] for i in range(8)]
    labels = [0.0, 1.0] * 4
    plain = dp.Data(rows, labels, row_norm=10.0)
    for place in ("cell", "row", "label"):
        x, y = [list(row) for row in rows], list(labels)
        if place == "cell":
            x[3][1] = cell
        elif place == "row":
            x[3] = [1.0, 2.0, 3.0]
        else:
            y[3] = cell
        data = dp.Data(x, y, row_norm=10.0)
        others = np.arange(8) != 3
        assert data.public == plain.public
        np.testing.assert_array_equal(data._rows[others], plain._rows[others])
        assert np.isnan(data._rows[3, 2])


def test_a_hostile_record_under_a_formula_leaves_all_other_rows():
    """A formula is compiled to a schema before a record is read, so that no level and no centre comes from records."""
    pytest.importorskip("formulaic", reason="formulaic is not installed (extra pydpmc[formula])")
    from pydpmc.data.schema.formula import design_of

    scheme = hostile.schema()
    target = scheme.target
    names = [name for name in scheme.features if name.isidentifier()][:3]
    made_of = f"{target} ~ {names[0]} * {names[1]} + {' + '.join(names)}"
    design = design_of(made_of, scheme)
    plain = made(lambda: design.schema.data(hostile.READERS["object arrays"](hostile.PLAIN)))
    for value in hostile.ALL:
        for name in (*names, target):
            table = hostile.READERS["object arrays"](hostile.with_record(name, value))
            agree_but_for_the_record(plain, made(lambda t=table: design.schema.data(t)))
