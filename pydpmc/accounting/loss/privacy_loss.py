"""Pessimistic privacy-loss distributions on a grid.

All of them come from the connect-the-dots method: inside each cell the likelihood ratio is replaced by the two-point
law on the ends of the cell with the same P- and Q-mass. The resulting pair dominates the given one (its profile is the
chord of a convex function) and its error is of second order in the step. Masses are computed cell by cell, never as
second differences of numbers near one, so they sum to one at any step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..._core import convex_minorant_slopes

Floats = NDArray[np.float64]
UNIT = float(np.finfo(float).eps)
LARGEST_EXPONENT = 700.0
SUMMED = 32 * UNIT  # exceeds the relative error of a pairwise sum of any length


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """P-mass of the loss log dP/dQ at ``step * (lowest + k)``, and at infinity."""

    step: float
    lowest: int
    masses: Floats
    infinity: float

    @property
    def losses(self) -> Floats:
        """The grid of losses."""
        return self.step * np.arange(self.lowest, self.lowest + len(self.masses), dtype=float)

    def moments(self) -> tuple[float, float]:
        """Variance and mean absolute value of the finite loss."""
        losses = self.losses
        mean = float((self.masses * losses).sum())  # the @ operator would start threads, which is slower here
        return float((self.masses * (losses - mean) ** 2).sum()), float((self.masses * np.abs(losses)).sum())


def from_symmetric_profile(profile: Callable[[Floats], Floats], epsilon_max: float, step: float) -> PrivacyLoss:
    """Return the privacy loss of the pair whose profile is the greatest convex minorant of `profile`.

    `profile` bounds h(e^eps) for eps >= 0, and h is symmetric: h(a) = 1 - a + a h(1/a). This symmetry is a projective
    map that fixes the point (a, h) = (-1, 1), so for a >= 1 the minorant over both sides of a = 1 is the lower hull of
    the nodes and that one point (docs/privacy/accounting.md, lemma 2).
    """
    last = max(1, int(np.ceil(min(epsilon_max, LARGEST_EXPONENT) / step)))
    eps: Floats = step * np.arange(last + 1, dtype=np.float64)
    ratios = np.exp(eps)
    values: Floats = np.clip(profile(eps), 0.0, 1.0)
    raised = np.minimum.accumulate(values) * (1 + 8 * (last + 8) * UNIT)  # covers the rounding of the slopes
    values = np.minimum(raised, 1.0)
    rises: Floats = np.concatenate([[values[0] - 1.0], np.diff(values)])
    widths: Floats = np.concatenate([[2.0], ratios[:-1] * np.expm1(step)])
    slopes = np.minimum(convex_minorant_slopes(rises, widths), 0.0)[1:]
    q_masses = np.diff(slopes, append=0.0)
    p_masses = ratios[1:] * q_masses
    infinity = float(values[-1])
    centre = max(0.0, 1.0 - infinity - float(np.sum(p_masses)) - float(np.sum(q_masses)))
    return PrivacyLoss(step, -last, np.concatenate([q_masses[::-1], [centre], p_masses]), infinity)


def add_cells(masses: Floats, step: float, lowest: int, p: tuple[Floats, Floats], q: tuple[Floats, Floats]) -> None:
    """Add to the masses at the edges the P- and Q-mass of each cell ``[step (lowest + k), step (lowest + k + 1)]``.

    `p` and `q` hold the masses and, for each cell, a bound on the rounding of all masses above its lower end. The bound
    is added to the profile at that node, which also raises the profile at all lower nodes.
    """
    (p_cells, p_error), (q_cells, q_error) = p, q
    ratios = np.exp(step * np.arange(lowest, lowest + len(p_cells), dtype=float))
    raised = (p_cells - q_cells * ratios + (p_error + ratios * q_error)) / -np.expm1(-step)
    raised = np.clip(raised, 0.0, p_cells)
    masses[1:] += raised
    masses[:-1] += p_cells - raised


def of_masses(step: float, lowest: int, masses: Floats, below: float, above: float) -> PrivacyLoss:
    """Return the privacy loss when all cells are added; `below` and `above` are the P-masses outside of them."""
    masses[0] += below
    masses *= max(1.0, (1.0 - above) / float(np.sum(masses))) * (1.0 + SUMMED)
    return PrivacyLoss(step, lowest, masses, above)
