"""Checks of public parameters, in full sentences."""

from __future__ import annotations

from ... import checks


def positive(**values: float) -> None:
    """Refuse anything that is not a finite number above zero."""
    for name, value in values.items():
        checks.positive(value, name)


def share(**values: float) -> None:
    """Refuse anything outside (0, 1]."""
    for name, value in values.items():
        checks.share(value, name)


def batch(b: int, n: int) -> None:
    """Refuse a batch that cannot be drawn without replacement."""
    checks.whole(b, "b", most=checks.whole(n, "n"))
