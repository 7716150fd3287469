"""Checks of public parameters, in full sentences."""

from __future__ import annotations

import math

from ..errors import InvalidArgument


def positive(**values: float) -> None:
    """Refuse anything that is not a finite number above zero."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InvalidArgument(f"{name} must be a finite number above 0, not {value!r}")


def share(**values: float) -> None:
    """Refuse anything outside (0, 1]."""
    for name, value in values.items():
        if not 0 < value <= 1:
            raise InvalidArgument(f"{name} must lie in (0, 1], not {value!r}")


def batch(b: int, n: int) -> None:
    """Refuse a batch that cannot be drawn without replacement."""
    if int(b) != b or int(n) != n or not 1 <= b <= n:
        raise InvalidArgument(f"a batch of b out of n records needs whole numbers 1 <= b <= n, not b={b!r}, n={n!r}")
