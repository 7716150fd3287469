"""Numbers as text, rounded so that a guarantee is never overstated."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context


def upper(value: float, digits: int = 6) -> str:
    """Return a number with this many significant digits, rounded up.

    Examples
    --------
    >>> upper(0.12345678), upper(1.0), upper(0.0)
    ('0.123457', '1', '0')
    """
    return _rounded(value, digits, ROUND_CEILING)


def lower(value: float, digits: int = 6) -> str:
    """Return a number with this many significant digits, rounded down.

    Examples
    --------
    >>> lower(0.12345678)
    '0.123456'
    """
    return _rounded(value, digits, ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    exact = Context(prec=digits, rounding=rounding).create_decimal_from_float(value)
    return f"{float(exact):.{digits}g}"
