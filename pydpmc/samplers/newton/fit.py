"""A look at the fit: sums of residuals by predicted value, and what the model allows of them.

It is charged like any other look (docs/privacy/newton.md, lemma 12), at the final estimate, and changes no draw.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgument, UnsupportedEventError
from ...models import BernoulliLogit, LinearRegression, OwnModel, SoftmaxRegression
from ...posterior.goodness import GoodnessOfFit
from .sensitivity import LINEAR_FREE, Bounds

if TYPE_CHECKING:
    from ...models import Model
    from .families import Family
    from .pooling import Pooled
    from .settings import NewtonSettings
    from .surrogate import GaussianFeatures

Floats = npt.NDArray[np.float64]
GROUPS = 10
SHARE = 0.1  # of mu^2
LEAST_SD = 1e-3  # of a predictor, for edges that differ
UNEVEN = 0.3  # by how much, relatively, features that are not Gaussian may change the records of a group
LEAST_VARIANCE = 0.1  # of a group, over what is expected
FAR, NODES = 8.0, 4001


def refuse_fit(model: Model, weighted: bool) -> None:
    """Refuse a look at the fit where there is none."""
    if isinstance(model, OwnModel | SoftmaxRegression | BernoulliLogit):
        raise UnsupportedEventError(
            f"fit=True: {type(model).__name__} has no single linear predictor by which to group outcomes; leave it out"
        )
    if isinstance(model, LinearRegression) and model.sigma is None:
        raise UnsupportedEventError(
            "fit=True: LinearRegression needs a known sigma for it; pass sigma, or leave it out"
        )
    if weighted:
        raise InvalidArgument("fit=True is not offered with sample_weight; leave it out")


def noise_of_fit(settings: NewtonSettings) -> tuple[Bounds, float, float, float]:
    """Return what a record can contribute, sigma and tau, and the price of the look."""
    family, units = settings.family, settings.records_per_unit
    largest = family.bounds.gradient / family.radius
    bounds = Bounds(largest, largest**2, LINEAR_FREE)
    mu = settings.mu * math.sqrt(SHARE * (1.0 - 1e-9))
    sigma, tau = bounds.noise(mu / units, settings.adjacency, GROUPS, settings.curvature_share)
    return bounds, sigma, tau, units * bounds.mu(sigma, tau, settings.adjacency, GROUPS)


def edges_of(features: GaussianFeatures, theta: Floats) -> list[float]:
    """Return edges between which the looks expect as many records each."""
    from scipy.special import ndtri

    shares = np.arange(1, GROUPS) / GROUPS
    middle, sd = _predictor(features, theta)
    return [float(edge) for edge in middle + sd * ndtri(shares)]


def look_at_fit(
    core: Any, settings: NewtonSettings, family: Family, pooled: Pooled, features: GaussianFeatures, **how: Any
) -> GoodnessOfFit | None:
    """Take the look, whose price was charged before; None if it was stopped."""
    bounds, sigma, tau, _ = noise_of_fit(settings)
    theta, edges = pooled.mean, edges_of(features, pooled.mean)
    released = core.look(
        theta=theta.tolist(),
        clip=bounds.gradient,
        sigma=sigma,
        curvature_clip=bounds.curvature,
        tau=tau,
        largest_square=1.0,
        limits=family.limits,
        outer=True,
        block_of=list(range(GROUPS)),
        table=None if family.table is None else (family.table.rows, family.table.first, family.table.per_unit),
        edges=edges,
        **how,
    )
    if len(released) == 0:
        return None
    residuals, squares = np.asarray(released[:GROUPS]), np.asarray(released[GROUPS:])
    covariance = expected_covariance(pooled, features, np.array(edges), squares, tau) + sigma**2 * np.eye(GROUPS)
    statistic = float(residuals @ np.linalg.solve(covariance, residuals))
    values = (theta.tolist(), edges, residuals.tolist(), squares.tolist(), sigma, tau, covariance.tolist(), statistic)
    return GoodnessOfFit(*values)


def expected_covariance(
    pooled: Pooled, features: GaussianFeatures, edges: Floats, squares: Floats, tau: float
) -> Floats:
    """Return the covariance of the groups' residuals at the posterior's mean if the model is right, without noise.

    With xi the gradient at the truth, the mean is off by Sigma H Omega^-1 (xi + noise), and a group's residuals by D
    times that, D the group's part of the curvature. E is the covariance of its residuals with xi.
    """
    theta = pooled.mean
    middle, sd = _predictor(features, theta)
    z = np.linspace(-FAR, FAR, NODES)
    records = features.n * np.exp(-z * z / 2.0) / np.exp(-z * z / 2.0).sum()
    eta = middle + sd * z
    member = (np.searchsorted(edges, eta)[:, None] == np.arange(GROUPS)).astype(float)
    x = features.q + np.outer(z / sd, features.S @ theta)  # the mean of x given the predictor
    variance, slope = ((f or features.link.curvature)(eta) * records for f in (features.link.variance, None))
    expected = np.maximum(member.T @ variance, 1e-300)
    kept = (UNEVEN * expected) ** 2 / ((UNEVEN * expected) ** 2 + tau**2)
    seen = np.maximum(expected + kept * (squares - expected), LEAST_VARIANCE * expected)
    scale = (seen / expected)[:, None]
    d, e = (scale * (member.T @ (part[:, None] * x)) for part in (slope, variance))
    omega = pooled.covariance_of_scores + pooled.noise
    gain = np.linalg.solve(omega, pooled.curvature @ pooled.covariance)  # the transpose of Sigma H Omega^-1
    crossed = e @ gain @ d.T
    found = np.diag(seen) - crossed - crossed.T + d @ pooled.covariance @ d.T
    values, vectors = np.linalg.eigh((found + found.T) / 2.0)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _predictor(features: GaussianFeatures, theta: Floats) -> tuple[float, float]:
    square = float(theta @ features.S @ theta)
    return float(features.q @ theta), math.sqrt(max(square, LEAST_SD**2))
