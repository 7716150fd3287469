"""Products of features."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...errors import SchemaError
from ..columns import Floats
from .column import Column, Features
from .number import Number


def check_interaction(names: Sequence[str], features: Mapping[str, Column]) -> None:
    """Refuse an interaction of columns that are not features, or of a column of 0 and 1 with itself."""
    if isinstance(names, str) or len(names) < 2:
        raise SchemaError(f"interactions must be lists of two or more columns, not {names!r}")
    for name in names:
        if name not in features:
            raise SchemaError(f"interactions: {name!r} is not a feature column; these are {list(features)}")
        if list(names).count(name) > 1 and not isinstance(features[name], Number):
            raise SchemaError(f"interactions: only a number can interact with itself, and {name!r} is none")


def interaction_features(parts: Sequence[Features]) -> Features:
    """Return names and bounds of all products, and the product of the squared norms.

    A record's products are the outer product of its parts, whose norm is the product of their norms.
    """
    names, bounds = [], []
    for combination in itertools.product(*(range(len(part.names)) for part in parts)):
        names.append(":".join(part.names[j] for part, j in zip(parts, combination, strict=True)))
        extremes = itertools.product(*(part.bounds[j] for part, j in zip(parts, combination, strict=True)))
        products = [math.prod(extreme) for extreme in extremes]
        bounds.append((min(products), max(products)))
    norm = math.prod(part.squared_norm for part in parts)
    return Features(tuple(names), tuple(bounds), norm, all(part.one_hot for part in parts))


def interaction_values(parts: Sequence[Floats]) -> Floats:
    """Return all products, in the order of `interaction_features`."""
    combined = parts[0]
    for part in parts[1:]:
        combined = (combined[:, :, None] * part[:, None, :]).reshape(len(combined), -1)
    return np.asarray(combined)
