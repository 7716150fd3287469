"""Models that a study file names: a function of a module, which returns the model."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

from ...checks import given
from ...errors import InvalidArgument, WrongType
from ..base import Model

_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def named_model(name: str, folder: Path) -> Model:
    """Return what ``package.module:function`` returns; modules beside the study file are found too.

    This runs the code of the module, as importing it would.
    """
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f'model must be a table, or a function such as "package.module:function", not {given(name)}'
        )
    module, _, function = name.partition(":")
    sys.path.insert(0, str(folder.resolve()))
    try:
        made = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError) as error:
        raise InvalidArgument(f"model: {name} cannot be imported: {error}") from error
    finally:
        sys.path.remove(str(folder.resolve()))
    if not isinstance(made, Model):
        raise WrongType(f"model: {name} must return a model, not {given(made)}")
    return made
