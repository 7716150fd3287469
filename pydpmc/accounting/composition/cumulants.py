"""Exponential moments of a composed loss, which decide its tilt and its window."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ..loss.privacy_loss import UNIT, Floats, PrivacyLoss
from .renyi import log_overshoot

Item = tuple[PrivacyLoss, int]
OUTSIDE = 1e-13  # tilted probability allowed beyond each end of the window
LARGEST_TILTED_LOSS = 300.0
LARGEST_TILTED_STEP = 2.0
MOST_BISECTIONS = 16
MOST_PUSHES = 40
SAME_TILT = 0.05  # the cached tilt is reused if log delta differs by at most this
SAME_MOMENT = 0.01  # the cached moment is reused if epsilon differs by at most this share
FEW_ATOMS, TOP_ATOMS = 512, 256  # atoms per loss of the approximation; the largest losses keep their own atoms
LOCATED = 0.7  # a mean is located if it is known to within this many standard deviations


class Cumulants:
    """Cumulant generating function of the composed finite loss (sub-normalised by the mass at infinity)."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = tuple(items)
        self.losses = [loss.losses for loss, _ in items]
        finite = [n * math.log1p(-loss.infinity) if loss.infinity < 1.0 else -math.inf for loss, n in items]
        self.infinity = -math.expm1(sum(finite))
        self.largest = max(max(float(losses[-1]), loss.step) for (loss, _), losses in self.pairs())
        self._values: dict[float, float] = {}
        self._latest: tuple[float, float] | None = None
        self._moment: tuple[float, float] | None = None

    @cached_property
    def exact(self) -> _Flat:
        """All atoms."""
        return _Flat([(loss.masses, losses) for (loss, _), losses in self.pairs()], [n for _, n in self.items])

    @cached_property
    def coarse(self) -> _Flat:
        """An approximation of all laws by few atoms."""
        laws = [_thinned(loss.masses, losses) for (loss, _), losses in self.pairs()]
        return _Flat(laws, [n for _, n in self.items])

    def pairs(self) -> list[tuple[Item, Floats]]:
        """Each item with the grid of its losses."""
        return list(zip(self.items, self.losses, strict=True))

    def value(self, tilt: float) -> float:
        """K(tilt), the logarithm of the exponential moment of order `tilt`."""
        if tilt not in self._values:
            self._values[tilt] = self.exact.value(tilt)
        return self._values[tilt]

    def tilted(self, tilt: float) -> list[Floats]:
        """The masses of each item times exp(tilt * loss), normalised."""
        weights, log_norm = self.exact.tilted(tilt)
        self._values[tilt] = float(self.exact.counts @ log_norm)
        return np.split(weights, self.exact.starts[1:])

    def tilt_for_delta(self, delta: float, slack: float = 0.0) -> float:
        """Approximate the tilt whose Chernoff bound at its own mean equals delta times exp(slack)."""
        wanted = math.log(delta) + slack
        if self._latest is None or abs(wanted - self._latest[0]) > SAME_TILT:
            self._latest = wanted, self._tilt(lambda tilt, value, mean: value - tilt * mean > wanted)
        return self._latest[1]

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """Approximate the tilt under which the mean loss is epsilon.

        If the coarse law misplaces that mean, the window could miss epsilon; the exact law is then used.
        """

        def too_small(tilt: float, value: float, mean: float) -> bool:
            return mean < epsilon

        tilt = self._tilt(too_small)
        _, mean, variance = self.exact.derivatives(tilt)
        if abs(self.coarse.derivatives(tilt)[1] - mean) <= LOCATED * math.sqrt(max(variance, 0.0)):
            return tilt
        return _located(self.exact, too_small, self._largest_tilt)

    def loose_delta(self, epsilon: float) -> float:
        """Upper bound of delta from one moment of nearly optimal order."""
        if self._moment is None or abs(epsilon - self._moment[0]) > SAME_MOMENT * epsilon:
            self._moment = epsilon, self._tilt(lambda tilt, value, mean: mean < epsilon)
        tilt = self._moment[1]
        if tilt == 0.0:
            return 1.0
        exponent = self.value(tilt) - tilt * epsilon + float(log_overshoot(np.asarray(tilt)))
        return self.infinity + math.exp(min(exponent, 0.0)) * (1.0 + self.relative_error(tilt))

    def relative_error(self, tilt: float) -> float:
        """Relative error of the product of all tilted masses; the error of an exponent is proportional to its size."""
        farthest = max(float(np.max(np.abs(losses))) for losses in self.losses)
        count = sum(n for _, n in self.items)
        return 1e-12 + math.expm1(8 * UNIT * count * (4 + 2 * min(tilt * farthest, 740.0)))

    def reach(self, tilt: float, sign: int) -> float:
        """Return the loss above (sign 1) or below (sign -1) which the tilted law has mass at most OUTSIDE, by Chernoff.

        The best push is searched on the coarse law; its bound is then computed on the exact law.
        """
        farthest = sign * sum(n * float(losses[-1 if sign > 0 else 0]) for (_, n), losses in self.pairs())
        push = self._best_push(tilt, sign)
        if push is None:
            return sign * farthest
        bound = (self.value(tilt + sign * push) - self.value(tilt) - math.log(OUTSIDE)) / push
        return sign * min(farthest, bound)

    def _best_push(self, tilt: float, sign: int) -> float | None:
        at_tilt, _, variance = self.coarse.derivatives(tilt)
        push = math.sqrt(-2 * math.log(OUTSIDE) / variance) if variance > 0 else 1.0
        end = max(abs(float(losses[-1 if sign > 0 else 0])) for losses in self.losses)
        room = 2 * LARGEST_TILTED_LOSS / max(end, self.items[0][0].step) - (tilt if sign > 0 else 0.0)
        push = min(push, 0.999 * room)  # the variance does not account for rare, very large losses
        found, best = None, math.inf
        for _ in range(MOST_PUSHES if push > 0 else 0):
            bound = (self.coarse.value(tilt + sign * push) - at_tilt - math.log(OUTSIDE)) / push
            if bound > 1.001 * best:
                break
            if bound < best:
                found, best = push, bound
            push *= 0.7
        return found

    @property
    def _largest_tilt(self) -> float:
        return min(LARGEST_TILTED_LOSS / self.largest, LARGEST_TILTED_STEP / self.items[0][0].step)

    def _tilt(self, too_small: Callable[[float, float, float], bool]) -> float:
        """Approximate the smallest tilt that is not `too_small(tilt, K, K')`; any tilt gives a valid bound."""
        return _located(self.coarse, too_small, self._largest_tilt)


def _located(laws: _Flat, too_small: Callable[[float, float, float], bool], limit: float) -> float:
    """Bisect the tilt until the mean is located; under heavy tails the mean jumps, so the tilt cannot decide."""
    low, at_low = 0.0, laws.derivatives(0.0)
    if not too_small(low, *at_low[:2]):
        return low
    high = min(limit, 1.0 / math.sqrt(max(at_low[2], 1e-300)))
    at_high = laws.derivatives(high)
    while high < limit and too_small(high, *at_high[:2]):
        low, at_low = high, at_high
        high = min(limit, 2.0 * high)
        at_high = laws.derivatives(high)
    for _ in range(MOST_BISECTIONS):
        if at_high[1] - at_low[1] <= LOCATED * math.sqrt(max(at_low[2], 0.0)):
            break
        middle = 0.5 * (low + high)
        at_middle = laws.derivatives(middle)
        if too_small(middle, *at_middle[:2]):
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return high


class _Flat:
    """The losses of all items concatenated, so that many short laws are as fast as one long law."""

    def __init__(self, laws: Sequence[tuple[Floats, Floats]], counts: Sequence[int]) -> None:
        self.counts = np.array(counts, dtype=float)
        self.lengths = np.array([len(masses) for masses, _ in laws])
        self.starts = np.append(0, np.cumsum(self.lengths)[:-1])
        self.masses: Floats = _one_after_the_other([masses for masses, _ in laws])
        self.losses: Floats = _one_after_the_other([losses for _, losses in laws])

    def value(self, tilt: float) -> float:
        """K at `tilt`."""
        _, norm, top = self._weights(tilt)
        return float(self.counts @ (np.log(norm) + top))

    def derivatives(self, tilt: float) -> tuple[float, float, float]:
        """K, K' and K'' at `tilt`."""
        weights, log_norm = self.tilted(tilt)
        weighted = weights * self.losses
        mean, square = self.sums(weighted), self.sums(weighted * self.losses)
        value, slope, bend = (float(self.counts @ column) for column in (log_norm, mean, square - mean * mean))
        return value, slope, bend

    def sums(self, values: Floats) -> Floats:
        """Sums of the values, per item."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def tilted(self, tilt: float) -> tuple[Floats, Floats]:
        """Return the masses times exp(tilt * loss), normalised, and the logarithm of the norm of each item."""
        weights, norm, top = self._weights(tilt)
        weights /= self._spread(norm)
        return weights, np.log(norm) + top

    def _weights(self, tilt: float) -> tuple[Floats, Floats, Floats]:
        weights = tilt * self.losses
        top = np.maximum(weights[self.starts], weights[self.starts + self.lengths - 1])
        weights -= self._spread(top)
        np.exp(np.maximum(weights, -740.0, out=weights), out=weights)
        weights *= self.masses
        return weights, self.sums(weights), top

    def _spread(self, values: Floats) -> Floats:
        return values if len(values) == 1 else np.repeat(values, self.lengths)


def _one_after_the_other(parts: Sequence[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _thinned(masses: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Merge neighbouring atoms at their mean, except the largest losses, on which tilted laws depend most."""
    below = len(masses) - TOP_ATOMS
    width = -(-below // FEW_ATOMS)
    if width <= 1:
        return masses, losses
    starts = np.append(np.arange(0, below, width), np.arange(below, len(masses)))
    sums = np.add.reduceat(masses, starts)
    means = np.add.reduceat(masses * losses, starts) / np.maximum(sums, 1e-300)
    return sums, np.where(sums > 1e-280, means, losses[starts])
