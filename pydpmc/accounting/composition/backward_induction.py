"""The optimal epsilon of T adaptively chosen bits of bounded range, by backward induction in the compiled core.

One induction gives delta at every epsilon and is cached. Proof: docs/privacy/accounting.md, theorem 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..._core import bit_induction
from ..events.base import Floats

USUAL_WORK = 5e8  # cell updates; about 0.4 s
LARGEST_WORK = 1.6e9
MOST_CELLS, FEWEST_CELLS = 100, 4
DEVIATIONS = 9.5  # the nodes cover this many standard deviations of the composed loss: delta down to 1e-18
# For a delta of at least and a mu of at most these, fewer deviations change epsilon by at most 2e-6 of it. At a larger
# mu the change has no bound, because a coarse grid spreads the ratio further than mu suggests.
USUAL_DELTA, USUAL_MU, USUAL_DEVIATIONS = 1e-8, 1.0, 7.5
LARGEST_SHIFT = 30.0
LARGEST_EXPONENT = 690.0  # exp of more would nearly overflow


@dataclass(frozen=True, eq=False)
class InductionProfile:
    """delta at the epsilons ``node * i``; in between it is linear in exp(epsilon)."""

    epsilons: Floats
    deltas: Floats

    def delta(self, epsilon: float) -> float:
        """Upper bound of delta; beyond the last node the value there, because delta decreases."""
        if epsilon >= self.epsilons[-1]:
            return float(self.deltas[-1])
        k = int(np.searchsorted(self.epsilons, epsilon, side="right"))
        start, end = self.epsilons[k - 1], self.epsilons[k]
        share = math.expm1(epsilon - start) / math.expm1(end - start)
        return float(self.deltas[k - 1] * (1 - share) + self.deltas[k] * share) * (1 + 1e-13)

    def epsilon(self, delta: float) -> float:
        """Upper bound of epsilon; infinite if delta is smaller than its value at the last node."""
        reached = np.nonzero(self.deltas <= delta)[0]
        if len(reached) == 0:
            return math.inf
        k = int(reached[0])
        if k == 0:
            return 0.0
        drop = (self.deltas[k - 1] - delta) / (self.deltas[k - 1] - self.deltas[k])
        width = math.expm1(self.epsilons[k] - self.epsilons[k - 1])
        inside = self.epsilons[k - 1] + math.log1p(drop * width)
        return float(min(self.epsilons[k], inside * (1 + 1e-12)))


def cells_within_budget(shift: float, steps: int) -> int:
    """Return the number of cells per shift; 0 if even the coarsest useful grid takes too long."""
    if shift > LARGEST_SHIFT:
        return 0
    work_per_square = steps * 2 / 3 * _depth(shift, steps) / shift
    affordable = int(math.sqrt(USUAL_WORK / work_per_square)) // 2 * 2
    if affordable >= FEWEST_CELLS:
        return min(affordable, MOST_CELLS)
    return FEWEST_CELLS if FEWEST_CELLS**2 * work_per_square <= LARGEST_WORK else 0


@dataclass(frozen=True)
class BitsBound:
    """Adaptively chosen bits of one range; a query below `USUAL_DELTA` computes a deeper profile."""

    shift: float
    steps: int
    cells: int

    def delta(self, epsilon: float) -> float:
        """Upper bound of delta."""
        usual = self._profile(USUAL_DELTA).delta(epsilon)
        return usual if usual >= USUAL_DELTA else self._profile(0.0).delta(epsilon)

    def epsilon(self, delta: float) -> float:
        """Upper bound of epsilon; infinite if delta is smaller than its value at the last node."""
        return self._profile(delta).epsilon(delta)

    def _profile(self, delta: float) -> InductionProfile:
        usual = delta >= USUAL_DELTA and _mu(self.shift, self.steps) <= USUAL_MU
        return _profile(self.shift, self.steps, self.cells, usual)


def induction_profile(shift: float, steps: int) -> BitsBound | None:
    """Return the profile of `steps` adaptively chosen bits of range `shift`, or None if it would take too long."""
    cells = cells_within_budget(shift, steps)
    return None if cells == 0 else BitsBound(shift, steps, cells)


def rough_induction_epsilon(shift: float, steps: int, delta: float) -> float:
    """Approximate the epsilon of `induction_profile` for small shifts in a twentieth of the time.

    Fewer bits of a larger range, with the same sum of squares and as many cells per shift, cost slightly more, and the
    excess is nearly proportional to the range. The result is extrapolated linearly from two such compositions.
    """
    cells = cells_within_budget(shift, steps)

    def shorter(ratio: int) -> float:
        few = max(1, round(steps / ratio**2))
        return BitsBound(shift * math.sqrt(steps / few), few, cells).epsilon(delta)

    found = math.nan if cells == 0 else 2.0 * shorter(3) - shorter(5)
    return found if math.isfinite(found) else math.inf


@lru_cache(maxsize=32)
def _profile(shift: float, steps: int, cells: int, usual: bool) -> InductionProfile:
    deviations = USUAL_DEVIATIONS if usual else DEVIATIONS
    depth = math.ceil(_depth(shift, steps, deviations) / shift * cells) + 1
    values = bit_induction(shift, steps, cells, depth)
    epsilons: Floats = shift / cells * np.arange(depth + 1, dtype=np.float64)
    within = np.minimum(epsilons, LARGEST_EXPONENT)
    deltas = np.minimum(1.0, np.exp(within) * values * (1 + 1e-12))
    deltas[epsilons > LARGEST_EXPONENT] = 1.0  # the running minimum below covers them
    return InductionProfile(epsilons, np.minimum.accumulate(deltas))


def _depth(shift: float, steps: int, deviations: float = DEVIATIONS) -> float:
    """Return the largest log-likelihood ratio, up to a negligible probability."""
    mu = _mu(shift, steps)
    return min(steps * shift, mu * mu / 2 + deviations * mu + 2 * shift)


def _mu(shift: float, steps: int) -> float:
    """Return mu of the Gaussian limit of `steps` bits."""
    return shift * math.sqrt(steps) / 2
