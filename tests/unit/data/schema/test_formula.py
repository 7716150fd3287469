"""Formulas: compiled to a schema without a record, refused where a row would depend on other rows."""

import sys

import numpy as np
import pytest

pytest.importorskip("formulaic", reason="formulaic is not installed (extra pydpmc[formula])")

import pydpmc as dp
from pydpmc.data.schema.formula import design_of
from pydpmc.errors import InvalidArgument, MissingExtraError, SchemaError


@pytest.fixture
def schema():
    columns = {
        "age": dp.Number(18, 90),
        "income": dp.Number(0, 1e5),
        "region": dp.Category(["n", "s"], unknown="s"),
        "sex": dp.Binary(positive="f"),
        "owns": dp.Binary(positive="yes"),
        "count": dp.Number(0, 20),
    }
    return dp.Schema(columns, missing="drop")


@pytest.fixture
def table(rng):
    n = 200
    return {
        "age": rng.uniform(18, 90, n),
        "income": rng.uniform(0, 1e5, n),
        "region": rng.choice(["n", "s"], n),
        "sex": rng.choice(["f", "m"], n),
        "owns": rng.choice(["yes", "no"], n),
        "count": rng.poisson(2.0, n),
    }


def test_a_formula_is_the_schema_that_one_would_write(schema, table):
    design = design_of("owns ~ age * sex + C(region) + log1p(income)", schema)
    by_hand = dp.Schema(
        {
            "age": schema.columns["age"],
            "sex": schema.columns["sex"],
            "region": schema.columns["region"],
            "income": dp.Number(0, 1e5, transform=["log1p", "standardise"]),
            "owns": schema.columns["owns"],
        },
        target="owns",
        missing="drop",
        interactions=[("age", "sex")],
    )
    assert design.schema == by_hand
    assert design.intercept
    assert not design_of("owns ~ age - 1", schema).intercept
    np.testing.assert_array_equal(design.schema.encode(table), by_hand.encode(table))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("owns ~ center(age)", "reads all rows"),
        ("owns ~ scale(age)", "reads all rows"),
        ("owns ~ bs(age, df=4)", "reads all rows"),
        ("owns ~ patsy.center(age)", "reads all rows"),
        ("owns ~ np.log(age)", "is not known"),
        ("owns ~ {age + 1}", "not a column"),
        ("owns ~ I(age**2)", "is not known"),
        ("owns ~ weight", "not a column of the schema"),
        ("weight ~ age", "not a column of the schema"),
        ("owns ~ C(age)", "declare 'age' as a Category"),
        ("owns ~ log1p(region)", "needs a Number"),
        ("owns ~ age:sex", "as a term of its own"),
        ("owns ~ age + log1p(age)", "take one of them"),
        ("owns ~ income + age + age:log1p(income)", "take one of them"),
        ("owns ~ owns + age", "cannot be a term"),
        ("owns ~ 1", "at least one column"),
        ("owns + age ~ sex", "one column as the target"),
        ("age + sex", "must be a text such as"),
        ("owns ~ age +* sex", "cannot be read"),
        ("owns ~ .", "cannot be read"),
        (7, "must be a text such as"),
    ],
)
def test_what_a_formula_cannot_be_is_refused_before_a_record_is_read(schema, formula, message):
    with pytest.raises(SchemaError, match=message):
        design_of(formula, schema)


def test_a_run_by_formula_is_the_run_by_hand(schema, table):
    options = {"private": False, "seed": 3, "progress": False}
    post = dp.sample("owns ~ age * sex", table, dp.Barker(steps=50, scale=0.1), schema=schema, **options)
    design = design_of("owns ~ age * sex", schema)
    model = dp.LogisticRegression(intercept=True)
    by_hand = dp.sample(model, design.schema.data(table), dp.Barker(steps=50, scale=0.1), **options)
    np.testing.assert_array_equal(post.draws["beta"], by_hand.draws["beta"])
    assert list(post.summary()) == ["intercept", "beta[age]", "beta[sex=f]", "beta[age:sex=f]"]
    np.testing.assert_array_equal(post.predict(table).mean, by_hand.predict(design.schema.encode(table)).mean)


@pytest.mark.parametrize(
    ("formula", "family", "model"),
    [
        ("region ~ age", None, "SoftmaxRegression"),
        ("age ~ sex", None, "LinearRegression"),
        ("age ~ sex", "huber", "HuberRegression"),
        ("count ~ age", "poisson", "PoissonRegression"),
    ],
)
def test_the_target_or_the_family_chooses_the_model(schema, table, formula, family, model):
    sampler = dp.Barker(steps=10, scale=0.01)
    post = dp.sample(formula, table, sampler, schema=schema, family=family, private=False, progress=False)
    assert post.plan["model"].startswith(model)


def test_wrong_company_is_refused(schema, table):
    with pytest.raises(InvalidArgument, match="schema must be given with a formula"):
        dp.sample("owns ~ age", table, epsilon=1.0, delta=1e-6)
    with pytest.raises(TypeError, match="an array has no names"):
        dp.sample("owns ~ age", np.zeros((4, 2)), schema=schema, epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="family must be one of"):
        dp.sample("owns ~ age", table, schema=schema, family="gamma", epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidArgument, match="prior is for formulas only"):
        dp.sample(dp.LogisticRegression(), dp.Data([[1.0]], [1]), prior=dp.Normal(), epsilon=1.0, delta=1e-6)


def test_the_extra_is_named(schema, monkeypatch):
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(MissingExtraError, match=r"pydpmc\[formula\]"):
        design_of("owns ~ age", schema)
