"""The posterior of sigma and of the coefficients given noised second moments (docs/privacy/conjugate.md, section 5).

At the estimate b the noised sum of squared residuals has mean n sigma^2 - tr(M Sigma_b), and variance 2 n sigma^4 plus
that of its noise. With the prior of sigma this gives sigma's posterior on a grid; the coefficients are drawn given
sigma. All this is post-processing: its approximations cost accuracy, never privacy.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...models.priors import Flat, Laplace, Normal
from .noised_posterior import NoisedMoments, posterior

Floats = npt.NDArray[np.float64]
WIDEST, NARROWEST = 2.0, 1e-3  # sigma over the bound of y
NODES, REFINED, POINTS = 25, 13, 801
NEGLIGIBLE = 14.0  # in log density


class _Node(NamedTuple):
    """What is known at one value of sigma."""

    mean: Floats
    root: Floats
    residuals: float  # their sum of squares, corrected for the estimation of the coefficients
    noise: float  # variance of its noise


def with_sigma(
    moments: NoisedMoments,
    squares: tuple[float, float],
    n: int,
    reach: float,
    prior: tuple[Floats, Floats, tuple[float, ...]],
    normals: Floats,
) -> Floats:
    """Return draws of the coefficients and of log sigma, made from standard normals of the same shape.

    `squares` is y'y with the standard deviation of its noise.
    """
    mean, precision, of_sigma = prior

    def nodes(at: Floats) -> list[_Node]:
        return [_node(moments, squares, math.exp(t), mean, precision) for t in at]

    def density(at: Floats, found: list[_Node], points: Floats) -> Floats:
        residuals, noise = (np.interp(points, at, [getattr(one, name) for one in found]) for name in _Node._fields[2:])
        sigma = np.exp(points)
        variance = 2.0 * n * sigma**4 + noise
        return np.asarray(
            log_prior(sigma, of_sigma)
            + points
            - 0.5 * np.log(variance)
            - (residuals - n * sigma**2) ** 2 / variance / 2.0
        )

    wide = np.linspace(math.log(NARROWEST * reach), math.log(WIDEST * reach), NODES)
    points = np.linspace(wide[0], wide[-1], POINTS)
    first = density(wide, nodes(wide), points)
    likely = points[first > first.max() - NEGLIGIBLE]
    low, high = likely[0] - (points[1] - points[0]), likely[-1] + (points[1] - points[0])
    near = np.linspace(low, high, REFINED)
    found, points = nodes(near), np.linspace(low, high, POINTS)
    log_sigma = _drawn(points, density(near, found, points), normals[:, -1])
    nearest = np.rint((log_sigma - low) / (high - low) * (REFINED - 1)).astype(np.int64)
    draws = np.empty_like(normals)
    draws[:, -1] = log_sigma
    for k in np.unique(nearest):
        own = nearest == k
        draws[own, :-1] = found[k].mean + normals[own, :-1] @ found[k].root.T
    return draws


def _node(moments: NoisedMoments, squares: tuple[float, float], sigma: float, mean: Floats, precision: Floats) -> _Node:
    beta, root = posterior(moments, sigma, 1.0, mean, precision)
    left = squares[0] - 2.0 * float(beta @ moments.xy) + float(beta @ moments.xx @ beta)
    fitted = float(np.sum(root * (moments.xx @ root)))  # tr(M Sigma_b)
    length = float(beta @ beta)
    noise = squares[1] ** 2 + 4.0 * length * moments.xy_noise**2 + (moments.xx_noise * length) ** 2
    return _Node(beta, root, left + fitted, noise)


def _drawn(points: Floats, log_density: Floats, normals: Floats) -> Floats:
    """Return draws from a density that is given on a grid, by the inverse of its distribution function."""
    from scipy.special import ndtr

    weights = np.exp(log_density - log_density.max())
    steps = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2.0)])
    return np.asarray(np.interp(ndtr(normals), steps / steps[-1], points))


def log_prior(sigma: Floats, row: tuple[float, ...]) -> Floats:
    """Return the logarithm of sigma's prior density up to a constant, from its row of the model's prior table.

    Examples
    --------
    >>> import numpy as np
    >>> log_prior(np.array([2.0]), (1.0, 0.0, 1.0, 0.0, 1.0))
    array([-2.])
    """
    kind, loc, scale, df, _ = row
    z = (sigma - loc) / scale if int(kind) != Flat.code else np.zeros_like(sigma)
    if int(kind) == Flat.code:
        return z
    if int(kind) == Normal.code:
        return np.asarray(-0.5 * z**2)
    if int(kind) == Laplace.code:
        return np.asarray(-np.abs(z))
    return np.asarray(-0.5 * (df + 1.0) * np.log1p(z**2 / df))
