"""A column of two values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given
from ...errors import InvalidArgument
from ..columns import Floats, RawColumn
from ..values import canonical
from .column import Column, Features
from .levels import MISSING, level_codes


@dataclass(frozen=True)
class Binary(Column):
    """One value counts as 1, everything else as 0.

    Parameters
    ----------
    positive
        The value that counts as 1.
    missing
        ``"drop"`` or ``"constant"``.
    fill
        0 or 1, what stands in for a missing value.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.Binary(positive=">50K").describe()
    "1 if '>50K', else 0"
    """

    positive: Any = 1
    missing: str | None = None
    fill: int | None = None

    def __post_init__(self) -> None:
        if canonical(self.positive) is None:
            raise InvalidArgument(f"positive must be a number, a text or a date, not {given(self.positive)}")
        if self.fill is not None and self.fill not in (0, 1):
            raise InvalidArgument(f"fill must be 0 or 1, not {self.fill!r}")

    def features(self, name: str) -> Features:
        """Return one feature in {0, 1}."""
        label = f"{name}={self.positive}" if isinstance(self.positive, str) else name
        return Features((label,), ((0.0, 1.0),), 1.0)

    def encode(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return 0 and 1 as one column."""
        return self.encode_target(raw, missing_values)[:, None]

    def encode_target(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return 0 and 1."""
        codes = level_codes((self.positive,), raw, missing_values)
        stand_in = np.nan if self.missing != "constant" else float(self.fill or 0)
        return np.where(codes == MISSING, stand_in, np.where(codes == 0, 1.0, 0.0))

    def target_bounds(self) -> tuple[float, float]:
        """Return (0, 1)."""
        return 0.0, 1.0

    def describe(self) -> str:
        """Return which value counts as 1."""
        return f"1 if {self.positive!r}, else 0"

    def sample(self, count: int, random: np.random.Generator) -> npt.NDArray[Any]:
        """Return the positive value or another one, by fair coins."""
        other: Any = f"not {self.positive}" if isinstance(self.positive, str) else int(self.positive == 0)
        return np.array([other, self.positive], dtype=object)[random.integers(2, size=count)]
