"""What a look of each model means: expected score, curvature and variance, as functions of the predictor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Function = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Link:
    """Expected score S(a, t) of a record at predictor a if t is true.

    Attributes
    ----------
    curvature
        Minus the derivative of S in a, at a = t.
    primitive
        m with S(a, t) = m(t) - m(a), where there is one.
    score
        S itself, where there is none.
    variance
        Of the score at the truth; None if it is the curvature.
    bend
        The largest relative change of the curvature per unit of the predictor; 0 for linear models.
    """

    curvature: Function
    primitive: Function | None = None
    score: Callable[[Floats, Floats], Floats] | None = None
    variance: Function | None = None
    bend: float = 1.0


def plain() -> Link:
    """Return the link of a model of which nothing is known: predictors are in units of a record's gradient."""
    return Link(np.ones_like)


def logistic() -> Link:
    """Return the link of y - logistic(predictor)."""
    from scipy.special import expit

    def curvature(a: Floats) -> Floats:
        return np.asarray(expit(a) * expit(-a))

    return Link(curvature, expit)


def probit() -> Link:
    """Return the link of y - Phi(predictor)."""
    from scipy.special import ndtr

    def curvature(a: Floats) -> Floats:
        return np.asarray(np.exp(-a * a / 2.0) / math.sqrt(2.0 * math.pi))

    return Link(curvature, ndtr, variance=lambda a: np.asarray(ndtr(a) * ndtr(-a)))


def moments() -> Link:
    """Return the link of a look whose curvature is sum x x'."""
    return Link(np.ones_like)


def clipped_linear(sigma: float, clip: float) -> Link:
    """Return the link of residuals clipped at `clip` standard deviations, for normal errors of known sigma."""
    from scipy.special import ndtr

    def density(z: Floats) -> Floats:
        return np.asarray(np.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi))

    def score(a: Floats, t: Floats) -> Floats:
        z = (t - a) / sigma
        low, high = -clip - z, clip - z
        between = z * (ndtr(high) - ndtr(low)) + density(low) - density(high)
        return np.asarray((between + clip * (ndtr(-high) - ndtr(low))) / sigma)

    share, variance = clipped_moments(clip)
    return Link(
        lambda a: np.full_like(a, share / sigma**2),
        score=score,
        variance=lambda a: np.full_like(a, variance / sigma**2),
        bend=1.0 / sigma,
    )


def clipped_residual(limit: float, sigma: float) -> Link:
    """Return the link of residuals, not scaled, clipped at `limit`; sigma is that of normal errors."""
    plain = clipped_linear(sigma, limit / sigma)
    share, variance = clipped_moments(limit / sigma)
    assert plain.score is not None
    score = plain.score
    return Link(
        lambda a: np.full_like(a, share),
        score=lambda a, t: np.asarray(sigma**2 * score(a, t)),
        variance=lambda a: np.full_like(a, sigma**2 * variance),
        bend=1.0 / sigma,
    )


def clipped_moments(clip: float) -> tuple[float, float]:
    """Return the share of a standard normal within +-clip, and the variance of the clipped normal."""
    beyond = math.erfc(clip / math.sqrt(2.0)) / 2.0
    share = 1.0 - 2.0 * beyond
    return share, share - 2.0 * clip * math.exp(-(clip**2) / 2.0) / math.sqrt(2.0 * math.pi) + 2.0 * clip**2 * beyond


def huber(sigma: float, threshold: float) -> Link:
    """Return the link of the clipped residual, for errors from the model's own density exp(-huber)."""
    distances, values, share = _huber_table(threshold)

    def score(a: Floats, t: Floats) -> Floats:
        return np.asarray(np.interp((t - a) / sigma, distances, values) / sigma)

    return Link(lambda a: np.full_like(a, share / sigma**2), score=score, bend=1.0 / sigma)


@lru_cache(maxsize=8)
def _huber_table(threshold: float) -> tuple[Floats, Floats, float]:
    """Return expected clipped residuals over distances of the predictor, and the share of residuals within."""
    far = threshold + 40.0 / threshold
    u = np.linspace(-far, far, 8001)
    loss = np.where(np.abs(u) < threshold, u * u / 2.0, threshold * np.abs(u) - threshold**2 / 2.0)
    density = np.exp(-loss)
    density /= density.sum()
    distances = np.linspace(-3.0 * far, 3.0 * far, 1201)
    values = np.array([(np.clip(u + g, -threshold, threshold) * density).sum() for g in distances])
    inside = math.sqrt(2.0 * math.pi) * math.erf(threshold / math.sqrt(2.0))
    tail = 2.0 / threshold * math.exp(-(threshold**2) / 2.0)
    return distances, values, inside / (inside + tail)
