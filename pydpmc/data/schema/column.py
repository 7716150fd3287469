"""What every kind of column declares, and how its values become numbers within public bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgument
from ..columns import Floats, RawColumn


@dataclass(frozen=True)
class Features:
    """What a column becomes: names and bounds of its features, and the largest squared norm of a record's part.

    Of `one_hot` features at most one is 1, the others are 0.
    """

    names: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]
    squared_norm: float
    one_hot: bool = False


class Column(ABC):
    """A declared column. `missing` is the policy for missing values, None to take that of the schema."""

    missing: str | None
    fill: Any
    policies: ClassVar[tuple[str, ...]] = ("drop", "constant")

    @abstractmethod
    def features(self, name: str) -> Features:
        """Return what the column becomes as a feature."""

    @abstractmethod
    def encode(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return the features, shape (n, k); NaN where a missing value drops the record."""

    @abstractmethod
    def encode_target(self, raw: RawColumn, missing_values: Collection[str]) -> Floats:
        """Return the target, shape (n,); NaN where a missing value drops the record."""

    @abstractmethod
    def target_bounds(self) -> tuple[float, float]:
        """Return the bounds of the column as a target."""

    def target_levels(self) -> tuple[str, ...] | None:
        """Return the names of the codes of the column as a target, None if it is a number."""
        return None

    @abstractmethod
    def describe(self) -> str:
        """Return the declaration in words."""

    @abstractmethod
    def sample(self, count: int, random: np.random.Generator) -> npt.NDArray[Any]:
        """Return values that the declaration allows, in the units of the table; it says no more about their law."""

    def with_policy(self, missing: str | None) -> Column:
        """Return the column with its policy for missing values decided; refuse what this kind cannot do."""
        policy = self.missing if self.missing is not None else missing
        if policy is None:
            choices = ", ".join(f'missing="{p}"' for p in self.policies)
            raise InvalidArgument(f"missing: say what a missing value means, here or for the whole schema: {choices}")
        if policy not in self.policies:
            raise InvalidArgument(f"missing must be one of {', '.join(self.policies)} for this kind, not {policy!r}")
        if policy == "constant" and self.fill is None:
            raise InvalidArgument('fill must be given with missing="constant": the value that stands in')
        return replace(self, missing=policy)  # type: ignore[type-var]
