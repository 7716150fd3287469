"""A schema as plain values, for files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ...checks import given
from ...errors import SchemaError
from ..values import canonical
from . import Binary, Category, Column, Number, Schema

KINDS: dict[str, type[Column]] = {"number": Number, "category": Category, "binary": Binary}


def to_dict(schema: Schema) -> dict[str, Any]:
    """Return a schema as plain values.

    Examples
    --------
    >>> to_dict(Schema({"a": Number(0, 1)}, missing="drop"))["columns"]["a"]["kind"]
    'number'
    """
    columns = {name: _column(column) for name, column in schema.columns.items()}
    others = [field.name for field in dataclasses.fields(schema) if field.name != "columns"]
    return {"columns": columns, **{name: _plain(getattr(schema, name)) for name in others}}


def from_dict(saved: Any) -> Schema:
    """Return the schema that `to_dict` wrote; refuse what it did not write."""
    if not isinstance(saved, Mapping) or not isinstance(saved.get("columns"), Mapping):
        raise SchemaError(f"a saved schema must map names to values, not {given(saved)}")
    columns = {}
    for name, section in saved["columns"].items():
        fields = dict(section)
        kind = KINDS.get(fields.pop("kind", ""))
        if kind is None:
            raise SchemaError(f"column {name!r} must be one of {', '.join(KINDS)}")
        columns[name] = kind(**fields)
    return Schema(columns, **{key: value for key, value in saved.items() if key != "columns"})


def _column(column: Column) -> dict[str, Any]:
    kind = next(kind for kind, made in KINDS.items() if isinstance(column, made))
    fields = dataclasses.fields(column)  # type: ignore[arg-type]
    return {"kind": kind, **{field.name: _plain(getattr(column, field.name)) for field in fields}}


def _plain(value: Any) -> Any:
    """Return a declared value as JSON has it: a date, say, as the text that it is compared by."""
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else canonical(value)
