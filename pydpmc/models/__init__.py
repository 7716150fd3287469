"""The list of models: add yours here, to csrc/models/all.hpp and to ModelKind."""

from .base import Block, Model
from .bernoulli_logit import BernoulliLogit
from .gaussian_mean import GaussianMean
from .gaussian_mixture import GaussianMixture
from .hinge_classifier import HingeClassifier
from .huber_regression import HuberRegression
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .poisson_regression import PoissonRegression
from .softmax_regression import SoftmaxRegression

ALL: tuple[type[Model], ...] = (
    LogisticRegression,
    LinearRegression,
    BernoulliLogit,
    GaussianMean,
    GaussianMixture,
    PoissonRegression,
    HingeClassifier,
    HuberRegression,
    SoftmaxRegression,
)

__all__ = [
    "ALL",
    "BernoulliLogit",
    "Block",
    "GaussianMean",
    "GaussianMixture",
    "HingeClassifier",
    "HuberRegression",
    "LinearRegression",
    "LogisticRegression",
    "Model",
    "PoissonRegression",
    "SoftmaxRegression",
]
