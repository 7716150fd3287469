"""Cell masses of normal mixtures, and the privacy losses made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._core import normal_cdf
from .privacy_loss import UNIT, Floats, PrivacyLoss, from_cells

LARGEST_DEVIATION = 10.0  # standard deviations kept; the rest, 8e-24 a use, counts as an infinite loss
Mixture = Sequence[tuple[float, float]]  # (weight, mean) of each component


def mixture_cells(edges: Floats, mixture: Mixture, sd: float) -> tuple[Floats, Floats, float, float]:
    """Mass of each cell, a bound on the rounding of the tail at its lower edge, mass below and above."""
    cells = np.zeros(len(edges) - 1)
    rounding = np.zeros(len(edges) - 1)
    below = above = 0.0
    for weight, mean in mixture:
        z = (edges - mean) / sd
        tails = normal_cdf(-np.abs(z))
        inside = np.diff(np.where(z > 0, 1.0 - tails, tails))
        cells += weight * np.where(z[:-1] > 0, -np.diff(tails), inside)
        near = np.where(np.isfinite(z), z, 0.0)[:-1]
        rounding += weight * 4 * UNIT * (2 + near**2) * tails[:-1]
        below += weight * float(tails[0] if z[0] <= 0 else 1.0 - tails[0])
        above += weight * float(tails[-1] if z[-1] > 0 else 1.0 - tails[-1])
    return np.maximum(cells, 0.0), rounding, below, above


def mixture_loss(step: float, lowest: int, edges: Floats, p: Mixture, q: Mixture, sd: float) -> PrivacyLoss:
    """Loss of p against q when it increases and crosses ``step (lowest + k)`` at ``edges[k]``."""
    p_cells, p_rounding, below, above = mixture_cells(edges, p, sd)
    q_cells, q_rounding, _, _ = mixture_cells(edges, q, sd)
    ratios = np.exp(step * np.arange(lowest, lowest + len(p_cells), dtype=float))
    return from_cells(step, lowest, p_cells, q_cells, p_rounding + ratios * q_rounding, below, above)


def gaussian_loss(mu: float, step: float) -> PrivacyLoss:
    """Loss of N(mu, 1) against N(0, 1)."""
    highest = math.ceil(mu * (mu / 2 + LARGEST_DEVIATION) / step)
    lowest = math.floor(mu * (mu / 2 - LARGEST_DEVIATION) / step)
    edges = step * np.arange(lowest, highest + 1, dtype=float) / mu + mu / 2
    return mixture_loss(step, lowest, edges, [(1.0, mu)], [(1.0, 0.0)], 1.0)
