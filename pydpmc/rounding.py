"""Numbers for people, rounded against ourselves."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context


def upper(value: float, digits: int = 6) -> str:
    """A bound in so many digits, never below the number itself.

    Examples
    --------
    >>> upper(0.12345678), upper(1.0), upper(0.0)
    ('0.123457', '1', '0')
    """
    return _rounded(value, digits, ROUND_CEILING)


def lower(value: float, digits: int = 6) -> str:
    """A noise level in so many digits, never above the number itself.

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
