"""Bayesian posteriors with a differential-privacy guarantee: epsilon and delta in, posterior draws out."""

from . import accounting
from .data import Data
from .models import (
    BernoulliLogit,
    GaussianMean,
    GaussianMixture,
    HingeClassifier,
    HuberRegression,
    LinearRegression,
    LogisticRegression,
    PoissonRegression,
)
from .plan import Plan, plan
from .posterior import Posterior
from .priors import Flat, Laplace, Normal, StudentT
from .public import Public
from .run import sample
from .samplers import Barker

__version__ = "0.1.0"

__all__ = [
    "Barker",
    "BernoulliLogit",
    "Data",
    "Flat",
    "GaussianMean",
    "GaussianMixture",
    "HingeClassifier",
    "HuberRegression",
    "Laplace",
    "LinearRegression",
    "LogisticRegression",
    "Normal",
    "Plan",
    "PoissonRegression",
    "Posterior",
    "Public",
    "StudentT",
    "accounting",
    "plan",
    "sample",
]
