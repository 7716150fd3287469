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
    OwnModel,
    PoissonRegression,
    ProbitRegression,
    SoftmaxRegression,
)
from . import links
from .clips import Clip
from .counts import Counts, CountTable, count_table
from .links import Link
from .sensitivity import (
    COIN_FREE,
    LINEAR_FREE,
    LOGISTIC_FREE,
    NOT_FREE,
    PROBIT_FREE,
    Bounds,
    RootBounds,
)

ROUNDING_OF_NORM = 1.0 + 1e-12  # times the bound: a longer row counts for nothing
DENSITY_AT_ZERO = 1.0 / math.sqrt(2.0 * math.pi)  # of a standard normal
LEAST_TYPICAL = 1e-5  # of a mean count
OFFERED = (
    "LogisticRegression, ProbitRegression, BernoulliLogit, LinearRegression, HuberRegression, "
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
    table
        What the core reads the terms of counts off.
    kept, spread
        Shares of a record's information that clipping leaves in the curvature, and in the variance of the score.
    unit
        What the core's gradients and curvatures are multiples of: sigma^2 where the core does not know it.
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
    table: CountTable | None = None
    kept: float = 1.0
    spread: float = 1.0
    unit: float = 1.0


def family_of(model: Model, public: Public, clip: Clip) -> Family:
    """Return what is known of a model, or refuse it; `clip` is where residuals are clipped."""
    makers: dict[type, Callable[[Any, Public, Clip], Family]] = {
        LogisticRegression: _logistic,
        ProbitRegression: _probit,
        BernoulliLogit: _coin,
        LinearRegression: _linear,
        HuberRegression: _huber,
        PoissonRegression: _counts,
        NegativeBinomialRegression: _counts,
        SoftmaxRegression: _softmax,
    }
    if isinstance(model, OwnModel):
        return _own(model, public, clip)
    maker = makers.get(type(model))
    if maker is None:
        raise UnsupportedEventError(
            f"Newton has no proven sensitivity for {type(model).__name__}; it takes {OFFERED}. Use "
            f"{'ConjugateSample' if isinstance(model, GaussianMean) else 'SGLD or Barker'}"
        )
    return maker(model, public, clip)


def _own(model: OwnModel, public: Public, clip: Clip) -> Family:
    """Return what is known of a model of the user's: the clips. Distances are in units of a record's gradient."""
    gradient, dim = clip.residual, model.dim(public)
    curvature = clip.curvature if clip.curvature is not None else gradient * gradient
    bounds = RootBounds(gradient, curvature, NOT_FREE, rank=dim)
    return Family(links.plain(), gradient, None, bounds, model.information(public) or 0.0)


def _radius(model: Any, public: Public) -> float:
    norm = model.norm(public)
    if norm is None or norm == 0.0:
        raise InvalidArgument("Newton needs a declared bound on the rows: pass row_norm or x_bounds to Data")
    return float(norm)


def _constant(model: Any) -> float | None:
    return 1.0 if model.intercept else None


def _logistic(model: LogisticRegression, public: Public, clip: Clip) -> Family:
    radius = _radius(model, public)
    bounds = Bounds(radius, radius**2 / 4.0, LOGISTIC_FREE)
    return Family(links.logistic(), radius, _constant(model), bounds, 0.25)


def _probit(model: ProbitRegression, public: Public, clip: Clip) -> Family:
    radius = _radius(model, public)
    bounds = Bounds(radius, DENSITY_AT_ZERO * radius**2, PROBIT_FREE)
    return Family(links.probit(), radius, _constant(model), bounds, DENSITY_AT_ZERO, variance=0.25)


def _coin(model: BernoulliLogit, public: Public, clip: Clip) -> Family:
    return Family(links.logistic(), 1.0, 1.0, Bounds(1.0, 0.25, COIN_FREE, apart=1.0), 0.25)


def _linear(model: LinearRegression, public: Public, clip: Clip) -> Family:
    if model.sigma is None:
        return _unscaled(model, public, clip)
    sigma, radius, most = model.sigma, _radius(model, public), clip.residual
    share, spread = links.clipped_moments(most)
    bounds = Bounds(most * radius / sigma, (radius / sigma) ** 2, LINEAR_FREE)
    link, curvature = links.clipped_linear(sigma, most), share / sigma**2
    return Family(
        link, radius, _constant(model), bounds, curvature, (most * sigma, 0.0), share, kept=share, spread=spread
    )


def _unscaled(model: LinearRegression, public: Public, clip: Clip) -> Family:
    """Return residuals as they are: the core's sigma is 1, and all of its curvature is kept for later."""
    radius, sigma = _radius(model, public), clip.sigma or largest_sigma(public) / 2.0
    share, spread = links.clipped_moments(clip.residual)
    limit, unit = clip.residual * sigma, sigma**2
    bounds = Bounds(limit * radius, radius**2, LINEAR_FREE)
    link = links.clipped_residual(limit, sigma)
    return Family(
        link,
        radius,
        _constant(model),
        bounds,
        share,
        (limit, 0.0),
        share,
        variance=unit * spread,
        kept=share,
        spread=spread,
        unit=unit,
    )


def largest_sigma(public: Public) -> float:
    """Return half the declared range of y: no distribution within it has a larger standard deviation."""
    if public.y_bounds is None:
        raise InvalidArgument(
            "LinearRegression by Newton needs the scale of y where sigma is unknown: pass y_bounds to Data, or sigma "
            "to the model"
        )
    low, high = public.y_bounds
    if not high > low:
        raise InvalidArgument("y_bounds admit one value only, so there is nothing to estimate: widen them")
    return (high - low) / 2.0


def _huber(model: HuberRegression, public: Public, clip: Clip) -> Family:
    radius, link = _radius(model, public), links.huber(model.sigma, model.threshold)
    bounds = Bounds(model.threshold / model.sigma * radius, (radius / model.sigma) ** 2, NOT_FREE)
    return Family(link, radius, _constant(model), bounds, float(link.curvature(np.zeros(1))[0]))


def _counts(model: PoissonRegression | NegativeBinomialRegression, public: Public, clip: Clip) -> Family:
    radius, top = _radius(model, public), min(clip.top, largest_count(model, public))
    law, residual = law_of(model), min(clip.residual, top)
    table = count_table(law.dispersion, residual, top)
    bounds = Bounds(residual * radius, table.largest_curvature * radius**2, NOT_FREE)
    at = np.array([math.log(typical_count(public))])
    curvature, variance = (float(f(at)[0]) for f in (table.link.curvature, table.link.variance or table.link.curvature))
    information = float(np.exp(at[0]) * law.weight(np.exp(at))[0])
    return Family(
        table.link,
        radius,
        _constant(model),
        bounds,
        curvature,
        (residual, top),
        variance=variance,
        table=table,
        kept=curvature / information,
        spread=variance / information,
    )


def _softmax(model: SoftmaxRegression, public: Public, clip: Clip) -> Family:
    radius, classes = _radius(model, public), model.classes
    bounds = Bounds(math.sqrt(2.0) * radius, radius**2, LINEAR_FREE)
    curvature = (classes - 1) / classes**2
    return Family(links.moments(), radius, _constant(model), bounds, curvature, predictors=classes)


def law_of(model: Model) -> Counts:
    """Return the law of a model's counts."""
    return Counts(model.dispersion if isinstance(model, NegativeBinomialRegression) else 0.0)


def typical_count(public: Public) -> float:
    """Return the declared mean count, or 1."""
    return min(max(public.base_rate or 1.0, LEAST_TYPICAL), (public.y_bounds or (0.0, math.inf))[1])


def largest_count(model: Model, public: Public) -> float:
    """Return the largest count that a record can have, or refuse what was declared."""
    name = type(model).__name__
    if public.y_bounds is None:
        raise InvalidArgument(f"{name} by Newton needs declared counts: pass y_bounds to Data")
    low, high = public.y_bounds
    if low != 0.0 or high < 1.0:
        raise InvalidArgument(f"{name} by Newton needs y_bounds from 0 to at least 1, not ({low:g}, {high:g})")
    return float(math.floor(high))
