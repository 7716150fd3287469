"""Bayesian posteriors with a differential-privacy guarantee: epsilon and delta in, posterior draws out."""

from . import accounting, models, nn, samplers
from ._version import __version__ as __version__
from .data.data import Data
from .data.public import Public
from .data.schema import Binary, Category, Number, Schema
from .ledger.ledger import Ledger
from .models import *  # noqa: F403
from .models.own.compiled import get_include
from .models.priors import Flat, Laplace, Normal, StudentT, Uniform
from .planning.comparison import Comparison, compare
from .planning.max_step_size import max_step_size
from .planning.plan import Plan, plan
from .posterior.posterior import Posterior
from .posterior.synthetic_sets import SyntheticSets, combine_synthetic
from .quantiles.quantiles import PrivateBounds, Quantiles, private_bounds, private_quantiles
from .quantiles.shares import Shares, private_shares
from .running.opendp import to_opendp
from .running.pilot import Pilot, pilot
from .running.rehearsal import Rehearsal
from .running.run import sample
from .samplers import *  # noqa: F403

__all__ = [
    "Binary",
    "Category",
    "Comparison",
    "Data",
    "Flat",
    "Laplace",
    "Ledger",
    "Normal",
    "Number",
    "Pilot",
    "Plan",
    "Posterior",
    "PrivateBounds",
    "Public",
    "Quantiles",
    "Rehearsal",
    "Schema",
    "Shares",
    "StudentT",
    "SyntheticSets",
    "Uniform",
    "accounting",
    "combine_synthetic",
    "compare",
    "get_include",
    "max_step_size",
    "nn",
    "pilot",
    "plan",
    "private_bounds",
    "private_quantiles",
    "private_shares",
    "sample",
    "to_opendp",
]
__all__ += models.__all__
__all__ += samplers.__all__


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*__all__, "__version__", "diagnostics", "errors", "models", "samplers"})
