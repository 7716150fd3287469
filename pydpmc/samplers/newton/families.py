"""What Newton knows of each model: what a record can contribute, what a look means, where it is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...data.public import Public
from ...errors import InvalidArgument, UnsupportedEventError
from ...models import (
    BernoulliLogit,
    HuberRegression,
    LinearRegression,
    LogisticRegression,
    Model,
    PoissonRegression,
)
from . import links
from .links import Link
from .sensitivity import COIN_FREE, LINEAR_FREE, LOGISTIC_FREE, NOT_FREE, POISSON_FREE, Bounds

ROUNDING_OF_NORM = 1.0 + 1e-9  # of a row beyond which it counts for nothing
RESIDUALS = 4.0  # standard deviations of what is expected of a residual: larger ones are clipped
OFFERED = "LogisticRegression, BernoulliLogit, LinearRegression with a known sigma, HuberRegression, PoissonRegression"


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
    bounds_at
        From the limits of a look, what one record can contribute.
    limits_given
        From the posterior's reach so far (None before the first look), the limits of the next look.
    curvature
        The forecast curvature of a record in its predictor.
    """

    link: Link
    radius: float
    constant: float | None
    bounds_at: Callable[[tuple[float, float]], Bounds]
    limits_given: Callable[[float | None], tuple[float, float]]
    curvature: float


def family_of(model: Model, public: Public) -> Family:
    """Return what is known of a model, or refuse it."""
    makers: dict[type, Callable[[Any, Public], Family]] = {
        LogisticRegression: _logistic,
        BernoulliLogit: _coin,
        LinearRegression: _linear,
        HuberRegression: _huber,
        PoissonRegression: _poisson,
    }
    maker = makers.get(type(model))
    if maker is None:
        raise UnsupportedEventError(
            f"Newton has no proven sensitivity for {type(model).__name__}; it takes {OFFERED}. Use SGLD or Barker"
        )
    return maker(model, public)


def _fixed(
    link: Link, radius: float, constant: float | None, bounds: Bounds, curvature: float, limits: tuple[float, float]
) -> Family:
    return Family(link, radius, constant, lambda _: bounds, lambda _: limits, curvature)


def _radius(model: Any, public: Public) -> float:
    norm = model.norm(public)
    if norm is None or norm == 0.0:
        raise InvalidArgument("Newton needs a declared bound on the rows: pass row_norm or x_bounds to Data")
    return float(norm)


def _constant(model: Any) -> float | None:
    return 1.0 if model.intercept else None


def _logistic(model: LogisticRegression, public: Public) -> Family:
    radius = _radius(model, public)
    bounds = Bounds(radius, radius**2 / 4.0, LOGISTIC_FREE)
    return _fixed(links.logistic(), radius, _constant(model), bounds, 0.25, (0.0, 0.0))


def _coin(model: BernoulliLogit, public: Public) -> Family:
    return _fixed(links.logistic(), 1.0, 1.0, Bounds(1.0, 0.25, COIN_FREE, apart=1.0), 0.25, (0.0, 0.0))


def _linear(model: LinearRegression, public: Public) -> Family:
    if model.sigma is None:
        raise UnsupportedEventError("Newton takes LinearRegression with a known sigma only; pass sigma, or use SGLD")
    sigma, radius, (low, high) = model.sigma, _radius(model, public), _y_bounds(public)
    widest = high - low

    def bounds_at(limits: tuple[float, float]) -> Bounds:
        return Bounds(limits[0] * radius / sigma**2, (radius / sigma) ** 2, LINEAR_FREE)

    def limits_given(reach: float | None) -> tuple[float, float]:
        expected = widest if reach is None else RESIDUALS * math.sqrt(sigma**2 + reach)
        return (min(widest, expected), 0.0)

    return Family(links.linear(sigma), radius, _constant(model), bounds_at, limits_given, sigma**-2.0)


def _huber(model: HuberRegression, public: Public) -> Family:
    radius, link = _radius(model, public), links.huber(model.sigma, model.threshold)
    bounds = Bounds(model.threshold / model.sigma * radius, (radius / model.sigma) ** 2, NOT_FREE)
    return _fixed(link, radius, _constant(model), bounds, model.sigma**-2.0, (0.0, 0.0))


def _poisson(model: PoissonRegression, public: Public) -> Family:
    radius, (low, high) = _radius(model, public), _y_bounds(public)
    if low < 0.0 or high < 1.0:
        raise InvalidArgument(
            f"PoissonRegression by Newton needs y_bounds from 0 to at least 1, not ({low:g}, {high:g})"
        )
    top = math.log(high / 2.0)
    bounds = Bounds(high * radius, high / 2.0 * radius**2, POISSON_FREE)
    return _fixed(links.poisson(top), radius, _constant(model), bounds, min(1.0, high / 2.0), (high, top))


def _y_bounds(public: Public) -> tuple[float, float]:
    if public.y_bounds is None:
        raise InvalidArgument("Newton needs declared targets for this model: pass y_bounds to Data")
    return public.y_bounds
