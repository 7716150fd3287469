"""The list of samplers: add yours here."""

from .barker.spec import Barker
from .conjugate.spec import ConjugateSample
from .gradient.base import GradientSampler
from .gradient.schedules import Constant, Cyclical, Piecewise, Polynomial
from .gradient.sgfs import SGFS
from .gradient.sghmc import SGHMC
from .gradient.sgld import SGLD
from .gradient.sgnht import SGNHT
from .hybrid.spec import Hybrid
from .langevin.spec import Langevin
from .newton.spec import Newton
from .nuts.spec import NUTS
from .posterior_sample.spec import PosteriorSample

ALL: tuple[type, ...] = (Barker, SGLD, SGHMC, SGNHT, SGFS, Langevin)  # unconditional
CONDITIONAL: tuple[type, ...] = (PosteriorSample,)  # the guarantee rests on assumptions
NOT_PRIVATE: tuple[type, ...] = (NUTS,)
OF_SOME_MODELS: tuple[type, ...] = (ConjugateSample, Newton)  # unconditional, for models that they have a proof for
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
    "Newton",
    "Piecewise",
    "Polynomial",
    "PosteriorSample",
]
