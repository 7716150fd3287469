"""Exponential moments of a composed loss: where to tilt it, and how far it reaches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .privacy_loss import Floats, PrivacyLoss

Item = tuple[PrivacyLoss, int]
OUTSIDE = 1e-13  # tilted probability allowed beyond each end of the window
LARGEST_TILTED_LOSS = 300.0
LARGEST_TILTED_STEP = 2.0
MOST_BISECTIONS = 16
SAME_TILT = 0.05  # difference of log delta that is no reason for another tilt


class Cumulants:
    """Cumulant generating function of the composed finite loss (sub-normalised by the mass at infinity)."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self.losses = [loss.losses for loss, _ in items]
        self.infinity = -math.expm1(sum(n * math.log1p(-loss.infinity) for loss, n in items))
        self.largest = max(max(float(losses[-1]), loss.step) for (loss, _), losses in self.pairs())
        self._flat = _Flat(self.items, self.losses)
        self._latest: tuple[float, float] | None = None

    def pairs(self) -> list[tuple[Item, Floats]]:
        """Each item with the grid of its losses."""
        return list(zip(self.items, self.losses, strict=True))

    def value(self, tilt: float) -> float:
        """K(tilt), the logarithm of the exponential moment of that order."""
        return float(self._flat.counts @ self._flat.tilted(tilt)[1])

    def tilt_for_delta(self, delta: float, slack: float = 0.0) -> float:
        """About the tilt whose Chernoff bound at its own mean is delta times exp(slack)."""
        wanted = math.log(delta) + slack
        if self._latest is None or abs(wanted - self._latest[0]) > SAME_TILT:
            self._latest = wanted, self._tilt(lambda tilt, value, mean: value - tilt * mean > wanted)
        return self._latest[1]

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """About the tilt whose mean is epsilon."""
        return self._tilt(lambda tilt, value, mean: mean < epsilon)

    def reach(self, tilt: float, sign: int) -> float:
        """Loss beyond which (sign 1: above, -1: below) the tilted law has at most OUTSIDE, by Chernoff."""
        at_tilt, _, variance = self.derivatives(tilt)
        best = sign * sum(n * float(losses[-1 if sign > 0 else 0]) for (_, n), losses in self.pairs())
        push = math.sqrt(-2 * math.log(OUTSIDE) / variance) if variance > 0 else 1.0
        for _ in range(12):
            if sign < 0 or (tilt + push) * self.largest < 2 * LARGEST_TILTED_LOSS:
                bound = (self.value(tilt + sign * push) - at_tilt - math.log(OUTSIDE)) / push
                if bound > 1.001 * best and best < math.inf:
                    break
                best = min(best, bound)
            push *= 0.7
        return sign * best

    def _tilt(self, too_small: Callable[[float, float, float], bool]) -> float:
        """Roughly the smallest tilt >= 0 at which `too_small(tilt, K, K')` ends. Any tilt is valid.

        Heavy tails move the mean abruptly, so the search ends when the mean is located, not the tilt.
        """
        limit = min(LARGEST_TILTED_LOSS / self.largest, LARGEST_TILTED_STEP / self.items[0][0].step)
        low, at_low = 0.0, self.derivatives(0.0)
        if not too_small(low, *at_low[:2]):
            return low
        high = min(limit, 1.0 / math.sqrt(max(at_low[2], 1e-300)))
        at_high = self.derivatives(high)
        while high < limit and too_small(high, *at_high[:2]):
            low, at_low = high, at_high
            high = min(limit, 2.0 * high)
            at_high = self.derivatives(high)
        for _ in range(MOST_BISECTIONS):
            if at_high[1] - at_low[1] <= 0.7 * math.sqrt(max(at_low[2], 0.0)):
                break
            middle = 0.5 * (low + high)
            at_middle = self.derivatives(middle)
            if too_small(middle, *at_middle[:2]):
                low, at_low = middle, at_middle
            else:
                high, at_high = middle, at_middle
        return high

    def derivatives(self, tilt: float) -> tuple[float, float, float]:
        """K, K' and K'' at `tilt`."""
        flat = self._flat
        weights, log_norm = flat.tilted(tilt)
        weighted = weights * flat.losses
        mean, square = flat.sums(weighted), flat.sums(weighted * flat.losses)
        value, slope, bend = (float(flat.counts @ column) for column in (log_norm, mean, square - mean * mean))
        return value, slope, bend


class _Flat:
    """The losses of all items one after the other, so that many short ones take no longer than one long one."""

    def __init__(self, items: Sequence[Item], losses: Sequence[Floats]) -> None:
        self.counts = np.array([n for _, n in items], dtype=float)
        self.lengths = np.array([len(grid) for grid in losses])
        self.starts = np.append(0, np.cumsum(self.lengths)[:-1])
        one = len(items) == 1
        self.masses = items[0][0].masses if one else np.concatenate([loss.masses for loss, _ in items])
        self.losses = losses[0] if one else np.concatenate(losses)

    def sums(self, values: Floats) -> Floats:
        """Sum of the values of each item."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def tilted(self, tilt: float) -> tuple[Floats, Floats]:
        """What the function of the same name gives, for all items."""
        exponents = tilt * self.losses
        top = np.maximum(exponents[self.starts], exponents[self.starts + self.lengths - 1])
        weights = self.masses * np.exp(np.maximum(exponents - self._spread(top), -740.0))
        norm = self.sums(weights)
        return weights / self._spread(norm), np.log(norm) + top

    def _spread(self, values: Floats) -> Floats:
        return values if len(values) == 1 else np.repeat(values, self.lengths)


def tilted(masses: Floats, losses: Floats, tilt: float) -> tuple[Floats, float]:
    """Masses times exp(tilt * loss), normalised, and the logarithm of their norm."""
    exponents = tilt * losses
    top = float(np.max(exponents))
    weights = masses * np.exp(np.maximum(exponents - top, -740.0))
    norm = float(np.sum(weights))
    return weights / norm, math.log(norm) + top
