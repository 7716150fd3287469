"""Checks of public numbers, in full sentences that name the argument."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from .errors import InvalidArgument


def whole(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`, also if written as a float such as 1e5, or refuse it.

    Examples
    --------
    >>> whole(1e5, "steps")
    100000
    """
    is_whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if isinstance(value, bool) or not is_whole or value < least or (most is not None and value > most):
        raise InvalidArgument(f"{name} must be a {_described(least, most)}, not {value!r}")
    return int(value)


def _described(least: int, most: int | None) -> str:
    if most is not None:
        return f"whole number from {least} to {most}"
    return "positive whole number" if least == 1 else f"whole number of at least {least}"
