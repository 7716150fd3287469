"""A number with public bounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given, number
from ...errors import InvalidArgument
from ..columns import Floats, RawColumn, numbers
from .column import Column, Features

TRANSFORMS = ("log1p", "standardise")


@dataclass(frozen=True)
class Number(Column):
    """A number with public bounds; values outside are clamped.

    Parameters
    ----------
    low, high
        Public bounds, in the units of the table.
    transform
        Any of ``"log1p"`` and ``"standardise"`` (bounds to -1 and 1), in this order. A feature is standardised by
        default, a target is left as it is.
    missing
        ``"drop"`` (the record contributes nothing, but counts) or ``"constant"`` (`fill` stands in).
    fill
        What stands in for a missing value, in the units of the table.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.Number(0, 99_999, transform=["log1p", "standardise"]).describe()
    'number in [0, 99999], log1p, standardise'
    """

    low: float
    high: float
    transform: Sequence[str] | None = None
    missing: str | None = None
    fill: float | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high") + (("fill",) if self.fill is not None else ()):
            value = number(getattr(self, name), name)
            if not math.isfinite(value):
                raise InvalidArgument(f"{name} must be a finite number, not {value!r}")
            object.__setattr__(self, name, value)
        if not self.low < self.high:
            raise InvalidArgument(f"low must be below high, but they are {self.low!r} and {self.high!r}")
        if self.transform is not None:
            object.__setattr__(self, "transform", _checked_transform(self.transform))
        if "log1p" in (self.transform or ()) and self.low <= -1:
            raise InvalidArgument(f"low must be above -1 for log1p, not {self.low!r}")

    def features(self, name: str) -> Features:
        """Return one feature of the column's name."""
        low, high = self._bounds(self._steps(target=False))
        return Features((name,), ((low, high),), max(abs(low), abs(high)) ** 2)

    def encode(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return the clamped and transformed values as one column."""
        return self._encoded(raw, missing_values, target=False)[:, None]

    def encode_target(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return the clamped and transformed values."""
        return self._encoded(raw, missing_values, target=True)

    def target_bounds(self) -> tuple[float, float]:
        """Return the bounds after the transforms."""
        return self._bounds(self._steps(target=True))

    def describe(self) -> str:
        """Return bounds and transforms."""
        return ", ".join([f"number in [{self.low:g}, {self.high:g}]", *(self.transform or ())])

    def sample(self, count: int, random: np.random.Generator) -> npt.NDArray[Any]:
        """Return values spread evenly between the bounds, on the scale of log1p if that is a transform."""
        if "log1p" in (self.transform or ()):
            return np.expm1(random.uniform(math.log1p(self.low), math.log1p(self.high), count))
        return random.uniform(self.low, self.high, count)

    def _steps(self, target: bool) -> Sequence[str]:
        if self.transform is not None:
            return self.transform
        return () if target else ("standardise",)

    def _encoded(self, raw: RawColumn, missing_values: Collection[str], target: bool) -> Floats:
        values = numbers(raw, missing_values)
        if self.missing == "constant":
            values[np.isnan(values)] = self.fill
        np.clip(values, self.low, self.high, out=values)
        low, high = self.low, self.high
        for step in self._steps(target):
            if step == "log1p":
                values, low, high = _log1p(values), math.log1p(low), math.log1p(high)
            else:
                values = (values - (low + high) / 2) / ((high - low) / 2)
        return np.clip(values, *self._bounds(self._steps(target)))

    def _bounds(self, steps: Sequence[str]) -> tuple[float, float]:
        if "standardise" in steps:
            return -1.0, 1.0
        return (math.log1p(self.low), math.log1p(self.high)) if "log1p" in steps else (self.low, self.high)


def _checked_transform(transform: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(transform, Iterable):
        raise InvalidArgument(f"transform must be some of {', '.join(TRANSFORMS)}, not {given(transform)}")
    steps = (transform,) if isinstance(transform, str) else tuple(transform)
    if [step for step in TRANSFORMS if step in steps] != list(steps):
        raise InvalidArgument(f"transform must be some of {', '.join(TRANSFORMS)}, in this order, not {list(steps)!r}")
    return steps


def _log1p(values: Floats) -> Floats:
    """Take each logarithm by itself: a vectorised one may round the same value differently in another place."""
    return np.fromiter(map(math.log1p, values.tolist()), dtype=np.float64, count=len(values))
