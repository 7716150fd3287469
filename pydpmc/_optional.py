"""Optional dependencies: imported where they are used, with a message that names the extra."""

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
