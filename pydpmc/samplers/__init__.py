"""The list of samplers: add yours here."""

from .barker import Barker

ALL: tuple[type, ...] = (Barker,)

__all__ = ["ALL", "Barker"]
