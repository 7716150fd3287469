"""Doubles as integers that can be added in any order: what cells answer where their sums are of doubles.

A double is a whole multiple of 2^-1074, written here with signed digits in base 2^32. Each digit is an int64, so 1024
cells add without overflow, and the total is rounded to a double once. A cell's own sum has the order of its records;
which worker holds the cell, and when it answers, changes no bit.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Digits = npt.NDArray[np.int64]

UNIT = 2**1074  # as many of the smallest double are 1
DIGITS = 66  # hold every finite double; one more counts values that are not finite


def digits_of(values: Doubles) -> Digits:
    """Return the digits of each value, along a new last axis.

    Examples
    --------
    >>> parts = [digits_of(np.array([value])) for value in (1e300, 2.5, -1e300)]
    >>> doubles_of(parts[0] + parts[1] + parts[2]), doubles_of(digits_of(np.array([np.inf])))
    (array([2.5]), array([nan]))
    """
    out = np.zeros((*values.shape, DIGITS + 1), dtype=np.int64)
    for place, value in np.ndenumerate(values):
        if not math.isfinite(value):
            out[place][-1] = 1
            continue
        numerator, denominator = float(value).as_integer_ratio()
        whole = abs(numerator) * (UNIT // denominator)
        found = np.frombuffer(whole.to_bytes(4 * DIGITS, "little"), dtype="<u4").astype(np.int64)
        out[place][:-1] = found if numerator >= 0 else -found
    return out


def doubles_of(digits: Digits) -> Doubles:
    """Return the values of summed digits, each rounded once; NaN where one of them was not finite."""
    out = np.empty(digits.shape[:-1])
    for place in np.ndindex(out.shape):
        *_, strange = own = digits[place]
        total = sum(int(own[k]) << (32 * int(k)) for k in np.flatnonzero(own[:-1]))
        try:
            out[place] = math.nan if strange else total / UNIT
        except OverflowError:
            out[place] = math.nan
    return out
