"""Privacy accounting: describe what is released, and get an epsilon and delta that are never understated.

>>> from pydpmc import accounting as acc
>>> g = acc.compose([(acc.AcceptBit(shift=0.063), 250)], adjacency="replace")
>>> g.epsilon(1e-6) < 2.25
True
"""

from .calibration import calibrate
from .events.amplification import without_replacement
from .events.base import Event, ProfileEvent
from .events.bounded_range import AcceptBit, BoundedRange
from .events.gaussian import GDP, Gaussian
from .events.langevin_iterate import LangevinIterate
from .events.minibatch_accept_bit import MinibatchAcceptBit
from .events.poisson_gaussian import PoissonGaussian
from .events.posterior_draw import gaussian_mean_weight, gibbs_mu, gibbs_weight, strongly_convex_weight
from .events.pure_dp import PureDP
from .events.registry import EVENT_TYPES
from .events.without_replacement_gaussian import WithoutReplacementGaussian
from .guarantee import Guarantee, combine, compose
from .interchange import from_dp_event
from .published.heikkila2019 import heikkila2019, heikkila2019_full
from .published.minami2016 import (
    minami2016_gaussian_mean_weight,
    minami2016_inflation,
    minami2016_steps,
    minami2016_strongly_convex_weight,
    minami2016_weight,
)
from .published.pac_bayes import hinge_hoeffding, pac_bayes_bound, pac_bayes_oracle

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
    "heikkila2019_full",
    "hinge_hoeffding",
    "minami2016_gaussian_mean_weight",
    "minami2016_inflation",
    "minami2016_steps",
    "minami2016_strongly_convex_weight",
    "minami2016_weight",
    "pac_bayes_bound",
    "pac_bayes_oracle",
    "strongly_convex_weight",
    "without_replacement",
]
