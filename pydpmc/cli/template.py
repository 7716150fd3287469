"""A commented study file from the names and types of a table's columns; no record is read."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from ..data.schema.files import csv_header, parquet_types
from ..errors import SchemaError

HEAD = """\
# A study for `pydpmc run`. Written by `pydpmc init` from the names and types of the columns alone.
# Fill in every "?" from what the columns mean, not from the records: bounds read off the data are not private.
# `pydpmc plan {name}` prices it without touching a record; `pydpmc run {name}` runs it.

[data]
path = {table}
# n = 30000            # the number of records, public under adjacency = "replace"; `pydpmc plan` needs it
# base_rate = 0.05     # for forecasts, if publicly known: share of records with the positive label, or mean count

[schema]
target = "?"           # the column to be explained
missing = "drop"       # what a missing value means: "drop" lets the record contribute nothing; or say it per column
missing_values = [""]  # texts that stand for a missing value, such as "?" or "NA"
# interactions = [["age", "sex"]]
# row_norm = 2.0       # a bound on the norm of an encoded record; left out, what the columns imply

[schema.columns]       # delete the lines of columns that are not needed
# number:   {{kind = "number", low = 0, high = 100}}, also transform = ["log1p", "standardise"]
# category: {{kind = "category", levels = ["a", "b"]}}, also reference = "a", unknown = "other", missing = "level"
# binary:   {{kind = "binary", positive = "yes"}}
# A level that is spelt otherwise than in the records fits a meaningless model and spends the budget. The small release
# `pydpmc run {name} --check-levels 0.05` shows how many records have each level of the target, and stops if one has
# none.
"""
TAIL = """
[model]
type = "LogisticRegression"   # or LinearRegression, HuberRegression, PoissonRegression, ...
intercept = true
prior = {type = "Normal", scale = 1.0}

[sampler]
type = "auto"                 # the best that is proven for the model: `pydpmc plan --compare` shows them all
# purpose = "prediction"      # what is to be best: "posterior" (intervals), "prediction" or "point"

[budget]
epsilon = 1.0
delta = 1e-6
adjacency = "replace"         # or "add_remove"

# [run]
# ledger = "study.ledger"     # charged before the run; `pydpmc ledger create study.ledger --epsilon 3 --delta 1e-5`
# checkpoint = "run.ckpt"     # a killed run goes on from here at no further cost; for chains only
# anyway = true               # run also a plan that public facts say is hopeless

[output]
posterior = "posterior.npz"
report = "report.html"
table = "table.md"
"""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def template(table: Path, study: Path) -> str:
    """Return the study file for a table; `study` is where it will be."""
    lines = [f"{_key(column)} = {_guess(kind)}" for column, kind in _columns(table).items()]
    relative = os.path.relpath(table, study.parent)
    return HEAD.format(table=json.dumps(relative), name=study) + "\n".join(lines) + "\n" + TAIL


def _columns(table: Path) -> dict[str, str]:
    if not table.exists():
        raise SchemaError(f"table: there is no file {str(table)!r}")
    if table.suffix == ".parquet":
        return parquet_types(table)
    if table.suffixes[-1:] == [".csv"] or table.suffixes[-2:] == [".csv", ".gz"]:
        return dict.fromkeys(csv_header(table), "")
    raise SchemaError(f"table: {table.name!r} must end in .csv, .csv.gz or .parquet")


def _guess(kind: str) -> str:
    if re.match(r"u?int|float|double|halffloat|decimal", kind):
        return '{kind = "number", low = "?", high = "?"}'
    if re.match(r"(large_)?string|dictionary", kind):
        return '{kind = "category", levels = "?"}'
    if kind == "bool":
        return '{kind = "binary", positive = true}'
    return '{kind = "?"}'


def _key(column: str) -> str:
    return column if _BARE.fullmatch(column) else json.dumps(column)
