"""Features in the units of the table: each is a product of (value - centre) / scale."""

from __future__ import annotations

import math
from typing import NamedTuple

from .column import Column
from .number import Number
from .schema import Schema


class Factor(NamedTuple):
    """A factor of a feature: (value - centre) / scale, the value in the units of the table."""

    name: str
    centre: float
    scale: float


def factors_of(schema: Schema) -> list[tuple[Factor, ...]]:
    """Return the factors of every feature, in the order of the encoded columns.

    Examples
    --------
    >>> factors_of(Schema({"age": Number(10, 90)}, missing="drop"))
    [(Factor(name='age', centre=50.0, scale=40.0),)]
    """
    parts = {name: _column_factors(name, column) for name, column in schema.features.items()}
    found: list[tuple[Factor, ...]] = [(factor,) for part in parts.values() for factor in part]
    for names in schema.interactions:
        products: list[tuple[Factor, ...]] = [()]
        for name in names:
            products = [(*product, factor) for product in products for factor in parts[name]]
        found += products
    return found


def _column_factors(name: str, column: Column) -> list[Factor]:
    if not isinstance(column, Number):
        return [Factor(feature, 0.0, 1.0) for feature in column.features(name).names]
    steps = ("standardise",) if column.transform is None else column.transform
    low, high = column.low, column.high
    if "log1p" in steps:
        name, low, high = f"log1p({name})", math.log1p(low), math.log1p(high)
    if "standardise" not in steps:
        return [Factor(name, 0.0, 1.0)]
    return [Factor(name, (low + high) / 2, (high - low) / 2)]
