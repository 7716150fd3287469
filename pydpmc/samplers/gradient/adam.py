"""How far the running mean of Adam's steps ends from the optimum, direction by direction: the forecast of `DPVI`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
FORGET_SQUARE, RECENT = 0.99, 3.0  # of csrc/samplers/dpvi.hpp
BLOCKS = 125  # of steps that are taken as one: a plan is made in milliseconds


@dataclass(frozen=True, eq=False)
class AveragedSteps:
    """The end of a run: `left` of the start's distance from the optimum, and a variance, along each direction.

    Attributes
    ----------
    left
        Share of the distance between start and optimum that the running mean still has.
    variance
        Variance of the running mean by the noise of the gradients.
    square
        Mean square of a coordinate of the last gradients, by which Adam divides.
    """

    left: Floats
    variance: Floats
    square: float


def averaged_steps(step_sizes: Floats, curvature: Floats, distance: Floats, noise: Floats) -> AveragedSteps:
    """Follow Adam on a quadratic with the given curvatures, squared distances of the start and variances of gradients.

    Adam divides a gradient by the root of its mean square, over coordinates that mix all directions; between such
    divisions a step is linear, so mean and variance along each direction follow a recursion (Ornstein-Uhlenbeck, exact
    for steps of any length). The running mean weights step t by about t^3, as the core does.

    Examples
    --------
    >>> one = np.ones(1)
    >>> end = averaged_steps(np.full(1000, 0.1), 10.0 * one, one, one)
    >>> bool(end.left[0] < 1e-6), bool(end.variance[0] < 0.01)
    (True, True)
    """
    steps = len(step_sizes)
    bounds = np.unique(np.linspace(0, steps, min(steps, BLOCKS) + 1).astype(int))
    share, own, mixed, average, left = (np.full_like(curvature, v) for v in (1.0, 0.0, 0.0, 0.0, 1.0))
    total = 0.0
    for first, last in itertools.pairwise(bounds):
        count, size = int(last - first), float(step_sizes[first:last].mean())
        seen = float((curvature**2 * (share**2 * distance + own) + noise).mean())
        total += (1.0 - FORGET_SQUARE**count) * (seen - total)
        square = total / (1.0 - FORGET_SQUARE ** int(last))
        rate = size * curvature / np.sqrt(square)
        kept = np.exp(-count * rate)
        added = noise / curvature * size / np.sqrt(square) * -np.expm1(-2.0 * count * rate) / 2.0
        share, own = kept * share, kept**2 * own + added
        mixed = kept * mixed
        weight = 1.0 - float(np.prod(1.0 - np.minimum(1.0, (RECENT + 1.0) / (np.arange(first, last) + 1.0 + RECENT))))
        average = (1.0 - weight) ** 2 * average + 2.0 * weight * (1.0 - weight) * mixed + weight**2 * own
        mixed = (1.0 - weight) * mixed + weight * own
        left = left + weight * (share - left)
    return AveragedSteps(left, average, square)
