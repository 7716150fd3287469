"""The tempering weight of the likelihood, which every sampler takes in two ways."""

from __future__ import annotations

from ..checks import positive, share
from ..errors import InvalidArgument


def check_weight(w: float | None, n0: float | None) -> None:
    """Refuse a weight outside (0, 1], and one that is given twice."""
    if n0 is not None:
        positive(n0, "n0")
    if w is not None:
        share(w, "w")
    if w is not None and n0 is not None:
        raise InvalidArgument("w and n0 say the same thing (w = n0 / n): give one of them")
