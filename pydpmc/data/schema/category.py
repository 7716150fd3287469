"""A column of declared levels, one-hot with a reference level."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...checks import given
from ...errors import InvalidArgument
from ..columns import Codes, Floats, RawColumn
from ..values import canonical
from .column import Column, Features
from .levels import MISSING, UNKNOWN, level_codes

OTHER, MISSING_LEVEL = "other", "missing"


@dataclass(frozen=True)
class Category(Column):
    """A column of declared levels. As a feature it is one-hot without its reference level; as a target, a code.

    Parameters
    ----------
    levels
        The public list of levels. It is declared: do not collect it from the records.
    reference
        The level without a feature of its own; the first by default.
    unknown
        The level that values outside the list count as; ``"other"`` by default, added to the list if it is not in it.
    missing
        ``"drop"``, ``"level"`` (a level of its own, called ``"missing"``) or ``"constant"`` (the level `fill`).
    fill
        The level that stands in for a missing value.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.Category(["HS", "BA", "PhD"]).features("school").names
    ('school=BA', 'school=PhD', 'school=other')
    """

    levels: Sequence[Any]
    reference: Any = None
    unknown: Any = OTHER
    missing: str | None = None
    fill: Any = None
    policies: ClassVar[tuple[str, ...]] = ("drop", "level", "constant")

    def __post_init__(self) -> None:
        if isinstance(self.levels, str) or not isinstance(self.levels, Sequence) or len(self.levels) == 0:
            raise InvalidArgument(f"levels must be a list of at least one level, not {given(self.levels)}")
        object.__setattr__(self, "levels", tuple(self.levels))
        keys = [canonical(level) for level in self.levels]
        if len(set(keys)) != len(keys):
            raise InvalidArgument('levels must be distinct: 1, 1.0, True, "1" and "1.0" are one level')
        if None in keys:
            raise InvalidArgument(f"levels must be numbers, texts or dates, not {given(self.levels[keys.index(None)])}")
        for name in ("reference", "fill"):
            value = getattr(self, name)
            if value is not None and value not in self._with_unknown():
                raise InvalidArgument(f"{name} must be one of the levels, not {value!r}")

    def all_levels(self) -> tuple[Any, ...]:
        """Return the declared levels, with that of unknown and of missing values if they have one."""
        levels = self._with_unknown()
        adds = self.missing == "level" and MISSING_LEVEL not in levels
        return (*levels, MISSING_LEVEL) if adds else levels

    def features(self, name: str) -> Features:
        """Return a feature for every level but the reference; at most one of them is 1."""
        kept = [level for level in self.all_levels() if level != self._reference]
        names = tuple(f"{name}={level}" for level in kept)
        return Features(names, ((0.0, 1.0),) * len(kept), float(bool(kept)), one_hot=True)

    def encode(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return the one-hot features."""
        codes = self._codes(raw, missing_values)
        levels = self.all_levels()
        kept = [code for code, level in enumerate(levels) if level != self._reference]
        encoded: Floats = (codes[:, None] == np.array(kept, dtype=np.int64)).astype(np.float64)
        encoded[codes == MISSING] = np.nan
        return encoded

    def encode_target(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return the place of the level in the list."""
        codes = self._codes(raw, missing_values)
        return np.where(codes == MISSING, np.nan, codes.astype(np.float64))

    def target_bounds(self) -> tuple[float, float]:
        """Return (0, number of levels - 1)."""
        return 0.0, float(len(self.all_levels()) - 1)

    def target_levels(self) -> tuple[str, ...]:
        """Return the levels."""
        return tuple(str(level) for level in self.all_levels())

    def describe(self) -> str:
        """Return the number of levels, the reference and the level of unknown values."""
        return f"{len(self.levels)} levels, reference {self._reference!r}, anything else is {self.unknown!r}"

    def sample(self, count: int, random: np.random.Generator) -> npt.NDArray[Any]:
        """Return declared levels, each as likely as the others."""
        return np.array(self.levels, dtype=object)[random.integers(len(self.levels), size=count)]

    @property
    def _reference(self) -> Any:
        return self.levels[0] if self.reference is None else self.reference

    def _with_unknown(self) -> tuple[Any, ...]:
        return tuple(self.levels) if self.unknown in self.levels else (*self.levels, self.unknown)

    def _codes(self, raw: RawColumn, missing_values: Collection[str]) -> Codes:
        codes = level_codes(self.levels, raw, missing_values)
        levels = self.all_levels()
        codes[codes == UNKNOWN] = levels.index(self.unknown)
        if self.missing == "level":
            codes[codes == MISSING] = levels.index(MISSING_LEVEL)
        elif self.missing == "constant":
            codes[codes == MISSING] = levels.index(self.fill)
        return codes
