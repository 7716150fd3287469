"""The place of each value among declared levels."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .values import Raw, as_numbers, as_texts

UNKNOWN, MISSING = -1, -2
Codes = npt.NDArray[np.int64]


def level_codes(levels: Sequence[Any], raw: Raw, missing_values: Collection[str]) -> Codes:
    """Return the place of each value among the levels, or UNKNOWN, or MISSING.

    Numbers are compared as numbers if every level is one, so that 1, 1.0 and "1" agree; else as text.

    Examples
    --------
    >>> level_codes(["a", "b"], np.array(["b", " a", "z", ""], dtype=object), {""})
    array([ 1,  0, -1, -2])
    """
    if all(isinstance(level, (int, float)) and not isinstance(level, bool) for level in levels):
        return _codes_of_numbers(levels, raw, missing_values)
    lookup: dict[str | None, int] = {str(level).strip(): code for code, level in enumerate(levels)}
    lookup[None] = MISSING
    texts = as_texts(raw, missing_values)
    return np.fromiter((lookup.get(text, UNKNOWN) for text in texts), dtype=np.int64, count=len(texts))


def _codes_of_numbers(levels: Sequence[Any], raw: Raw, missing_values: Collection[str]) -> Codes:
    numbers = as_numbers(raw, missing_values)
    codes = np.full(len(raw), UNKNOWN, dtype=np.int64)
    for code, level in enumerate(levels):
        codes[numbers == float(level)] = code
    absent = np.isnan(numbers)
    if raw.dtype.kind == "O":
        absent[absent] = [text is None for text in as_texts(raw[absent], missing_values)]
    codes[absent] = MISSING
    return codes
