"""Privacy losses of normal mixtures, from their masses in the cells of a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..._core import normal_cdf
from .privacy_loss import UNIT, Floats, PrivacyLoss, add_cells, of_masses

LARGEST_DEVIATION = 10.0  # standard deviations kept; the tail beyond, 8e-24 per use, counts as an infinite loss
NO_TAIL = 40.0  # beyond this many standard deviations the tail underflows
PIECE = 1 << 15  # cells that are priced at once, so that what is needed on the way stays small
Mixture = Sequence[tuple[float, float]]  # (weight, mean) of each component

Law = tuple[Floats, Floats]  # z-score of each edge, and the smaller tail probability there
# Masses of the cells, bounds on the rounding of all mass above each lower edge, mass below, mass above.
Cells = tuple[Floats, Floats, float, float]


def _cells(law: Law, crossed: bool) -> Cells:
    """Return the cells of a piece of the grid; the mean is `crossed` if it lies within the whole of it."""
    z, tails = law
    upper = int(np.searchsorted(z, 0.0, side="right"))  # the first edge above the mean
    cells = np.diff(tails)
    cells[upper:] *= -1.0
    rounding = np.minimum(np.square(z[:-1]), NO_TAIL**2)
    rounding += 2
    rounding *= 4 * UNIT * tails[:-1]
    if crossed:
        rounding[:upper] += UNIT  # the two subtractions round the mass above this edge and above every lower one
        if 0 < upper < len(z):
            cells[upper - 1] = (1.0 - tails[upper]) - tails[upper - 1]
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


class _Direction:
    """The loss of p against q, mixtures of normal laws, filled piece by piece."""

    def __init__(self, step: float, lowest: int, cells: int, p: Mixture, q: Mixture) -> None:
        self._step, self._lowest, self._p, self._q = step, lowest, p, q
        self._masses = np.zeros(cells + 1)
        self._below = self._above = 0.0

    def fill(self, start: int, normals: dict[float, Cells]) -> None:
        """Add the cells from `start` on."""
        p_cells, p_rounding, below, above = _mixed(self._p, normals)
        q_cells, q_rounding, _, _ = _mixed(self._q, normals)
        end = start + len(p_cells)
        add_cells(
            self._masses[start : end + 1],
            self._step,
            self._lowest + start,
            (p_cells, p_rounding),
            (q_cells, q_rounding),
        )
        self._below = below if start == 0 else self._below
        self._above = above if end + 1 == len(self._masses) else self._above

    def loss(self) -> PrivacyLoss:
        """Return the loss, when all cells are filled."""
        return of_masses(self._step, self._lowest, self._masses, self._below, self._above)


def mixture_losses(
    step: float, lowest: int, edges: Floats, sd: float, p: Mixture, q: Mixture, *, both: bool = False
) -> tuple[PrivacyLoss, ...]:
    """Return the loss of p against q, normal mixtures, and of q against p if `both` are asked for.

    The loss of p against q must increase, with ``step (lowest + k)`` at edge k.
    """
    count = len(edges) - 1
    means = {mean for _, mean in (*p, *q)}
    crossed = {mean: bool(edges[0] <= mean < edges[-1]) for mean in means}
    onwards = _Direction(step, lowest, count, p, q)
    # The loss of q against p decreases, and increases on the other side of 0.
    turned_p, turned_q = ([(weight, -mean) for weight, mean in mixture] for mixture in (p, q))
    back = _Direction(step, -(lowest + count), count, turned_q, turned_p) if both else None
    for start in range(0, count, PIECE):
        piece = edges[start : start + PIECE + 1]
        laws: dict[float, Law] = {}
        for mean in means:
            z = (piece - mean) / sd
            laws[mean] = z, normal_cdf(-np.abs(z))
        onwards.fill(start, {mean: _cells(law, crossed[mean]) for mean, law in laws.items()})
        if back is not None:
            turned = {-mean: _cells((-z[::-1], tails[::-1]), crossed[mean]) for mean, (z, tails) in laws.items()}
            back.fill(count - start - len(piece) + 1, turned)
    return (onwards.loss(),) if back is None else (onwards.loss(), back.loss())


def gaussian_loss(mu: float, step: float) -> PrivacyLoss:
    """Return the loss of N(mu, 1) against N(0, 1)."""
    highest = math.ceil(mu * (mu / 2 + LARGEST_DEVIATION) / step)
    lowest = math.floor(mu * (mu / 2 - LARGEST_DEVIATION) / step)
    edges = step * np.arange(lowest, highest + 1, dtype=float) / mu + mu / 2
    return mixture_losses(step, lowest, edges, 1.0, [(1.0, mu)], [(1.0, 0.0)])[0]
