"""Bayesian posteriors with a differential-privacy guarantee: epsilon and delta in, posterior draws out."""

from . import accounting
from ._version import __version__ as __version__
from .data.data import Data
from .data.public import Public
from .data.schema import Binary, Category, Number, Schema
from .ledger.ledger import Ledger
from .models import (
    BernoulliLogit,
    GaussianMean,
    GaussianMixture,
    HingeClassifier,
    HuberRegression,
    LinearRegression,
    LogisticRegression,
    PoissonRegression,
    SoftmaxRegression,
)
from .models.priors import Flat, Laplace, Normal, StudentT
from .planning.max_step_size import max_step_size
from .planning.plan import Plan, plan
from .posterior.posterior import Posterior
from .quantiles.quantiles import PrivateBounds, Quantiles, private_bounds, private_quantiles
from .running.run import sample
from .samplers import (
    NUTS,
    SGFS,
    SGHMC,
    SGLD,
    SGNHT,
    Barker,
    ConjugateSample,
    Constant,
    Cyclical,
    Hybrid,
    Langevin,
    Newton,
    Piecewise,
    Polynomial,
    PosteriorSample,
)

__all__ = [
    "NUTS",
    "SGFS",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Barker",
    "BernoulliLogit",
    "Binary",
    "Category",
    "ConjugateSample",
    "Constant",
    "Cyclical",
    "Data",
    "Flat",
    "GaussianMean",
    "GaussianMixture",
    "HingeClassifier",
    "HuberRegression",
    "Hybrid",
    "Langevin",
    "Laplace",
    "Ledger",
    "LinearRegression",
    "LogisticRegression",
    "Newton",
    "Normal",
    "Number",
    "Piecewise",
    "Plan",
    "PoissonRegression",
    "Polynomial",
    "Posterior",
    "PosteriorSample",
    "PrivateBounds",
    "Public",
    "Quantiles",
    "Schema",
    "SoftmaxRegression",
    "StudentT",
    "accounting",
    "max_step_size",
    "plan",
    "private_bounds",
    "private_quantiles",
    "sample",
]
