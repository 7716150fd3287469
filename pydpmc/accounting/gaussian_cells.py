"""Cell masses of normal mixtures, and the privacy losses made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._core import normal_cdf
from .privacy_loss import UNIT, Floats, PrivacyLoss, from_cells

LARGEST_DEVIATION = 10.0  # standard deviations kept; the rest, 8e-24 a use, counts as an infinite loss
Mixture = Sequence[tuple[float, float]]  # (weight, mean) of each component


Cells = tuple[Floats, Floats, float, float]  # mass, bound on the rounding of the tail at the lower edge, below, above


def normal_cells(edges: Floats, mean: float, sd: float) -> Cells:
    """The cells of a normal law between these edges."""
    z = (edges - mean) / sd
    tails = normal_cdf(-np.abs(z))
    inside = np.diff(np.where(z > 0, 1.0 - tails, tails))
    cells = np.where(z[:-1] > 0, -np.diff(tails), inside)
    near = np.where(np.isfinite(z), z, 0.0)[:-1]
    below = float(tails[0] if z[0] <= 0 else 1.0 - tails[0])
    above = float(tails[-1] if z[-1] > 0 else 1.0 - tails[-1])
    return cells, 4 * UNIT * (2 + near**2) * tails[:-1], below, above


def _mixed(mixture: Mixture, normals: dict[float, Cells]) -> Cells:
    columns = [[weight * part for part in normals[mean]] for weight, mean in mixture]
    cells, rounding, below, above = (sum(column[1:], column[0]) for column in zip(*columns, strict=True))
    return np.maximum(cells, 0.0), rounding, below, above


def mixture_loss(step: float, lowest: int, edges: Floats, p: Mixture, q: Mixture, sd: float) -> PrivacyLoss:
    """Loss of p against q when it increases and crosses ``step (lowest + k)`` at ``edges[k]``."""
    normals = {mean: normal_cells(edges, mean, sd) for mean in dict.fromkeys(mean for _, mean in (*p, *q))}
    p_cells, p_rounding, below, above = _mixed(p, normals)
    q_cells, q_rounding, _, _ = _mixed(q, normals)
    ratios = np.exp(step * np.arange(lowest, lowest + len(p_cells), dtype=float))
    return from_cells(step, lowest, p_cells, q_cells, p_rounding + ratios * q_rounding, below, above)


def gaussian_loss(mu: float, step: float) -> PrivacyLoss:
    """Loss of N(mu, 1) against N(0, 1)."""
    highest = math.ceil(mu * (mu / 2 + LARGEST_DEVIATION) / step)
    lowest = math.floor(mu * (mu / 2 - LARGEST_DEVIATION) / step)
    edges = step * np.arange(lowest, highest + 1, dtype=float) / mu + mu / 2
    return mixture_loss(step, lowest, edges, [(1.0, mu)], [(1.0, 0.0)], 1.0)
