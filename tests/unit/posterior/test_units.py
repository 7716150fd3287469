"""Units and names: coefficients of the table's own columns, classes by name, tables encoded by their schema."""

import dataclasses

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument


@pytest.fixture
def schema():
    columns = {
        "age": dp.Number(18, 90),
        "income": dp.Number(0, 1e5, transform=["log1p", "standardise"]),
        "sex": dp.Category(["f", "m"], unknown="f"),
        "own": dp.Binary(positive="yes"),
    }
    return dp.Schema(columns, target="own", missing="drop", interactions=[("age", "sex"), ("age", "age")])


@pytest.fixture
def table(rng):
    n = 60
    return {
        "age": rng.uniform(10, 95, n),
        "income": rng.uniform(0, 1e5, n),
        "sex": rng.choice(["f", "m"], n),
        "own": rng.choice(["yes", "no"], n),
    }


def run(model, data):
    return dp.plan(model, data.public, dp.Barker(steps=40, scale=0.3)).run(data, progress=False)


def test_natural_coefficients_give_the_same_predictor(schema, table):
    post = run(dp.LogisticRegression(intercept=True), schema.data(table))
    natural = post.summary("natural")
    names = ["age", "income", "sex=m", "age:sex=m", "age:age"]
    age, income = np.clip(table["age"], 18, 90), np.log1p(table["income"])
    male = (table["sex"] == "m") * 1.0
    columns = [age, income, male, age * male, age**2]
    ours = natural["intercept"]["mean"] + sum(
        natural[f"beta[{name}]"]["mean"] * column for name, column in zip(names, columns, strict=True)
    )
    theirs = post.draws["intercept"].mean() + schema.encode(table) @ post.draws["beta"].mean(axis=(0, 1))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    assert "per unit of the table" in post.table(units="natural")
    assert "age: per 36, from 54 on" in post.table()


def test_natural_units_are_refused_where_they_do_not_exist(schema, table, rng):
    with pytest.raises(InvalidArgument, match="no intercept"):
        run(dp.LogisticRegression(), schema.data(table)).summary(units="natural")
    bare = dp.Data(rng.normal(size=(20, 2)), rng.integers(0, 2, 20), row_norm=1.0)
    with pytest.raises(InvalidArgument, match=r"schema\.data"):
        run(dp.LogisticRegression(intercept=True), bare).summary(units="natural")
    with pytest.raises(InvalidArgument, match="units must be"):
        run(dp.LogisticRegression(), bare).summary(units="metric")


def test_softmax_coefficients_carry_the_names_of_classes(rng):
    columns = {"age": dp.Number(18, 90), "state": dp.Category(["Single", "Divorced"], unknown="Single")}
    schema = dp.Schema(columns, target="state", missing="drop")
    data = schema.data({"age": rng.uniform(18, 90, 30), "state": rng.choice(["Single", "Divorced"], 30)})
    post = run(dp.SoftmaxRegression(classes=2, intercept=True), data)
    names = ["intercept[Single]", "intercept[Divorced]", "beta[Single, age]", "beta[Divorced, age]"]
    assert list(post.summary()) == names
    assert list(post.summary("natural")) == names


def test_a_table_is_encoded_by_the_schema_of_the_run_also_after_a_file(schema, table, tmp_path):
    post = run(dp.LogisticRegression(intercept=True), schema.data(table))
    post.save(tmp_path / "post.npz")
    loaded = dp.Posterior.load(tmp_path / "post.npz")
    assert loaded.schema == schema
    for one in (post, loaded):
        np.testing.assert_array_equal(one.predict(table).mean, post.predict(schema.encode(table)).mean)


def test_a_schema_that_no_file_can_hold_does_not_stop_a_save(schema, table, tmp_path):
    post = run(dp.LogisticRegression(), schema.data(table))
    strange = dataclasses.replace(schema, columns=dict(schema.columns) | {"sex": dp.Category([(1, 2), "m"])})
    dataclasses.replace(post, schema=strange).save(tmp_path / "post.npz")
    assert dp.Posterior.load(tmp_path / "post.npz").schema is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_of_a_table_keep_its_names_and_predict_goes_by_them(rng, library):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    values = {"b": rng.uniform(-0.5, 0.5, 40), "a": rng.uniform(-0.5, 0.5, 40)}
    data = dp.Data(frames.DataFrame(values), rng.integers(0, 2, 40), row_norm=1.0)
    assert data.public.columns == ("b", "a")
    post = run(dp.LogisticRegression(), data)
    expected = post.predict(np.column_stack([values["b"], values["a"]])).mean
    turned = frames.DataFrame({"a": values["a"], "other": values["a"], "b": values["b"]})
    np.testing.assert_array_equal(post.predict(turned).mean, expected)
    with pytest.raises(InvalidArgument, match="x has no column 'b'"):
        post.predict({"a": values["a"]})
