"""Privacy losses of normal mixtures, from their masses in the cells of a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..._core import normal_cdf
from .privacy_loss import UNIT, Floats, PrivacyLoss, from_cells

LARGEST_DEVIATION = 10.0  # standard deviations kept; the tail beyond, 8e-24 per use, counts as an infinite loss
NO_TAIL = 40.0  # beyond this many standard deviations the tail underflows
Mixture = Sequence[tuple[float, float]]  # (weight, mean) of each component

Law = tuple[Floats, Floats]  # z-score of each edge, and the smaller tail probability there
# Masses of the cells, bounds on the rounding of all mass above each lower edge, mass below, mass above.
Cells = tuple[Floats, Floats, float, float]


def normal_law(edges: Floats, mean: float, sd: float) -> Law:
    """Return a normal law at these edges."""
    z = (edges - mean) / sd
    return z, normal_cdf(-np.abs(z))


def mirrored(law: Law) -> Law:
    """Return the law of -X at the negated edges."""
    z, tails = law
    return -z[::-1], tails[::-1]


def _cells(law: Law) -> Cells:
    z, tails = law
    upper = int(np.searchsorted(z, 0.0, side="right"))  # the first edge above the mean
    cells = np.diff(tails)
    cells[upper:] *= -1.0
    rounding = np.minimum(np.square(z[:-1]), NO_TAIL**2)
    rounding += 2
    rounding *= 4 * UNIT * tails[:-1]
    if 0 < upper < len(z):
        cells[upper - 1] = (1.0 - tails[upper]) - tails[upper - 1]
        rounding[:upper] += UNIT  # the two subtractions round the mass above this edge and above every lower one
    below = float(tails[0] if z[0] <= 0 else 1.0 - tails[0])
    above = float(tails[-1] if z[-1] > 0 else 1.0 - tails[-1])
    return cells, rounding, below, above


def _weighted(weight: float, cells: Cells) -> Cells:
    return weight * cells[0], weight * cells[1], weight * cells[2], weight * cells[3]


def _mixed(mixture: Mixture, normals: dict[float, Cells]) -> Cells:
    (weight, mean), *others = mixture
    cells, rounding, below, above = normals[mean] if weight == 1.0 else _weighted(weight, normals[mean])
    for weight, mean in others:
        more = _weighted(weight, normals[mean])
        cells, rounding, below, above = cells + more[0], rounding + more[1], below + more[2], above + more[3]
    return np.maximum(cells, 0.0), rounding, below, above


def mixture_loss(step: float, lowest: int, laws: Mapping[float, Law], p: Mixture, q: Mixture) -> PrivacyLoss:
    """Return the loss of p against q, mixtures of `laws`; it must increase, with ``step (lowest + k)`` at edge k."""
    normals = {mean: _cells(law) for mean, law in laws.items()}
    p_cells, p_rounding, below, above = _mixed(p, normals)
    q_cells, q_rounding, _, _ = _mixed(q, normals)
    return from_cells(step, lowest, (p_cells, p_rounding), (q_cells, q_rounding), below, above)


def gaussian_loss(mu: float, step: float) -> PrivacyLoss:
    """Return the loss of N(mu, 1) against N(0, 1)."""
    highest = math.ceil(mu * (mu / 2 + LARGEST_DEVIATION) / step)
    lowest = math.floor(mu * (mu / 2 - LARGEST_DEVIATION) / step)
    edges = step * np.arange(lowest, highest + 1, dtype=float) / mu + mu / 2
    laws = {mean: normal_law(edges, mean, 1.0) for mean in (0.0, mu)}
    return mixture_loss(step, lowest, laws, [(1.0, mu)], [(1.0, 0.0)])
