"""The list of samplers: add yours to the imports and to ``__all__``, and ``pydpmc`` exports it.

A gradient sampler needs no more; add any other sampler to one of the tuples below, too.
"""

from .barker.spec import Barker
from .conjugate.spec import ConjugateSample
from .gradient.base import Constant, Cyclical, Piecewise, Polynomial
from .gradient.base import GradientSampler as GradientSampler
from .gradient.dpvi import DPVI
from .gradient.sgfs import SGFS
from .gradient.sghmc import SGHMC
from .gradient.sgld import SGLD
from .gradient.sgnht import SGNHT
from .hybrid.spec import Hybrid
from .langevin.spec import Langevin
from .newton.spec import Newton
from .nuts.spec import NUTS
from .posterior_sample.spec import PosteriorSample

__all__ = [
    "DPVI",
    "NUTS",
    "SGFS",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Barker",
    "ConjugateSample",
    "Constant",
    "Cyclical",
    "Hybrid",
    "Langevin",
    "Newton",
    "Piecewise",
    "Polynomial",
    "PosteriorSample",
]

GRADIENT: tuple[type, ...] = tuple(
    kind for kind in (globals()[name] for name in __all__) if issubclass(kind, GradientSampler)
)
ALL: tuple[type, ...] = (Barker, *GRADIENT, Langevin)  # the guarantee is unconditional
CONDITIONAL: tuple[type, ...] = (PosteriorSample,)  # the guarantee rests on assumptions
NOT_PRIVATE: tuple[type, ...] = (NUTS,)
OF_SOME_MODELS: tuple[type, ...] = (ConjugateSample, Newton)  # unconditional, but proven for some models only
OF_OTHER_SAMPLERS: tuple[type, ...] = (Hybrid,)
