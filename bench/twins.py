"""Twins: made-up tables of the size, imbalance and signal of tables that new users brought, each with its schema.

Columns are what such tables have: skewed amounts, counts, categories of unequal size, declared bounds that are rounder
and wider than the values. Nothing here is tuned to a sampler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import pydpmc as dp

Floats = npt.NDArray[np.float64]
Table = dict[str, Any]


class Twin(NamedTuple):
    """A table, half of it again to test on, its declarations, the model, and the name of the measure."""

    train: Table
    test: Table
    schema: dp.Schema
    model: dp.LogisticRegression | dp.LinearRegression | dp.SoftmaxRegression | dp.PoissonRegression
    measure: str


def _split(table: Table, schema: dp.Schema, model: Any, measure: str, n: int) -> Twin:
    return Twin(
        {name: values[:n] for name, values in table.items()},
        {name: values[n:] for name, values in table.items()},
        schema,
        model,
        measure,
    )


def _logistic(eta: Floats, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    return np.asarray(random.random(len(eta)) < 1.0 / (1.0 + np.exp(-eta)))


def rare(random: np.random.Generator, n: int = 26_000) -> Twin:
    """26,000 rows, 11 columns, 4.5 % positive, AUC 0.88 without privacy: insurance claims."""
    m = n + n // 2
    table: Table = {
        "age": np.clip(random.gamma(9.0, 5.0, m), 18, 95),
        "years_insured": np.clip(random.exponential(6.0, m), 0, 40),
        "premium": np.clip(random.lognormal(6.2, 0.5, m), 50, 5000),
        "visits": random.poisson(1.6, m),
        "income": np.clip(random.lognormal(10.3, 0.6, m), 0, 250_000),
        "region": random.choice(["north", "south", "east", "west"], m, p=[0.45, 0.3, 0.15, 0.1]),
        "smoker": random.choice(["yes", "no"], m, p=[0.22, 0.78]),
        "earlier": random.choice(["yes", "no"], m, p=[0.12, 0.88]),
    }
    eta = (
        -5.45
        + 0.045 * (table["age"] - 45)
        + 0.65 * table["visits"]
        + 1.9 * (table["earlier"] == "yes")
        + 1.0 * (table["smoker"] == "yes")
        - 0.02 * table["years_insured"]
        + 0.8 * np.log(table["premium"] / 500)
        + 0.4 * (table["region"] == "south")
    )
    table["claim"] = np.where(_logistic(eta, random), "yes", "no")
    columns = {
        "age": dp.Number(18, 100),
        "years_insured": dp.Number(0, 50),
        "premium": dp.Number(50, 5000, transform=["log1p", "standardise"]),
        "visits": dp.Number(0, 10),
        "income": dp.Number(0, 250_000),
        "region": dp.Category(["north", "south", "east", "west"]),
        "smoker": dp.Binary(positive="yes"),
        "earlier": dp.Binary(positive="yes"),
        "claim": dp.Binary(positive="yes"),
    }
    schema = dp.Schema(columns, target="claim", missing="drop")
    return _split(table, schema, dp.LogisticRegression(intercept=True), "AUC", n)


def owners(random: np.random.Generator, n: int = 254_000) -> Twin:
    """254,000 rows, 6 columns, intercept -1.03: who owns a home."""
    m = n + n // 8
    table: Table = {
        "age": np.clip(random.normal(48, 17, m), 18, 95),
        "income": np.clip(random.lognormal(10.4, 0.7, m), 0, 500_000),
        "children": random.poisson(0.9, m),
        "married": random.choice(["yes", "no"], m, p=[0.48, 0.52]),
        "degree": random.choice(["yes", "no"], m, p=[0.3, 0.7]),
        "rural": random.choice(["yes", "no"], m, p=[0.25, 0.75]),
    }
    eta = (
        -1.45
        + 1.3 * (table["age"] - 56.5) / 38.5
        + 1.1 * (np.log1p(table["income"]) / np.log1p(500_000) * 2 - 1.6)
        + 0.35 * (table["children"] - 2)
        + 0.8 * (table["married"] == "yes")
        + 0.2 * (table["degree"] == "yes")
        + 0.5 * (table["rural"] == "yes")
    )
    table["owns"] = np.where(_logistic(eta, random), "yes", "no")
    columns = {
        "age": dp.Number(18, 95),
        "income": dp.Number(0, 500_000, transform=["log1p", "standardise"]),
        "children": dp.Number(0, 10),
        "married": dp.Binary(positive="yes"),
        "degree": dp.Binary(positive="yes"),
        "rural": dp.Binary(positive="yes"),
        "owns": dp.Binary(positive="yes"),
    }
    schema = dp.Schema(columns, target="owns", missing="drop")
    return _split(table, schema, dp.LogisticRegression(intercept=True), "AUC", n)


def wages(random: np.random.Generator, n: int = 61_000) -> Twin:
    """61,000 rows, 2 columns, R2 0.25: log wages by years of school and of work."""
    m = n + n // 2
    school = np.clip(np.round(random.normal(12.5, 2.8, m)), 0, 20)
    work = np.clip(random.gamma(2.2, 8.0, m), 0, 50)
    wage = 1.35 + 0.09 * (school - 12) + 0.012 * work + random.normal(scale=0.5, size=m)
    table: Table = {"school": school, "work": work, "log_wage": wage}
    columns = {"school": dp.Number(0, 20), "work": dp.Number(0, 50), "log_wage": dp.Number(0, 5)}
    schema = dp.Schema(columns, target="log_wage", missing="drop")
    return _split(table, schema, dp.LinearRegression(intercept=True), "R2", n)


def marital(random: np.random.Generator, n: int = 62_000) -> Twin:
    """62,000 rows, five classes of unequal size, accuracy 0.63 without privacy and 0.52 by the largest class."""
    m = n + n // 2
    table: Table = {
        "age": np.clip(random.gamma(6.0, 7.0, m), 17, 90),
        "hours": np.clip(random.normal(39, 12, m), 1, 99),
        "income": np.clip(random.lognormal(10.2, 0.7, m), 0, 300_000),
        "sex": random.choice(["f", "m"], m),
        "degree": random.choice(["yes", "no"], m, p=[0.27, 0.73]),
    }
    age = (table["age"] - 42) / 16
    predictors = np.column_stack(
        [
            1.5 + 0.3 * age + 0.25 * (table["sex"] == "m"),
            0.5 - 1.7 * age,
            0.2 + 0.45 * age - 0.4 * (table["sex"] == "m"),
            -2.6 + 1.6 * age - 0.9 * (table["sex"] == "m"),
            -1.2 + 0.1 * age,
        ]
    )
    levels = ["married", "never", "divorced", "widowed", "separated"]
    chosen = np.argmax(predictors + random.gumbel(size=predictors.shape), axis=1)
    table["status"] = np.array(levels)[chosen]
    columns = {
        "age": dp.Number(17, 90),
        "hours": dp.Number(1, 99),
        "income": dp.Number(0, 300_000, transform=["log1p", "standardise"]),
        "sex": dp.Binary(positive="m"),
        "degree": dp.Binary(positive="yes"),
        "status": dp.Category(levels, unknown="married"),
    }
    schema = dp.Schema(columns, target="status", missing="drop")
    return _split(table, schema, dp.SoftmaxRegression(intercept=True, classes=5), "accuracy", n)


def visits(random: np.random.Generator, n: int = 20_000) -> Twin:
    """20,000 rows of counts, deviance explained 0.12: visits to a doctor."""
    m = n + n // 2
    table: Table = {
        "age": np.clip(random.normal(46, 18, m), 18, 95),
        "chronic": random.poisson(0.7, m),
        "income": np.clip(random.lognormal(10.2, 0.6, m), 0, 200_000),
        "female": random.choice(["yes", "no"], m),
        "insured": random.choice(["yes", "no"], m, p=[0.85, 0.15]),
    }
    eta = (
        0.15
        + 0.007 * (table["age"] - 46)
        + 0.23 * table["chronic"]
        + 0.2 * (table["female"] == "yes")
        + 0.3 * (table["insured"] == "yes")
    )
    table["visits"] = random.poisson(np.exp(eta))
    columns = {
        "age": dp.Number(18, 95),
        "chronic": dp.Number(0, 6),
        "income": dp.Number(0, 200_000),
        "female": dp.Binary(positive="yes"),
        "insured": dp.Binary(positive="yes"),
        "visits": dp.Number(0, 15),
    }
    schema = dp.Schema(columns, target="visits", missing="drop")
    return _split(table, schema, dp.PoissonRegression(intercept=True), "deviance", n)


TWINS: dict[str, Callable[[np.random.Generator], Twin]] = {
    "rare": rare,
    "owners": owners,
    "wages": wages,
    "marital": marital,
    "visits": visits,
}
