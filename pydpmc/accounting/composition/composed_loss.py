"""A composed privacy loss and the epsilon and delta that follow from it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from ..loss.privacy_loss import Floats

NEGLIGIBLE = 60.0  # atoms weighted by less than e^-60 are not summed; e^-60 is added instead
SAFE_SIDE = 1e-9  # a guess of epsilon is raised by this share, so that the check that follows succeeds
FEW_ATOMS = 2048


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """Mass ``exp(log_scale - tilt * loss) * tilted`` at each loss of a window, with bounds on all errors.

    `outside` bounds the tilted mass beyond either end of the window, `entry_error` the round-off of each entry of
    `tilted`, and `relative_error` the round-off of the tilting; all are added to delta.
    """

    step: float
    start: int  # the first loss is so many steps
    tilted: Floats
    tilt: float
    log_scale: float
    infinity: float
    outside: float
    entry_error: float
    relative_error: float

    @property
    def losses(self) -> Floats:
        """The losses of the window."""
        return self._losses(slice(0, len(self.tilted)))

    def _losses(self, atoms: slice) -> Floats:
        return self.step * (self.start + np.arange(atoms.start, atoms.stop, atoms.step, dtype=float))

    def _loss(self, place: int) -> float:
        return self.step * (self.start + place)

    def delta(self, epsilon: float) -> float:
        """Upper bound of delta at this epsilon."""
        return self._delta_and_slope(epsilon)[0]

    def epsilon(self, delta: float) -> float:
        """Upper bound of epsilon at this delta: the value returned was checked by `delta`."""
        low, high = 0.0, self._loss(len(self.tilted) - 1)
        if high <= 0.0 or self.delta(high) > delta:
            return math.inf if self.delta(0.0) > delta else 0.0
        x = self._start(delta, high)
        for attempt in itertools.count(1):
            if high - low <= 1e-12 + 1e-10 * high:
                break
            found, slope = self._delta_and_slope(x)
            newton = x - math.log(max(found, 1e-320) / delta) * found / slope if slope < 0 and found < 1.0 else low
            low, high = (low, x) if found <= delta else (x, high)
            if found <= delta and x - newton <= 1e-12 + 2 * SAFE_SIDE * x:
                break
            if low == 0.0 and newton <= 0.0 and self.delta(0.0) <= delta:
                return 0.0
            aim = newton * (1 + SAFE_SIDE)
            x = aim if low < aim < high and attempt % 6 != 0 else 0.5 * (low + high)
        return high

    def _start(self, delta: float, high: float) -> float:
        """Solve delta(x) = delta on a subset of the atoms, by Newton's method from the mode of the tilted law."""
        x = min(max(self._loss(int(np.argmax(self.tilted))), 0.0), high)
        for _ in range(8):
            found, slope = self._delta_and_slope(x, self._stride)
            if not (0.0 < found < 1.0 and slope < 0.0):
                break
            moved = min(max(x - math.log(found / delta) * found / slope, 0.0), high)
            x, moved = moved, abs(moved - x)
            if moved <= 1e-5 * x:
                break
        return x * (1 + SAFE_SIDE)

    def rounding_share(self, epsilon: float) -> float:
        """Approximate share of delta(epsilon) that comes from the bound on the round-off."""
        exact = replace(self, entry_error=0.0)._delta_and_slope(epsilon, self._stride)[0]
        return self._delta_and_slope(epsilon, self._stride)[0] / exact - 1.0 if exact > 0 else math.inf

    @property
    def _stride(self) -> int:
        return 1 + len(self.tilted) // FEW_ATOMS

    def _delta_and_slope(self, epsilon: float, stride: int = 1) -> tuple[float, float]:
        """Return delta and its slope: an upper bound if the stride is 1, otherwise an approximation."""
        first = self._first_above(epsilon)
        last = len(self.tilted)
        if self.tilt > 0:
            last = min(last, first + math.ceil(NEGLIGIBLE / (self.tilt * self.step)) + 1)
        atoms = slice(first + stride // 2, last, stride)
        excess = self._losses(atoms) - epsilon
        decay = np.exp(-self.tilt * excess)
        fall = np.expm1(-excess)
        masses = (np.maximum(self.tilted[atoms], 0.0) + self.entry_error) * decay  # no @ below: its threads are slower
        far = math.exp(-NEGLIGIBLE) * (1.0 + len(self.tilted) * self.entry_error) if last < len(self.tilted) else 0.0
        factor = math.exp(min(self.log_scale - self.tilt * epsilon, 700.0))
        inside = stride * -float((masses * fall).sum()) * (1 + self.relative_error) + far + self._truncated(epsilon)
        slope = -stride * factor * float((masses * (1.0 + fall)).sum())
        return min(1.0, self.infinity + inside * factor), slope

    def _first_above(self, epsilon: float) -> int:
        """Return the place of the first loss above epsilon."""
        place = min(max(math.floor(epsilon / self.step) - self.start, 0), len(self.tilted))
        while place > 0 and self._loss(place - 1) > epsilon:
            place -= 1
        while place < len(self.tilted) and self._loss(place) <= epsilon:
            place += 1
        return place

    def _truncated(self, epsilon: float) -> float:
        """Tilted mass outside the window, relative to the tilt factor at epsilon."""
        above = self.outside * math.exp(-self.tilt * max(0.0, self._loss(len(self.tilted) - 1) - epsilon))
        below = self.outside if epsilon < self._loss(0) else 0.0
        return above + below
