"""The ``[schema]`` table of a study file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from ...checks import given
from . import Column, Schema
from .plain import KINDS
from .toml_file import SECTIONS, TomlFile, read_toml


def schema_from_toml(path: Path) -> Schema:
    """Return the schema of a TOML file."""
    return read_schema(read_toml(path))


def read_schema(file: TomlFile) -> Schema:
    """Return the schema of a TOML file that was read already."""
    file.only(SECTIONS)
    section = file.table("schema")
    options = {field.name for field in dataclasses.fields(Schema)}
    file.only(options, "schema")
    columns = {name: _column(file, name) for name in file.table("schema", "columns")}
    with file.errors_at("schema"):
        return Schema(columns, **{key: value for key, value in section.items() if key != "columns"})


def _column(file: TomlFile, name: str) -> Column:
    keys = ("schema", "columns", name)
    section = dict(file.table(*keys))
    kind = section.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise file.error(f"column {name!r}: kind must be one of {', '.join(KINDS)}, not {given(kind)}", *keys, "kind")
    file.only({"kind", *(field.name for field in dataclasses.fields(KINDS[kind]))}, *keys)  # type: ignore[arg-type]
    needed = {"number": ("low", "high"), "category": ("levels",), "binary": ()}[kind]
    absent = [key for key in needed if key not in section]
    if absent:
        raise file.error(f"column {name!r}: {absent[0]} must be given for a {kind}", *keys)
    with file.errors_at(*keys):
        return KINDS[kind](**section).with_policy(file.table("schema").get("missing"))
