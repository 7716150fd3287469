"""Wrong calls of Data, Schema, columns and private quantiles: (label, argument named, what else is said, call)."""

import numpy as np

import pydpmc as dp

X, Y = np.full((6, 2), 0.7391734), np.array([0, 1] * 3)
COLUMN = {"a": dp.Number(0, 1), "y": dp.Binary()}


def spoiled(value):
    x = X.copy()
    x[1, 1] = value
    return x


def schema(**options):
    return dp.Schema(COLUMN, target="y", missing="drop", **options)


DATA = [
    ("x of three dimensions", "x", "has 3", lambda w: dp.Data(np.zeros((2, 2, 2)))),
    ("x of no dimension", "x", "has 0", lambda w: dp.Data(0.7391734)),
    ("x without rows", "x", r"\(0, 2\)", lambda w: dp.Data(np.zeros((0, 2)))),
    ("x without columns", "x", r"\(3, 0\)", lambda w: dp.Data(np.zeros((3, 0)))),
    ("x of texts", "x", "dtype", lambda w: dp.Data(np.array([["Zaphod", "b"]]))),
    ("x of objects", "x", "dtype is object", lambda w: dp.Data(np.array([[None, 1.0]]))),
    ("x complex", "x", "dtype is complex", lambda w: dp.Data(np.zeros((2, 2), complex))),
    ("x of dates", "x", "dtype", lambda w: dp.Data(np.zeros((2, 2), "datetime64[D]"))),
    ("x ragged", "x", "length", lambda w: dp.Data([[1.0, 2.0], [0.7391734]])),
    ("x masked", "x", "masked", lambda w: dp.Data(np.ma.masked_array(X, X > 0))),
    ("x is None", "x", "dtype is object", lambda w: dp.Data(None)),
    ("x with NaN", "x1", "on_invalid", lambda w: dp.Data(spoiled(np.nan))),
    ("x with infinity", "x1", "on_invalid", lambda w: dp.Data(spoiled(np.inf))),
    ("y with NaN", "y", "on_invalid", lambda w: dp.Data(X, np.full(6, np.nan))),
    ("y too short", "y", r"\(5,\)", lambda w: dp.Data(X, Y[:5])),
    ("y of two columns", "y", r"\(6, 1\)", lambda w: dp.Data(X, Y[:, None])),
    ("y of texts", "y", "dtype", lambda w: dp.Data(X, np.array(["Zaphod", "b"] * 3))),
    ("row_norm negative", "row_norm", "-1", lambda w: dp.Data(X, row_norm=-1.0)),
    ("row_norm NaN", "row_norm", "nan", lambda w: dp.Data(X, row_norm=np.nan)),
    ("row_norm text", "row_norm", "'one'", lambda w: dp.Data(X, row_norm="one")),
    ("row_norm an array", "row_norm", r"shape \(2,\)", lambda w: dp.Data(X, row_norm=np.ones(2))),
    ("x_bounds one number", "x_bounds", r"\(low, high\)", lambda w: dp.Data(X, x_bounds=1.0)),
    ("x_bounds three numbers", "x_bounds", r"\(low, high\)", lambda w: dp.Data(X, x_bounds=(0, 1, 2))),
    ("x_bounds too wide", "x_bounds", "one number per column", lambda w: dp.Data(X, x_bounds=([0, 0, 0], [1, 1, 1]))),
    ("x_bounds crossed", "x_bounds", "low <= high", lambda w: dp.Data(X, x_bounds=(1.0, 0.0))),
    ("x_bounds infinite", "x_bounds", "finite", lambda w: dp.Data(X, x_bounds=(0.0, np.inf))),
    ("y_bounds without y", "y_bounds", "y was not", lambda w: dp.Data(X, y_bounds=(0, 1))),
    ("y_bounds text", "y_bounds", r"\(low, high\)", lambda w: dp.Data(X, Y, y_bounds="ab")),
    ("y_bounds crossed", "y_bounds", "low <= high", lambda w: dp.Data(X, Y, y_bounds=(1, 0))),
    ("columns too few", "columns", "2 distinct names", lambda w: dp.Data(X, columns=["a"])),
    ("columns repeated", "columns", "distinct", lambda w: dp.Data(X, columns=["a", "a"])),
    ("columns a number", "columns", "3", lambda w: dp.Data(X, columns=3)),
    ("public_n zero", "public_n", "0", lambda w: dp.Data(X, public_n=0)),
    ("public_n half", "public_n", "2.5", lambda w: dp.Data(X, public_n=2.5)),
    ("groups too few", "groups", r"\(2,\)", lambda w: dp.Data(X, groups=[1, 2])),
    ("groups missing", "groups", "missing", lambda w: dp.Data(X, groups=[1, 2, None, 1, 1, 1])),
    ("groups one number", "groups", "one label per row", lambda w: dp.Data(X, groups=7)),
    ("max_group_size alone", "max_group_size", "groups was not", lambda w: dp.Data(X, max_group_size=2)),
    ("max_group_size zero", "max_group_size", "0", lambda w: dp.Data(X, groups=[1] * 6, max_group_size=0)),
    ("on_invalid unknown", "on_invalid", "'ignore'", lambda w: dp.Data(X, on_invalid="ignore")),
    ("storage unknown", "storage", "'float16'", lambda w: dp.Data(X, storage="float16")),
    ("storage unhashable", "storage", "list", lambda w: dp.Data(X, storage=["float32"])),
]
SCHEMA = [
    ("no columns", "columns", "at least one", lambda w: dp.Schema({})),
    ("columns a list", "columns", "map", lambda w: dp.Schema(["a"])),
    ("a column of another type", "a", "int", lambda w: dp.Schema({"a": 3})),
    ("target unknown", "target", "'z'", lambda w: dp.Schema(COLUMN, target="z", missing="drop")),
    ("no policy", "missing", "drop", lambda w: dp.Schema(COLUMN, target="y")),
    ("policy unknown", "missing", "'guess'", lambda w: dp.Schema(COLUMN, target="y", missing="guess")),
    ("only a target", "columns", "besides the target", lambda w: dp.Schema({"y": dp.Binary("1", "drop")}, target="y")),
    ("interaction unknown", "interactions", "'z'", lambda w: schema(interactions=[["a", "z"]])),
    ("interaction of one", "interactions", "two or more", lambda w: schema(interactions=[["a"]])),
    ("schema row_norm", "row_norm", "0", lambda w: schema(row_norm=0)),
    ("group is a feature", "group", "'a'", lambda w: schema(group="a")),
    ("missing_values a number", "missing_values", "3", lambda w: schema(missing_values=3)),
    ("low above high", "low", "below high", lambda w: dp.Number(2, 1)),
    ("low text", "low", r"'\?'", lambda w: dp.Number("?", 1)),
    ("high infinite", "high", "finite", lambda w: dp.Number(0, np.inf)),
    ("transform unknown", "transform", "sqrt", lambda w: dp.Number(0, 1, transform="sqrt")),
    ("transform a number", "transform", "3", lambda w: dp.Number(0, 1, transform=3)),
    ("log1p below -1", "low", "log1p", lambda w: dp.Number(-2, 1, transform=["log1p"])),
    ("levels a text", "levels", "list", lambda w: dp.Category("abc")),
    ("levels repeated", "levels", "distinct", lambda w: dp.Category(["a", "a"])),
    ("reference unknown", "reference", "'z'", lambda w: dp.Category(["a"], reference="z")),
    ("fill unknown", "fill", "2", lambda w: dp.Binary(fill=2)),
    ("constant without fill", "fill", "constant", lambda w: dp.Schema({"a": dp.Number(0, 1, missing="constant")})),
    ("table a number", "table", "3", lambda w: schema().data(3)),
    ("table without a column", "y", "not in the table", lambda w: schema().data({"a": [0.7391734]})),
    ("table of wrong width", "table", r"\(6, 3\)", lambda w: schema().data(np.zeros((6, 3)))),
    ("columns of two lengths", "length", "differ", lambda w: schema().data({"a": [1.0], "y": [0, 1]})),
    ("a column of two dimensions", "a", r"\(6, 2\)", lambda w: schema().data({"a": X, "y": Y})),
    ("a column of dates", "a", "dtype", lambda w: schema().data({"a": np.zeros(2, "datetime64[D]"), "y": [0, 1]})),
    ("a ragged column", "a", "dimension|length", lambda w: schema().data({"a": [[1.0], [1.0, 2.0]], "y": [0, 1]})),
    ("no such file", "table", "no file", lambda w: schema().data("absent.csv")),
    ("unknown suffix", "table", "must end in", lambda w: schema().data(w.file("table.xls", "a,y\n"))),
    ("an empty file", "table", "empty", lambda w: schema().data(w.file("empty.csv", ""))),
    ("not a Parquet file", "table", "Parquet|pydpmc", lambda w: schema().data(w.file("bad.parquet", "PAR2"))),
    ("a table without rows", "x", r"\(0, 1\)", lambda w: schema().data(w.file("none.csv", "a,y\n"))),
    ("no such TOML", "absent.toml", "cannot be read", lambda w: dp.Schema.from_toml("absent.toml")),
    ("n of a schema", "n", "-5", lambda w: schema().public(n=-5)),
]
QUANTILES = [
    ("epsilon zero", "epsilon", "0", lambda w: w.quantiles(epsilon=0)),
    ("epsilon text", "epsilon", "'1'", lambda w: w.quantiles(epsilon="1")),
    ("delta one", "delta", "1", lambda w: w.quantiles(delta=1.0)),
    ("quantiles outside", "quantiles", "1.5", lambda w: w.quantiles(quantiles=[1.5])),
    ("quantiles decreasing", "quantiles", "increasing", lambda w: w.quantiles(quantiles=[0.9, 0.1])),
    ("quantiles text", "quantiles", "'half'", lambda w: w.quantiles(quantiles="half")),
    ("grid of one point", "grid", r"\(1,\)", lambda w: w.quantiles(grid=[1.0])),
    ("grid with NaN", "grid", "finite", lambda w: w.quantiles(grid=[0.0, np.nan])),
    ("grid of texts", "grid", "list", lambda w: w.quantiles(grid=["a", "b"])),
    ("values of two columns", "values", r"\(6, 2\)", lambda w: w.quantiles(values=X)),
    ("adjacency of quantiles", "adjacency", "'swap'", lambda w: w.quantiles(adjacency="swap")),
    ("seed of quantiles", "seed", "-1", lambda w: w.quantiles(seed=-1, ledger=None)),
    ("ledger a number", "ledger", "3", lambda w: w.quantiles(ledger=3)),
    ("bounds of one name", "columns", "'a'", lambda w: w.bounds(columns="a")),
    ("bounds of an unknown name", "z", "not in the table", lambda w: w.bounds(columns=["z"])),
    ("coverage two", "coverage", "2", lambda w: w.bounds(coverage=2)),
]
CASES = {"data": DATA, "schema": SCHEMA, "quantiles": QUANTILES}
