"""Checks of model constants."""

import math

from ..errors import InvalidArgument


def require_positive(value: float, name: str) -> None:
    """Refuse a constant that is not a positive finite number."""
    if not (math.isfinite(value) and value > 0):
        raise InvalidArgument(f"{name} must be a positive finite number, not {value!r}")
