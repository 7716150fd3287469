"""The list of samplers: add yours here."""

from .barker import Barker
from .conjugate import ConjugateSample
from .gradient import GradientSampler
from .hybrid import Hybrid
from .langevin import Langevin
from .nuts import NUTS
from .posterior_sample import PosteriorSample
from .schedules import Constant, Cyclical, Piecewise, Polynomial
from .sgfs import SGFS
from .sghmc import SGHMC
from .sgld import SGLD
from .sgnht import SGNHT

ALL: tuple[type, ...] = (Barker, SGLD, SGHMC, SGNHT, SGFS, Langevin)  # unconditional
CONDITIONAL: tuple[type, ...] = (PosteriorSample,)  # the guarantee rests on assumptions
NOT_PRIVATE: tuple[type, ...] = (NUTS,)
OF_SOME_MODELS: tuple[type, ...] = (ConjugateSample,)  # unconditional, where the posterior has a closed form
OF_OTHER_SAMPLERS: tuple[type, ...] = (Hybrid,)

__all__ = [
    "ALL",
    "CONDITIONAL",
    "NOT_PRIVATE",
    "NUTS",
    "OF_OTHER_SAMPLERS",
    "OF_SOME_MODELS",
    "SGFS",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Barker",
    "ConjugateSample",
    "Constant",
    "Cyclical",
    "GradientSampler",
    "Hybrid",
    "Langevin",
    "Piecewise",
    "Polynomial",
    "PosteriorSample",
]
