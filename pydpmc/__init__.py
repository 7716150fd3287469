"""Bayesian posteriors with a differential-privacy guarantee: epsilon and delta in, posterior draws out."""

from . import accounting
from .data import Data
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
from .run import sample
from .samplers import SGFS, SGHMC, SGLD, SGNHT, Barker, Constant, Cyclical, Langevin, Piecewise, Polynomial

__version__ = "0.1.0"

__all__ = [
    "SGFS",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Barker",
    "BernoulliLogit",
    "Constant",
    "Cyclical",
    "Data",
    "Flat",
    "GaussianMean",
    "GaussianMixture",
    "HingeClassifier",
    "HuberRegression",
    "Langevin",
    "Laplace",
    "LinearRegression",
    "LogisticRegression",
    "Normal",
    "Piecewise",
    "Plan",
    "PoissonRegression",
    "Polynomial",
    "Posterior",
    "Public",
    "SoftmaxRegression",
    "StudentT",
    "accounting",
    "max_step_size",
    "plan",
    "sample",
]
