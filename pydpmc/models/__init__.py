"""The list of models: add yours to the imports and to ``__all__``, and ``pydpmc`` exports it."""

from .base import Block as Block
from .base import Model as Model
from .bernoulli_logit import BernoulliLogit
from .gaussian_mean import GaussianMean
from .gaussian_mixture import GaussianMixture
from .hinge_classifier import HingeClassifier
from .huber_regression import HuberRegression
from .linear_regression import LinearRegression
from .logistic_regression import LogisticRegression
from .negative_binomial_regression import NegativeBinomialRegression
from .own.compiled import from_pointer as from_pointer
from .own.jax_model import from_jax as from_jax
from .own.model import OwnModel as OwnModel
from .own.numpy_model import from_numpy as from_numpy
from .own.numpyro_model import from_numpyro as from_numpyro
from .own.parameters import Parameter as Parameter
from .own.pymc_model import from_pymc as from_pymc
from .own.torch_model import from_torch as from_torch
from .poisson_regression import PoissonRegression
from .probit_regression import ProbitRegression
from .softmax_regression import SoftmaxRegression

__all__ = [
    "BernoulliLogit",
    "GaussianMean",
    "GaussianMixture",
    "HingeClassifier",
    "HuberRegression",
    "LinearRegression",
    "LogisticRegression",
    "NegativeBinomialRegression",
    "PoissonRegression",
    "ProbitRegression",
    "SoftmaxRegression",
]

ALL: tuple[type[Model], ...] = tuple(globals()[name] for name in __all__)

OWN = (  # models from elsewhere: dp.models.from_numpyro and its siblings
    "OwnModel",
    "Parameter",
    "from_jax",
    "from_numpy",
    "from_numpyro",
    "from_pointer",
    "from_pymc",
    "from_torch",
)
