"""Privacy accounting: describe what is released, get epsilon and delta that are never understated.

>>> from pydpmc import accounting as acc
>>> g = acc.compose([(acc.AcceptBit(shift=0.063), 250)], adjacency="replace")
>>> g.epsilon(1e-6) < 2.25
True
"""

from .amplification import without_replacement
from .bounded_range import AcceptBit, BoundedRange
from .calibration import calibrate
from .events import Event, ProfileEvent
from .gaussian import GDP, Gaussian
from .gibbs import gaussian_mean_weight, gibbs_mu, gibbs_weight
from .guarantee import Guarantee, combine, compose
from .heikkila2019 import heikkila2019
from .interchange import from_dp_event
from .langevin_iterate import LangevinIterate
from .minami2016 import minami2016_gaussian_mean_weight, minami2016_steps, minami2016_weight
from .minibatch_accept_bit import MinibatchAcceptBit
from .poisson_gaussian import PoissonGaussian
from .pure_dp import PureDP
from .registry import EVENT_TYPES
from .without_replacement_gaussian import WithoutReplacementGaussian

__all__ = [
    "EVENT_TYPES",
    "GDP",
    "AcceptBit",
    "BoundedRange",
    "Event",
    "Gaussian",
    "Guarantee",
    "LangevinIterate",
    "MinibatchAcceptBit",
    "PoissonGaussian",
    "ProfileEvent",
    "PureDP",
    "WithoutReplacementGaussian",
    "calibrate",
    "combine",
    "compose",
    "from_dp_event",
    "gaussian_mean_weight",
    "gibbs_mu",
    "gibbs_weight",
    "heikkila2019",
    "minami2016_gaussian_mean_weight",
    "minami2016_steps",
    "minami2016_weight",
    "without_replacement",
]
