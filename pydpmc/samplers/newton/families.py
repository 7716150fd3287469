"""What Newton knows of each model: what a record can contribute, what a look means, where it is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.public import Public
from ...errors import InvalidArgument, UnsupportedEventError
from ...models import (
    BernoulliLogit,
    GaussianMean,
    HuberRegression,
    LinearRegression,
    LogisticRegression,
    Model,
    NegativeBinomialRegression,
    PoissonRegression,
    ProbitRegression,
    SoftmaxRegression,
)
from . import links
from .links import Link
from .sensitivity import (
    COIN_FREE,
    LINEAR_FREE,
    LOGISTIC_FREE,
    NOT_FREE,
    POISSON_FREE,
    PROBIT_FREE,
    Bounds,
    count_free,
)

ROUNDING_OF_NORM = 1.0 + 1e-12  # times the bound: a longer row counts for nothing
DENSITY_AT_ZERO = 1.0 / math.sqrt(2.0 * math.pi)  # of a standard normal
FEW, FAR_OFF = 0.25, 100.0  # 1/dispersion over the largest count, below which means need no limit; a log mean
OFFERED = (
    "LogisticRegression, ProbitRegression, BernoulliLogit, LinearRegression with a known sigma, HuberRegression, "
    "PoissonRegression, NegativeBinomialRegression, SoftmaxRegression"
)


@dataclass(frozen=True)
class Family:
    """A model at a look.

    Attributes
    ----------
    link
        What gradient and curvature mean.
    radius
        R: the bound on the norm of a row, with the intercept's 1.
    constant
        The value of the first column if that is an intercept.
    bounds
        What one record can contribute.
    curvature
        The forecast curvature of a record in its predictor.
    limits
        Public limits of the terms in the core.
    scale
        What the core's curvature is multiplied by after its release.
    predictors
        Linear predictors of a record: the classes of a softmax. The released curvature is then sum x x'.
    variance
        The forecast variance of a record's score in its predictor; None if it is the curvature.
    """

    link: Link
    radius: float
    constant: float | None
    bounds: Bounds
    curvature: float
    limits: tuple[float, float] = (0.0, 0.0)
    scale: float = 1.0
    variance: float | None = None
    predictors: int = 1


def family_of(model: Model, public: Public, clip: float) -> Family:
    """Return what is known of a model, or refuse it; `clip` is where linear residuals are clipped, over sigma."""
    makers: dict[type, Callable[[Any, Public, float], Family]] = {
        LogisticRegression: _logistic,
        ProbitRegression: _probit,
        BernoulliLogit: _coin,
        LinearRegression: _linear,
        HuberRegression: _huber,
        PoissonRegression: _poisson,
        NegativeBinomialRegression: _negative_binomial,
        SoftmaxRegression: _softmax,
    }
    maker = makers.get(type(model))
    if maker is None:
        raise UnsupportedEventError(
            f"Newton has no proven sensitivity for {type(model).__name__}; it takes {OFFERED}. Use "
            f"{'ConjugateSample' if isinstance(model, GaussianMean) else 'SGLD or Barker'}"
        )
    return maker(model, public, clip)


def _radius(model: Any, public: Public) -> float:
    norm = model.norm(public)
    if norm is None or norm == 0.0:
        raise InvalidArgument("Newton needs a declared bound on the rows: pass row_norm or x_bounds to Data")
    return float(norm)


def _constant(model: Any) -> float | None:
    return 1.0 if model.intercept else None


def _logistic(model: LogisticRegression, public: Public, clip: float) -> Family:
    radius = _radius(model, public)
    bounds = Bounds(radius, radius**2 / 4.0, LOGISTIC_FREE)
    return Family(links.logistic(), radius, _constant(model), bounds, 0.25)


def _probit(model: ProbitRegression, public: Public, clip: float) -> Family:
    radius = _radius(model, public)
    bounds = Bounds(radius, DENSITY_AT_ZERO * radius**2, PROBIT_FREE)
    return Family(links.probit(), radius, _constant(model), bounds, DENSITY_AT_ZERO, variance=0.25)


def _coin(model: BernoulliLogit, public: Public, clip: float) -> Family:
    return Family(links.logistic(), 1.0, 1.0, Bounds(1.0, 0.25, COIN_FREE, apart=1.0), 0.25)


def _linear(model: LinearRegression, public: Public, clip: float) -> Family:
    if model.sigma is None:
        raise UnsupportedEventError("Newton takes LinearRegression with a known sigma only; pass sigma, or use SGLD")
    sigma, radius = model.sigma, _radius(model, public)
    share, _ = links.clipped_moments(clip)
    bounds = Bounds(clip * radius / sigma, (radius / sigma) ** 2, LINEAR_FREE)
    link = links.clipped_linear(sigma, clip)
    return Family(link, radius, _constant(model), bounds, share / sigma**2, (clip * sigma, 0.0), share)


def _huber(model: HuberRegression, public: Public, clip: float) -> Family:
    radius, link = _radius(model, public), links.huber(model.sigma, model.threshold)
    bounds = Bounds(model.threshold / model.sigma * radius, (radius / model.sigma) ** 2, NOT_FREE)
    return Family(link, radius, _constant(model), bounds, float(link.curvature(np.zeros(1))[0]))


def _poisson(model: PoissonRegression, public: Public, clip: float) -> Family:
    radius, most = _radius(model, public), _largest_count(model, public)
    top = math.log(most / 2.0)
    bounds = Bounds(most * radius, most / 2.0 * radius**2, POISSON_FREE)
    return Family(links.poisson(top), radius, _constant(model), bounds, min(1.0, most / 2.0), (most, top))


def _negative_binomial(model: NegativeBinomialRegression, public: Public, clip: float) -> Family:
    radius, most = _radius(model, public), _largest_count(model, public)
    size = 1.0 / model.dispersion
    share, top = size / most, FAR_OFF
    if share > FEW:
        share, top = size / (2.0 * size + most), math.log(most / 2.0)
    bounds = Bounds(most * radius, share * most * radius**2, count_free(share))
    typical = min(1.0, most / 2.0)
    link = links.negative_binomial(model.dispersion, most, top)
    curvature = typical / (1.0 + model.dispersion * typical)
    return Family(link, radius, _constant(model), bounds, curvature, (most, top))


def _softmax(model: SoftmaxRegression, public: Public, clip: float) -> Family:
    radius, classes = _radius(model, public), model.classes
    bounds = Bounds(math.sqrt(2.0) * radius, radius**2, LINEAR_FREE)
    curvature = (classes - 1) / classes**2
    return Family(links.moments(), radius, _constant(model), bounds, curvature, predictors=classes)


def _largest_count(model: Model, public: Public) -> float:
    name = type(model).__name__
    if public.y_bounds is None:
        raise InvalidArgument(f"{name} by Newton needs declared counts: pass y_bounds to Data")
    low, high = public.y_bounds
    if low < 0.0 or high < 1.0:
        raise InvalidArgument(f"{name} by Newton needs y_bounds from 0 to at least 1, not ({low:g}, {high:g})")
    return high
