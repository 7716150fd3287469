"""What looks at outer products of gradients say: the spread of scores, beside that of the model."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from ...posterior.looks import Look
from .denoise import shrink
from .surrogate import GaussianFeatures, nonnegative

Floats = npt.NDArray[np.float64]
NO_CURVATURE = 1e60  # noise on a curvature that says nothing
FOURTH_MOMENT = 4.0  # of scores, over their squared variance, generously: by how much the mean of n squares varies


def blank(look: Look) -> Look:
    """Return the look with a curvature that says nothing."""
    return dataclasses.replace(look, curvature=np.zeros_like(look.curvature), tau=NO_CURVATURE)


def spread_of_scores(look: Look, theta: Floats, features: GaussianFeatures) -> tuple[float, float]:
    """Return the trace of the outer products over that which the model implies at theta, and its standard error."""
    dim, size = len(theta), max(float(np.trace(features.Q)), 1e-300)
    off = theta - look.theta
    implied = max(float(np.trace(features.covariance(theta))), 1e-300)
    # Where the look's point missed theta, squared means of the scores add to their variance.
    missed = float(np.trace(features.curvature(theta))) ** 2 / (features.n * size) * float(off @ features.Q @ off)
    total = implied + missed
    relative = (features.sd * math.sqrt(dim) / size) ** 2 + FOURTH_MOMENT / features.n + (0.5 * missed / total) ** 2
    error = math.sqrt((look.tau * math.sqrt(dim) / total) ** 2 + relative)
    return float(np.trace(look.curvature)) / total, error


def covariance_of_scores(features: GaussianFeatures, theta: Floats, misfit: Floats, least: float) -> Floats:
    """Return the covariance of the gradient at theta if the curvatures miss `misfit`, as the looks show it.

    Where there are outer products of weighted gradients, entries move towards theirs as far as their noise allows
    (James, Stein), and the matrix is widened by one standard deviation of the noise of their trace.
    """
    implied, outer = nonnegative(features.covariance(theta) + misfit, least), features.outer
    if outer is None:
        return np.asarray(features.design * implied)
    there = features.design * (features.covariance(outer.theta) + misfit)
    beyond = features.released * (outer.curvature - there)
    keep, _ = shrink(beyond, np.maximum(np.diag(there), least), outer.tau**2 / 2.0)
    seen = nonnegative(features.design * implied + keep * beyond, features.design * least)
    noise = outer.tau * math.sqrt(len(theta)) / max(float(np.trace(seen)), 1e-300)
    return np.asarray(seen * (1.0 + min(noise, 1.0)))
