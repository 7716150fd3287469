"""The pages of the API reference: one heading for every public name, by the room it stands in."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

TITLES = {
    "data": "Data: tables, schemas, bounds",
    "models": "Models and priors",
    "samplers": "Samplers",
    "running": "Plans, runs, results, budgets",
    "accounting": "Accounting",
    "nn": "Networks and images",
    "sklearn": "scikit-learn estimators",
    "errors": "Errors and warnings",
}
PAGE_OF_ROOM = {"data": "data", "quantiles": "data", "models": "models", "samplers": "samplers"}


def inherited(module: str, name: str) -> list[str]:
    """Return the lines that make a page show the methods of a base class."""
    base = getattr(importlib.import_module(module), name)
    return [
        "    options:",
        f"      inherited_members: {[method for method in vars(base) if not method.startswith('_')]}",
    ]


INHERITED = {"pydpmc.data.data.Data": inherited("pydpmc.data.large_tables", "LargeTables")}


def public_names() -> dict[str, list[tuple[str, str]]]:
    """Return for each page the public names and where each is defined."""
    package = importlib.import_module("pydpmc")
    found: dict[str, list[tuple[str, str]]] = {page: [] for page in TITLES}
    for name in package.__all__:
        value = getattr(package, name)
        if not isinstance(value, ModuleType):
            room = value.__module__.split(".")[1]
            found[PAGE_OF_ROOM.get(room, "running")].append((f"pydpmc.{name}", _place(value)))
    models = importlib.import_module("pydpmc.models")
    found["models"] += [(f"pydpmc.models.{name}", _place(getattr(models, name))) for name in models.OWN]
    for page in ("accounting", "nn", "sklearn"):
        module = importlib.import_module(f"pydpmc.{page}")
        found[page] = [(f"pydpmc.{page}.{name}", _place(getattr(module, name), page, name)) for name in module.__all__]
    errors = importlib.import_module("pydpmc.errors")
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind) and kind.__module__ == "pydpmc.errors"]
    found["errors"] = [(_place(kind), _place(kind)) for kind in kinds]
    return {page: sorted(names, key=lambda pair: pair[0].rpartition(".")[2].lower()) for page, names in found.items()}


def pages() -> dict[str, str]:
    """Return the text of each page of the reference."""
    names = public_names()
    made = {f"api/{page}.md": _page(page, names[page]) for page in TITLES}
    lines = ["# API reference", "", "Every public name. The examples are run by the tests.", ""]
    for page, title in TITLES.items():
        links = " · ".join(f"[`{public.removeprefix('pydpmc.')}`][{place}]" for public, place in names[page])
        lines += [f"## [{title}]({page}.md)", "", links, ""]
    return made | {"api/index.md": "\n".join(lines)}


def _page(page: str, names: list[tuple[str, str]]) -> str:
    lines = [f"# {TITLES[page]}", ""]
    if page in ("accounting", "nn", "sklearn"):
        lines += [f"In the module `pydpmc.{page}`.", ""]
    for _, place in names:
        lines += [f"::: {place}", *INHERITED.get(place, ()), ""]
    return "\n".join(lines)


def _place(value: Any, module: str = "", name: str = "") -> str:
    if inspect.isclass(value) or inspect.isfunction(value):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, ModuleType):
        return value.__name__
    return f"pydpmc.{module}.{name}"
