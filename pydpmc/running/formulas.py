"""``sample("owns ~ age + sex", table, schema=...)``: the data and the model of a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import given, one_of
from ..data.data import Data
from ..data.schema import Binary, Category, Schema
from ..data.schema.formula import design_of
from ..errors import InvalidArgument, WrongType
from ..models import (
    HuberRegression,
    LinearRegression,
    LogisticRegression,
    Model,
    PoissonRegression,
    SoftmaxRegression,
)
from ..models.priors import Normal

FAMILIES = ("logistic", "softmax", "linear", "huber", "poisson")


def of_formula(
    formula: str, table: Any, schema: Schema | None, family: str | None, prior: Any, public_n: int | None
) -> tuple[Model, Data]:
    """Return the model and the encoded records of a formula.

    The target's declaration chooses the family: a Binary is logistic, a Category softmax, a Number linear.
    """
    if schema is None:
        raise InvalidArgument("schema must be given with a formula: it declares bounds and levels of every column")
    if isinstance(table, Data):
        raise WrongType(
            "data must be a table with the columns of the formula, not a pydpmc.Data, whose columns are already encoded"
        )
    if isinstance(table, np.ndarray) and table.dtype.names is None:
        raise WrongType("data must be a table or a mapping with the column names of the formula; an array has no names")
    design = design_of(formula, schema)
    target = design.schema.columns[str(design.schema.target)]
    if family is None:
        family = "logistic" if isinstance(target, Binary) else "softmax" if isinstance(target, Category) else "linear"
    one_of(family, "family", FAMILIES)
    options: dict[str, Any] = {"prior": Normal() if prior is None else prior, "intercept": design.intercept}
    low, high = target.target_bounds()
    models: dict[str, Callable[[], Model]] = {
        "logistic": lambda: LogisticRegression(**options),
        "softmax": lambda: SoftmaxRegression(classes=int(high) + 1, **options),
        "linear": lambda: LinearRegression(**options),
        "huber": lambda: HuberRegression(sigma=(high - low) / 8, **options),
        "poisson": lambda: PoissonRegression(**options),
    }
    model = models[family]()
    return model, design.schema.data(table, **({} if public_n is None else {"public_n": public_n}))


def refuse_leftovers(schema: Any, family: Any, prior: Any, public_n: Any) -> None:
    """Refuse the arguments of a formula where none was given."""
    for name, value in (("schema", schema), ("family", family), ("prior", prior), ("public_n", public_n)):
        if value is not None:
            raise InvalidArgument(f"{name} is for formulas only: a model and a Data contain it; it is {given(value)}")
