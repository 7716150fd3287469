"""The list of samplers: add yours here."""

from .barker import Barker
from .gradient import GradientSampler
from .langevin import Langevin
from .schedules import Constant, Cyclical, Piecewise, Polynomial
from .sgfs import SGFS
from .sghmc import SGHMC
from .sgld import SGLD
from .sgnht import SGNHT

ALL: tuple[type, ...] = (Barker, SGLD, SGHMC, SGNHT, SGFS, Langevin)

__all__ = [
    "ALL",
    "SGFS",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Barker",
    "Constant",
    "Cyclical",
    "GradientSampler",
    "Langevin",
    "Piecewise",
    "Polynomial",
]
