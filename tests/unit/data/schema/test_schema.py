"""Schema: what it declares, what it makes of any table, and that no record can make it fail."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pydpmc as dp
from pydpmc.data.schema.tables import columns_of
from pydpmc.errors import PydpmcError, SchemaError

TABLE = {
    "age": [17.0, 90.0, 53.5, 200.0],
    "gain": [0.0, 99_999.0, np.e - 1, -5.0],
    "school": ["HS", "BA", "Dr", None],
    "sex": ["M", "F", "M", "?"],
    "rich": [">50K", "<=50K", ">50K", "<=50K"],
}


def make_schema(**options):
    columns = {
        "age": dp.Number(17, 90),
        "gain": dp.Number(0, 99_999, transform=["log1p", "standardise"]),
        "school": dp.Category(["HS", "BA"], missing="level"),
        "sex": dp.Binary(positive="M", missing="constant", fill=0),
        "rich": dp.Binary(positive=">50K"),
    }
    return dp.Schema(columns, **{"target": "rich", "missing": "drop", "missing_values": ["", "?"]} | options)


def stored(data):
    return data._rows[:, : data.public.width + data.public.has_target]


EXPECTED_NAMES = ("age", "gain", "school=BA", "school=other", "school=missing", "sex=M")
EXPECTED = np.array(
    [
        [-1.0, -1.0, 0, 0, 0, 1, 1],
        [1.0, 1.0, 1, 0, 0, 0, 0],
        [0.0, 2 / np.log1p(99_999) - 1, 0, 1, 0, 1, 1],
        [1.0, -1.0, 0, 0, 1, 0, 0],
    ]
)


def test_names_bounds_and_values_of_every_kind():
    data = make_schema().data(TABLE)
    assert data.public.columns == EXPECTED_NAMES
    assert data.public.x_bounds == ((-1.0, 1.0), (-1.0, 1.0), *(((0.0, 1.0),) * 4))
    assert data.public.y_bounds == (0.0, 1.0)
    np.testing.assert_allclose(stored(data), EXPECTED, atol=1e-15)


def test_column_names_reach_the_draws():
    data = make_schema().data(TABLE)
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=20, scale=0.1))
    assert plan.run(data, progress=False).labels["beta"] == EXPECTED_NAMES


def test_the_plan_can_be_made_before_there_is_a_table():
    schema = make_schema()
    assert schema.public(n=4) == schema.data(TABLE).public
    assert schema.public(n=4, public_n=9) == schema.data(TABLE, public_n=9).public


def test_the_implied_norm_counts_one_level_and_scales_no_record_down():
    data = make_schema().data(TABLE)
    assert data.public.row_norm == pytest.approx(2.0)  # age, gain, one level of school, sex: not seven features
    corner = {"age": [90], "gain": [99_999], "school": ["BA"], "sex": ["M"], "rich": [">50K"]}
    np.testing.assert_array_equal(stored(make_schema().data(corner))[0, :3], [1.0, 1.0, 1.0])


def test_a_declared_norm_scales_records_down():
    rows = stored(make_schema(row_norm=1.0).data(TABLE))[:, :6]
    assert (np.linalg.norm(rows, axis=1) <= 1.0).all()
    np.testing.assert_allclose(rows[0], EXPECTED[0, :6] / np.sqrt(3))


def test_interactions_multiply_features_and_norms():
    schema = make_schema(interactions=[["age", "school"], ["age", "age"]])
    data = schema.data(TABLE)
    names = ("age:school=BA", "age:school=other", "age:school=missing", "age:age")
    assert data.public.columns[-4:] == names
    assert schema.implied_row_norm == pytest.approx(np.sqrt(6.0))
    x = stored(data)[:, :-1]
    np.testing.assert_allclose(x[:, 6:9], x[:, [0]] * x[:, 2:5])
    np.testing.assert_allclose(x[:, 9], x[:, 0] ** 2)


def test_missing_values_follow_the_declared_policy():
    table = {"a": [np.nan, 1.0, 2.0], "b": [1.0, np.nan, 2.0]}
    drop = dp.Schema({"a": dp.Number(0, 4), "b": dp.Number(0, 4, missing="constant", fill=3.0)}, missing="drop")
    rows = stored(drop.data(table))
    assert np.isnan(rows[:, 0]).tolist() == [True, False, False]
    assert rows[1, 1] == 0.5
    assert len(drop.data(table)) == 3


def test_a_missing_target_lets_the_record_contribute_nothing():
    table = TABLE | {"rich": [">50K", "?", "<=50K", None]}
    assert np.isnan(stored(make_schema().data(table))[:, -1]).tolist() == [False, True, False, True]


def test_a_category_as_target_is_a_code():
    schema = dp.Schema(
        {"x": dp.Number(0, 1), "c": dp.Category(["a", "b", "c"], unknown="a")}, target="c", missing="drop"
    )
    data = schema.data({"x": [0, 0, 0, 0], "c": ["c", "b", "?", "a"]})
    assert stored(data)[:, 1].tolist() == [2.0, 1.0, 0.0, 0.0]
    assert data.public.y_bounds == (0.0, 2.0)


def test_a_number_as_target_keeps_its_units():
    schema = dp.Schema({"x": dp.Number(0, 1), "y": dp.Number(10, 20)}, target="y", missing="drop")
    assert stored(schema.data({"x": [0.5], "y": [25.0]}))[0].tolist() == [0.0, 20.0]


@pytest.mark.parametrize("values", [["1", "2", "9"], [1, 2, 9], [1.0, 2.0, 9.0], np.array([1, 2, 9], dtype=np.int8)])
def test_levels_that_are_numbers_are_found_in_text_and_in_numbers(values):
    schema = dp.Schema({"zone": dp.Category([1, 2])}, missing="drop")
    np.testing.assert_array_equal(stored(schema.data({"zone": values})), [[0, 0], [1, 0], [0, 1]])


def native(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed (extra pydpmc[dataframes])")
    pytest.importorskip("narwhals", reason="narwhals is not installed (extra pydpmc[dataframes])")
    table = TABLE | {"unused": [1, 2, 3, 4]}
    return module.table(table) if library == "pyarrow" else module.DataFrame(table)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_give_the_same_records(library):
    data = make_schema().data(native(library))
    np.testing.assert_array_equal(stored(data), stored(make_schema().data(TABLE)))


def test_pandas_nullable_and_categorical_columns():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra pydpmc[dataframes])")
    frame = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int64"), "c": pd.Categorical(["u", None, "v"]), "b": [True, False, True]}
    )
    schema = dp.Schema(
        {"a": dp.Number(1, 3), "c": dp.Category(["u", "v"], missing="level"), "b": dp.Binary(positive=True)},
        missing="drop",
    )
    rows = stored(schema.data(frame))
    np.testing.assert_array_equal(rows[[0, 2]], [[-1, 0, 0, 0, 1], [1, 1, 0, 0, 1]])
    assert np.isnan(rows[1, 0])


def write_csv(path, opener=open):
    lines = [",".join(TABLE)]
    for row in zip(*TABLE.values(), strict=True):
        lines.append(",".join("" if value is None else repr(value).strip("'") for value in row))
    with opener(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("name", "opener"), [("t.csv", open), ("t.csv.gz", gzip.open)])
def test_csv_files_give_the_same_records(tmp_path, name, opener):
    path = write_csv(tmp_path / name, opener)
    expected = stored(make_schema().data(TABLE))
    np.testing.assert_array_equal(stored(make_schema().data(path)), expected)
    np.testing.assert_array_equal(stored(make_schema().data(str(path))), expected)


def test_a_ragged_csv_file_has_missing_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1\n2,3,4\n\n")
    schema = dp.Schema({"a": dp.Number(0, 2), "b": dp.Number(0, 4, missing="constant", fill=2)}, missing="drop")
    np.testing.assert_array_equal(stored(schema.data(path)), [[0.0, 0.0], [1.0, 0.5]])


def test_parquet_files_give_the_same_records(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra pydpmc[dataframes])")
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table(TABLE), tmp_path / "t.parquet")
    data = make_schema().data(tmp_path / "t.parquet")
    np.testing.assert_array_equal(stored(data), stored(make_schema().data(TABLE)))


def test_memory_maps_with_and_without_names(tmp_path):
    schema = dp.Schema({"a": dp.Number(0, 2), "y": dp.Binary()}, target="y", missing="drop")
    flat = np.memmap(tmp_path / "flat", dtype=np.float32, mode="w+", shape=(3, 2))
    flat[:] = [[0, 1], [1, 0], [2, 1]]
    named = np.memmap(tmp_path / "named", dtype=[("y", "i1"), ("a", "f8")], mode="w+", shape=(3,))
    named["a"], named["y"] = flat[:, 0], flat[:, 1]
    np.testing.assert_array_equal(stored(schema.data(flat)), [[-1, 1], [0, 0], [1, 1]])
    np.testing.assert_array_equal(stored(schema.data(named)), stored(schema.data(flat)))


def test_new_records_are_encoded_without_a_target():
    table = {name: values for name, values in TABLE.items() if name != "rich"}
    np.testing.assert_allclose(make_schema().encode(table), EXPECTED[:, :-1], atol=1e-15)


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["HS", "M", "?", "1e999"]),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(anything, anything, anything, anything, anything), min_size=1, max_size=4))
def test_no_record_can_raise_an_error_or_leave_the_bounds(rows):
    columns = {}
    for j, name in enumerate(TABLE):
        columns[name] = np.empty(len(rows), dtype=object)
        columns[name][:] = [row[j] for row in rows]
    data = make_schema(interactions=[["age", "school"]]).data(columns)
    x = stored(data)[:, :-1]
    assert (np.abs(x) <= 1.0).all()
    assert (np.linalg.norm(x, axis=1) <= data.public.row_norm).all()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: dp.Number(3, 3), ["low must be below high"]),
        (lambda: dp.Number(np.nan, 3), ["low must be a finite number"]),
        (lambda: dp.Number(0, 3, transform=["sqrt"]), ["transform must be some of log1p, standardise"]),
        (lambda: dp.Number(0, 3, transform=["standardise", "log1p"]), ["in this order"]),
        (lambda: dp.Number(-1, 3, transform=["log1p"]), ["low must be above -1"]),
        (lambda: dp.Category([]), ["levels must be a list"]),
        (lambda: dp.Category("abc"), ["levels must be a list"]),
        (lambda: dp.Category(["a", "a"]), ["levels must be distinct"]),
        (lambda: dp.Category(["a"], reference="b"), ["reference must be one of the levels"]),
        (lambda: dp.Category(["a"], fill="b"), ["fill must be one of the levels"]),
        (lambda: dp.Binary(fill=3), ["fill must be 0 or 1"]),
        (lambda: dp.Schema({}), ["columns must map"]),
        (lambda: dp.Schema({"a": 3}), ["column 'a'", "int"]),
        (lambda: dp.Schema({"a": dp.Number(0, 1)}), ["column 'a'", "missing", '"drop"']),
        (lambda: dp.Schema({"a": dp.Number(0, 1, missing="level")}), ["column 'a'", "drop, constant"]),
        (lambda: dp.Schema({"a": dp.Number(0, 1, missing="constant")}), ["column 'a'", "fill must be given"]),
        (lambda: dp.Schema({"a": dp.Binary()}, target="b", missing="drop"), ["target", "'b'"]),
        (lambda: dp.Schema({"a": dp.Binary()}, target="a", missing="drop"), ["besides the target"]),
        (lambda: make_schema(group="age"), ["group", "'age'"]),
        (lambda: make_schema(row_norm=-1.0), ["row_norm"]),
        (lambda: make_schema(interactions=["age"]), ["interactions"]),
        (lambda: make_schema(interactions=[["age", "rich"]]), ["'rich' is not a feature"]),
        (lambda: make_schema(interactions=[["sex", "sex"]]), ["only a number"]),
        (lambda: make_schema().data({"age": [1]}), ["column 'gain' is not in the table", "'age'"]),
        (lambda: make_schema().data(TABLE | {"age": [1, 2]}), ["differ in length"]),
        (lambda: make_schema().data(TABLE | {"age": np.ones((4, 2))}), ["'age'", "(4, 2)"]),
        (lambda: make_schema().data(TABLE | {"age": np.array(["2020"] * 4, "datetime64[Y]")}), ["'age'", "datetime64"]),
        (lambda: make_schema().data(np.ones((3, 2))), ["(3, 2)", "age"]),
        (lambda: make_schema().data("nowhere.csv"), ["no file 'nowhere.csv'"]),
        (lambda: make_schema().data(3), ["pandas, polars or pyarrow", "not 3"]),
    ],
)
def test_mistakes_are_refused_by_name(build, words):
    with pytest.raises(ValueError) as refusal:
        build()
    for word in words:
        assert word in str(refusal.value)


def test_a_group_column_makes_the_group_the_unit():
    schema = make_schema(group="household", max_group_size=2)
    data = schema.data(TABLE | {"household": ["a", "b", "a", None]})
    assert data.public == schema.public(n=3)
    assert data.public.unit == "one group"
    plan = dp.plan(dp.LogisticRegression(), data.public, dp.Barker(steps=20, scale=0.05))
    assert plan.run(data, progress=False).guarantee.unit == "one group"
    with pytest.raises(SchemaError, match="max_group_size was given but group was not"):
        make_schema(max_group_size=2)


def test_files_of_other_kinds_and_headers_are_refused(tmp_path):
    (tmp_path / "t.xlsx").write_text("")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "twice.csv").write_text("age,age\n")
    for name, words in (("t.xlsx", "csv.gz or .parquet"), ("empty.csv", "is empty"), ("twice.csv", "more than one")):
        with pytest.raises(SchemaError, match=words):
            make_schema().data(tmp_path / name)


def test_a_lazy_frame_and_a_date_are_refused_by_name():
    pl = pytest.importorskip("polars", reason="polars is not installed (extra pydpmc[dataframes])")
    with pytest.raises(SchemaError, match="collect"):
        make_schema().data(pl.DataFrame(TABLE).lazy())
    dated = pl.DataFrame(TABLE).with_columns(age=pl.date(2020, 1, 1))
    with pytest.raises(SchemaError, match="column 'age' has type Date"):
        make_schema().data(dated)


class Frame:
    columns = ("a",)


def test_a_missing_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"pip install 'pydpmc\[dataframes\]'") as refusal:
        columns_of(Frame(), ["a"], ["a"])
    assert isinstance(refusal.value, PydpmcError)
