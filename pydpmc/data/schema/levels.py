"""The place of each value among declared levels."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..columns import Codes, RawColumn, codes, equals, spread
from ..values import Key, as_number, canonical, missing_keys

UNKNOWN, MISSING = -1, -2
FEW_LEVELS = 16  # that are compared with a whole array one by one


def level_codes(levels: Sequence[Any], raw: RawColumn, missing_values: Collection[str]) -> Codes:
    """Return the place of each value among the levels, or UNKNOWN, or MISSING.

    Values are compared in their canonical form, so that 1, 1.0, True and "1" agree. If every level is declared as a
    number, a text that can be read as one of them is it, such as "01".

    Examples
    --------
    >>> from pydpmc.data.columns import of_values
    >>> level_codes(["a", "b"], of_values(["b", " a", "z", "", 3]), {""})
    array([ 1,  0, -1, -2, -1])
    """
    places: dict[Key, int] = {canonical(level): code for code, level in enumerate(levels)}
    places |= dict.fromkeys(missing_keys(missing_values), MISSING)
    if raw.is_numbers and len(places) <= FEW_LEVELS:
        return _codes_of_numbers(places, raw)
    if not all(isinstance(level, (int, float)) for level in levels):
        return codes(raw, lambda key: places.get(key, UNKNOWN), MISSING)

    def code(key: Key) -> int:
        found = places.get(key, UNKNOWN)
        return places.get(canonical(as_number(key)), UNKNOWN) if found == UNKNOWN and _is_spelt(key) else found

    return codes(raw, code, MISSING)


def _is_spelt(key: Key) -> bool:
    return isinstance(key, str) and not math.isnan(as_number(key))


def _codes_of_numbers(places: dict[Key, int], raw: RawColumn) -> Codes:
    found = np.full(len(raw.values), UNKNOWN, dtype=np.int64)
    if raw.values.dtype.kind == "f":
        found[np.isnan(raw.values)] = MISSING
    for key, code in places.items():
        found[equals(raw.values, key)] = code
    result: Codes = spread(raw, found, MISSING)
    return result
