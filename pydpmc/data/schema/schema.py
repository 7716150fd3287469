"""Schema: the columns of a table, declared; from it the public facts, and the encoded records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...checks import given, positive, visible, whole
from ...errors import SchemaError
from ..columns import Floats, RawColumn, label_codes
from ..data import Data
from ..public import Public
from .column import Column, Features
from .interactions import check_interaction, interaction_features, interaction_values
from .number import Number
from .tables import columns_of

ROUNDING = 1e-12  # of the implied norm, upwards: a record at all its bounds must not be scaled down


@dataclass(frozen=True)
class Schema:
    """The public facts of a table, declared once.

    Parameters
    ----------
    columns
        ``Number``, ``Category`` or ``Binary`` by column name. Other columns of a table are not read.
    target
        Name of the column that is the target; None for models without one.
    group
        Name of a column that says which records belong together (a person, a household); the group is then what is
        protected. Records without a label are one group together.
    max_group_size
        Public bound on the records of a group; of a larger one only the first are used.
    interactions
        Pairs (or more) of feature columns whose products are features too.
    row_norm
        Public bound on the norm of an encoded record; longer ones are scaled down to it. None takes what the
        declared columns imply, and then nothing is scaled down.
    missing
        Policy for missing values of the columns that do not state their own, such as ``"drop"``.
    missing_values
        Texts that stand for a missing value, besides NaN and null.

    Examples
    --------
    >>> import pydpmc as dp
    >>> schema = dp.Schema(
    ...     {"age": dp.Number(17, 90), "school": dp.Category(["HS", "BA"]), "rich": dp.Binary(positive=">50K")},
    ...     target="rich",
    ...     missing="drop",
    ... )
    >>> data = schema.data({"age": [90, 53.5], "school": ["BA", "none"], "rich": [">50K", "<=50K"]})
    >>> data.public.columns
    ('age', 'school=BA', 'school=other')
    >>> round(data.public.row_norm, 6)
    1.414214
    """

    columns: Mapping[str, Column]
    target: str | None = None
    group: str | None = None
    interactions: Sequence[Sequence[str]] = ()
    row_norm: float | None = None
    missing: str | None = None
    missing_values: Sequence[str] = ("",)
    max_group_size: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping) or not self.columns:
            raise SchemaError("columns must map at least one column name to Number, Category or Binary")
        decided = {name: self._decided(name, column) for name, column in self.columns.items()}
        object.__setattr__(self, "columns", decided)
        if self.target is not None and self.target not in decided:
            raise SchemaError(f"target must be one of the columns {list(decided)}, not {self.target!r}")
        if self.group is not None and self.group in decided:
            raise SchemaError(f"group must not be a declared column: {self.group!r} would be a feature or the target")
        if self.max_group_size is not None and self.group is None:
            raise SchemaError("max_group_size was given but group was not")
        if not self.features:
            raise SchemaError("columns must hold at least one column besides the target")
        object.__setattr__(self, "interactions", tuple(tuple(names) for names in self.interactions))
        for names in self.interactions:
            check_interaction(names, self.features)
        if self.row_norm is not None:
            positive(self.row_norm, "row_norm")
        if isinstance(self.missing_values, str) or not isinstance(self.missing_values, Iterable):
            raise SchemaError(
                f'missing_values must be a list of texts such as ["", "?"], not {given(self.missing_values)}'
            )
        object.__setattr__(self, "missing_values", tuple(text.strip() for text in self.missing_values))

    @classmethod
    def from_toml(cls, path: str | Path) -> Schema:
        """Return the schema in the ``[schema]`` table of a TOML file; errors name the line."""
        from .toml import schema_from_toml

        return schema_from_toml(Path(path))

    @property
    def features(self) -> dict[str, Column]:
        """The columns that are not the target."""
        return {name: column for name, column in self.columns.items() if name != self.target}

    @property
    def implied_row_norm(self) -> float:
        """The largest norm of an encoded record that the declared columns allow."""
        return math.sqrt(sum(part.squared_norm for part in self._parts())) * (1.0 + ROUNDING)

    def public(
        self,
        n: int,
        public_n: int | None = None,
        base_rate: float | None = None,
        typical_norm: float | None = None,
    ) -> Public:
        """Return the public facts of a table of `n` records (groups, if declared), for planning before there is one."""
        parts = self._parts()
        return Public(
            n=whole(n, "n"),
            columns=tuple(name for part in parts for name in part.names),
            has_target=self.target is not None,
            row_norm=self.implied_row_norm if self.row_norm is None else float(self.row_norm),
            x_bounds=tuple(bounds for part in parts for bounds in part.bounds),
            y_bounds=None if self.target is None else self.columns[self.target].target_bounds(),
            target_levels=None if self.target is None else self.columns[self.target].target_levels(),
            public_n=public_n,
            grouped=self.group is not None,
            max_group_size=self.max_group_size,
            base_rate=base_rate,
            typical_norm=typical_norm,
        )

    def data(self, table: Any, **options: Any) -> Data:
        """Return the encoded records of a table.

        Parameters
        ----------
        table
            A pandas, polars or pyarrow table, the path of a CSV or Parquet file, a mapping or structured array of
            columns, or a two-dimensional array with the columns of the schema in their order. Memory maps too.
        options
            ``public_n``, ``storage``, ``base_rate``, ``typical_norm``: further arguments of ``Data``.

        Returns
        -------
        Data
            Whatever the records hold, no error depends on them: values are clamped, unknown levels go to the
            declared one, missing values follow their policy.
        """
        return self.of_columns(self.raw(table), **options)

    @property
    def wanted(self) -> list[str]:
        """The columns of a table that are read."""
        return [*self.columns, *([self.group] if self.group is not None else [])]

    def raw(self, table: Any) -> dict[str, RawColumn]:
        """Return the columns of a table that are read, each value as it stands."""
        return columns_of(table, self.wanted, self.wanted, self._numbers())

    def of_columns(self, raw: Mapping[str, RawColumn], **options: Any) -> Data:
        """Return the encoded records of columns that were read already."""
        target = None
        if self.target is not None:
            target = self.columns[self.target].encode_target(raw[self.target], self.missing_values)
        if self.group is not None:
            options |= {"groups": label_codes(raw[self.group]), "max_group_size": self.max_group_size}
        public = self.public(n=max(1, len(raw[self.wanted[0]])))
        data = Data(
            self._encoded(raw),
            target,
            row_norm=public.row_norm,
            x_bounds=tuple(np.array(public.x_bounds).T),
            y_bounds=public.y_bounds,
            target_levels=public.target_levels,
            columns=public.columns,
            **({"one_hot": self._one_hot()} | options),
        )
        data.schema = self
        return data

    def encode(self, table: Any) -> Floats:
        """Return the features of new records, for ``post.predict``; the table needs no target."""
        names = list(self.features)
        return self._encoded(columns_of(table, names, names, self._numbers()))

    def sample(self, count: int, random: np.random.Generator) -> dict[str, npt.NDArray[Any]]:
        """Return made-up values of every feature, each column by itself, within what is declared."""
        return {name: column.sample(count, random) for name, column in self.features.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain values, as a study file spells it."""
        from .plain import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Schema:
        """Return the inverse of `to_dict`."""
        from .plain import from_dict

        return from_dict(saved)

    def __str__(self) -> str:
        lines = [
            f"  {visible(name):<20} {column.describe()}; missing: {column.missing}" for name, column in self.rows()
        ]
        roles = [f"target: {visible(str(self.target))}", f"row_norm: {self.row_norm or self.implied_row_norm:.6g}"]
        return "\n".join(["Schema", *lines, "  " + "; ".join(roles)])

    def rows(self) -> list[tuple[str, Column]]:
        """Return names and declarations of the columns."""
        return list(self.columns.items())

    def _decided(self, name: str, column: Any) -> Column:
        if not isinstance(column, Column):
            raise SchemaError(f"column {name!r} must be a Number, Category or Binary, not {type(column).__name__}")
        try:
            return column.with_policy(self.missing)
        except ValueError as error:
            raise SchemaError(f"column {name!r}: {error}") from None

    def _parts(self) -> list[Features]:
        parts = {name: column.features(name) for name, column in self.features.items()}
        products = [interaction_features([parts[name] for name in names]) for names in self.interactions]
        return [*parts.values(), *products]

    def _numbers(self) -> list[str]:
        return [name for name, column in self.columns.items() if isinstance(column, Number)]

    def _one_hot(self) -> list[range]:
        blocks, width = [], 0
        for part in self._parts():
            blocks += [range(width, width + len(part.names))] if part.one_hot else []
            width += len(part.names)
        return blocks

    def _encoded(self, raw: Mapping[str, Any]) -> Floats:
        with np.errstate(all="ignore"):  # a warning would depend on the records
            parts = {name: column.encode(raw[name], self.missing_values) for name, column in self.features.items()}
            products = [interaction_values([parts[name] for name in names]) for names in self.interactions]
        return np.concatenate([*parts.values(), *products], axis=1)
