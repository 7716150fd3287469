"""A formula such as "owns ~ age * sex + C(region)" made into a schema of the columns that it names.

formulaic parses the text and never sees a record: rows are encoded by the schema, each by itself, with bounds and
levels that were declared. What would read all rows (center, scale, splines) has no place here and is refused.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, NamedTuple

from ..._optional import require
from ...checks import given
from ...errors import SchemaError, WrongType
from .column import Column
from .number import Number
from .schema import Schema

_CALL = re.compile(r"([\w.]+)\((.*)\)", re.DOTALL)
READS_ALL_ROWS = ("center", "scale", "standardize", "bs", "cs", "cc", "cr", "poly", "lag", "hashed")
KNOWN = "name columns of the schema, C(name) or log1p(name)"


class Design(NamedTuple):
    """What a formula asks for: the schema of its columns, and whether there is an intercept."""

    schema: Schema
    intercept: bool


def design_of(formula: str, schema: Schema) -> Design:
    """Return the schema of a formula's columns, each as it was declared.

    Parameters
    ----------
    formula
        ``"target ~ terms"``: names of declared columns, ``C(name)``, ``log1p(name)``, with ``+``, ``:``, ``*``, ``-``
        and ``(a + b)**2``. An interaction needs its columns as terms of their own.
    schema
        The declarations; columns that the formula does not name are left out.

    Examples
    --------
    >>> declared = Schema({"a": Number(0, 1), "b": Number(0, 2), "y": Number(0, 1)}, missing="drop")
    >>> design = design_of("y ~ a * b", declared)
    >>> design.schema.public(n=9).columns, design.intercept
    (('a', 'b', 'a:b'), True)
    """
    if not isinstance(schema, Schema):
        raise WrongType(f"schema must be the pydpmc.Schema that declares the formula's columns, not {given(schema)}")
    target, terms = _parsed(formula)
    intercept = ("1",) in terms
    columns: dict[str, Column] = {}
    products: list[tuple[str, ...]] = []
    parts: list[dict[str, Column]] = []
    for factors in terms:
        if factors == ("1",):
            continue
        found = dict([_column(text, schema) for text in factors])
        if len(found) < len(factors):
            raise SchemaError(f"formula: {':'.join(factors)} is a product of a column with itself; declare it by name")
        if len(factors) > 1:
            products.append(tuple(found))
            parts.append(found)
            continue
        _require_one_meaning(columns, found)
        columns |= found
    _require_main_terms(products, columns)
    for found in parts:
        _require_one_meaning(columns, found)
    if target in columns:
        raise SchemaError(f"formula: {target!r} is the target, and cannot be a term as well")
    if not columns:
        raise SchemaError("formula must name at least one column on the right of ~")
    columns[target] = _declared(target, schema)
    return Design(dataclasses.replace(schema, columns=columns, target=target, interactions=products), intercept)


def _parsed(formula: Any) -> tuple[str, list[tuple[str, ...]]]:
    """Return the target, and the texts of the factors of each term."""
    if not isinstance(formula, str) or formula.count("~") != 1:
        raise SchemaError(f'formula must be a text such as "owns ~ age + sex", not {given(formula)}')
    formulaic = require("formulaic", "formula", "a formula")
    try:
        parsed = formulaic.Formula(formula)
        sides = [[tuple(str(f.expr) for f in term.factors) for term in side] for side in (parsed.lhs, parsed.rhs)]
    except Exception as error:  # whatever its parser raises: the text is public, no record was read
        raise SchemaError(f"formula {formula!r} cannot be read: {str(error).splitlines()[0]}") from None
    (left, right) = sides
    if len(left) != 1 or len(left[0]) != 1:
        raise SchemaError("formula must name one column as the target, on the left of ~")
    return left[0][0], right


def _column(text: str, schema: Schema) -> tuple[str, Column]:
    """Return name and declaration of the column that one factor stands for."""
    call = _CALL.fullmatch(text)
    if call is None:
        return text, _declared(text, schema)
    function, name = call[1], call[2].strip()
    if function.rpartition(".")[2] in READS_ALL_ROWS:
        raise SchemaError(
            f"formula: {function} reads all rows, so that each would depend on all the others, which no guarantee "
            f"covers; numbers are rescaled by their declared bounds instead: write {name or 'the column'!r}"
        )
    if function not in ("C", "log1p"):
        raise SchemaError(f"formula: {text!r} is not known; {KNOWN}, and compute other columns before, row by row")
    column = _declared(name, schema)
    if function == "C" and isinstance(column, Number):
        raise SchemaError(f"formula: C({name}) needs declared levels; declare {name!r} as a Category in the schema")
    if function == "C":
        return name, column
    if not isinstance(column, Number):
        raise SchemaError(f"formula: log1p({name}) needs a Number, and {name!r} is declared otherwise")
    return name, dataclasses.replace(column, transform=("log1p", "standardise"))


def _declared(name: str, schema: Schema) -> Column:
    if name not in schema.columns:
        raise SchemaError(f"formula: {name!r} is not a column of the schema, which has {list(schema.columns)}; {KNOWN}")
    return schema.columns[name]


def _require_one_meaning(columns: dict[str, Column], found: dict[str, Column]) -> None:
    for name, column in found.items():
        if columns.get(name, column) != column:
            raise SchemaError(f"formula: {name!r} is a term as it is and as log1p({name}); take one of them")


def _require_main_terms(products: list[tuple[str, ...]], columns: dict[str, Column]) -> None:
    for names in products:
        absent = [name for name in names if name not in columns]
        if absent:
            raise SchemaError(f"formula: the product {':'.join(names)} needs {absent[0]!r} as a term of its own too")
