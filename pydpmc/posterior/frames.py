"""Tables of results as data frames of pandas or polars: one row per parameter."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from ..errors import MissingExtraError

Rows = Mapping[str, Mapping[str, Any]]


class AsFrames:
    """What every table of results offers: its rows as a data frame."""

    rows: Rows

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame`` with the parameters as its index."""
        frame = _library("pandas").DataFrame.from_dict({name: dict(r) for name, r in self.rows.items()}, orient="index")
        frame.index.name = "parameter"
        return frame

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame`` with the parameters in its first column."""
        return _library("polars").DataFrame([{"parameter": name, **row} for name, row in self.rows.items()])


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(f"to_{name} needs {name}: pip install {name}") from error
