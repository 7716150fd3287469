"""The functions of ``scipy.special``, imported when the first is used: importing them takes as long as all the rest."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    return getattr(special, name)
