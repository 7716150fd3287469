"""Targets drawn from a model: what rehearsals are made of. No record is involved."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.public import Public
from ..errors import InvalidArgument
from .base import Model
from .own.model import OwnModel
from .poisson_regression import LARGEST_LOG_MEAN

Floats = npt.NDArray[np.float64]
Parameters = dict[str, Floats]
MOST_COUNT = 1e9


def simulate(model: Model, parameters: Parameters, x: Floats, random: np.random.Generator) -> Floats:
    """Return a target for each row of `x`; for models without one, the rows themselves.

    Parameters
    ----------
    parameters
        The true value of each block, shape (size,).

    Examples
    --------
    >>> import pydpmc as dp
    >>> x = np.ones((1000, 1))
    >>> y = simulate(dp.LogisticRegression(), {"beta": np.array([9.0])}, x, np.random.default_rng(0))
    >>> bool(y.mean() > 0.99)
    True
    """
    if isinstance(model, OwnModel):
        return model.simulate(parameters, x, random)
    maker = MAKERS.get(model.core_name)
    if maker is None:
        raise InvalidArgument(f"{type(model).__name__} cannot be rehearsed: nothing is known of how its targets arise")
    return np.asarray(maker(model, parameters, x, random), dtype=np.float64)


def prior_draw(model: Model, public: Public, random: np.random.Generator) -> Parameters:
    """Return a value of each block, drawn from its prior.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=9, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> drawn = prior_draw(dp.LogisticRegression(intercept=True), public, np.random.default_rng(0))
    >>> {name: values.shape for name, values in drawn.items()}
    {'intercept': (1,), 'beta': (2,)}
    """
    drawn = {}
    for block in model.blocks(public):
        values = model.block_prior(block).draw(block.size, random.uniform(1e-12, 1.0 - 1e-12, block.size))
        drawn[block.name] = np.abs(values) if block.positive else values
    return drawn


def predictors(parameters: Parameters, x: Floats) -> Floats:
    """Return the linear predictor of each row."""
    found = x @ parameters["beta"]
    return np.asarray(found + parameters["intercept"] if "intercept" in parameters else found)


def _bernoulli(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    return random.random(len(x)) < 1.0 / (1.0 + np.exp(-np.clip(predictors(parameters, x), -700.0, 700.0)))


def _probit(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    return random.normal(size=len(x)) < predictors(parameters, x)


def _coin(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    return random.random((len(x), 1)) < 1.0 / (1.0 + np.exp(-parameters["theta"]))


def _normal(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    sigma = float(parameters["sigma"][0]) if "sigma" in parameters else model.sigma
    return predictors(parameters, x) + sigma * random.normal(size=len(x))


def _huber(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    """Return errors with the density exp(-huber(u)): normal within the threshold, exponential beyond."""
    k = model.threshold
    inside = math.sqrt(2.0 * math.pi) * math.erf(k / math.sqrt(2.0))
    beyond = 2.0 / k * math.exp(-(k**2) / 2.0)
    residuals = random.normal(size=len(x))
    while (far := np.abs(residuals) > k).any():
        residuals[far] = random.normal(size=int(far.sum()))
    tail = random.random(len(x)) < beyond / (inside + beyond)
    signs = np.where(random.random(len(x)) < 0.5, -1.0, 1.0)
    residuals = np.where(tail, signs * (k + random.exponential(1.0 / k, len(x))), residuals)
    return predictors(parameters, x) + model.sigma * residuals


def _poisson(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    means = np.exp(np.minimum(predictors(parameters, x), LARGEST_LOG_MEAN))
    return random.poisson(np.minimum(means, MOST_COUNT))


def _negative_binomial(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    means = np.exp(np.minimum(predictors(parameters, x), LARGEST_LOG_MEAN))
    mixed = means * random.gamma(1.0 / model.dispersion, model.dispersion, len(x))
    return random.poisson(np.minimum(mixed, MOST_COUNT))


def _softmax(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    scores = x @ parameters["beta"].reshape(model.classes, -1).T
    scores = scores + parameters.get("intercept", np.zeros(1))
    return (scores + random.gumbel(size=scores.shape)).argmax(axis=1)


def _gaussian(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    return parameters["theta"] + model.sigma * random.normal(size=x.shape)


def _mixture(model: Any, parameters: Parameters, x: Floats, random: np.random.Generator) -> Any:
    first, second = parameters["theta"]
    centre = np.where(random.random(len(x)) < 0.5, first, first + second)
    return (centre + math.sqrt(model.variance) * random.normal(size=len(x)))[:, None]


MAKERS: dict[str, Callable[[Any, Parameters, Floats, np.random.Generator], Any]] = {
    "logistic_regression": _bernoulli,
    "hinge_classifier": _bernoulli,
    "probit_regression": _probit,
    "bernoulli_logit": _coin,
    "linear_regression": _normal,
    "huber_regression": _huber,
    "poisson_regression": _poisson,
    "negative_binomial_regression": _negative_binomial,
    "softmax_regression": _softmax,
    "gaussian_mean": _gaussian,
    "gaussian_mixture": _mixture,
}
