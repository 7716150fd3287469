"""Bayesian posteriors with a differential-privacy guarantee: epsilon and delta in, posterior draws out."""

from . import accounting
from .data import Data
from .ledger import Ledger
from .max_step_size import max_step_size
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
from .plan import Plan, plan
from .posterior import Posterior
from .priors import Flat, Laplace, Normal, StudentT
from .public import Public
from .quantiles import PrivateBounds, Quantiles, private_bounds, private_quantiles
from .run import sample
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
    Piecewise,
    Polynomial,
    PosteriorSample,
)
from .schema import Binary, Category, Number, Schema

__version__ = "0.1.0"

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
