"""Lazy imports of optional packages and of packages that are slow to import."""

from __future__ import annotations

import importlib
from typing import Any

from .errors import MissingExtraError


def require(module: str, extra: str, purpose: str) -> Any:
    """Import an optional module; if it is absent, say which extra installs it.

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
    """A module that is imported at its first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


special: Any = _Lazy("scipy.special")  # its import takes as long as the rest of pydpmc
