"""Packages that are imported when they are used: the extras, and slow ones."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingExtraError


def require(module: str, extra: str, purpose: str) -> Any:
    """Return an optional module, or say which extra brings it.

    Examples
    --------
    >>> require("math", "plots", "this example").pi > 3
    True
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(f"{purpose} needs {package}: pip install 'pydpmc[{extra}]'") from error


class _Lazy:
    """A module that is imported when its first function is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


special: Any = _Lazy("scipy.special")  # importing it takes as long as all the rest
