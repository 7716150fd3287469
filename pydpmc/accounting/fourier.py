"""Composition of privacy losses by one exponentially tilted Fourier transform, with every error bounded.

The tilt centres the composed law where the answer lies, so that the relative round-off there is tiny even at
delta = 1e-12 after a million steps. Wrap-around only adds mass; what lies outside the window is bounded by
Chernoff's inequality and added, and so is the round-off of the transforms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from .privacy_loss import UNIT, PrivacyLoss

Floats = NDArray[np.float64]
Item = tuple[PrivacyLoss, int]
OUTSIDE = 1e-13  # tilted probability allowed outside the window, on each side
LARGEST_TILTED_LOSS = 300.0


class Cumulants:
    """Cumulant generating function of the composed finite loss (sub-normalised by the mass at infinity)."""

    def __init__(self, items: Sequence[Item]):
        self.items = items
        self.losses = [loss.losses for loss, _ in items]
        self.largest = max(float(np.max(np.abs(losses))) for losses in self.losses)
        self.infinity = -math.expm1(sum(n * math.log1p(-loss.infinity) for loss, n in items))

    def tilted(self, loss: PrivacyLoss, losses: Floats, tilt: float) -> tuple[Floats, float]:
        """Tilted masses, normalised, and the logarithm of their norm."""
        exponents = tilt * losses
        top = float(np.max(exponents))
        masses = loss.masses * np.exp(exponents - top)
        norm = float(np.sum(masses))
        return masses / norm, math.log(norm) + top

    def value(self, tilt: float) -> float:
        """K(tilt) = log of the tilt-th exponential moment."""
        pairs = zip(self.items, self.losses, strict=True)
        return sum(n * self.tilted(loss, losses, tilt)[1] for (loss, n), losses in pairs)

    def with_derivatives(self, tilt: float) -> tuple[float, float, float]:
        """K, K' and K'' at `tilt`."""
        total = np.zeros(3)
        for (loss, n), losses in zip(self.items, self.losses, strict=True):
            masses, log_norm = self.tilted(loss, losses, tilt)
            mean = float(masses @ losses)
            total += n * np.array([log_norm, mean, float(masses @ (losses - mean) ** 2)])
        return float(total[0]), float(total[1]), float(total[2])

    def tilt_for(self, too_small: Callable[[float, float, float], bool]) -> float:
        """Roughly the smallest tilt >= 0 at which `too_small(tilt, K, K')` ends."""
        limit = LARGEST_TILTED_LOSS / self.largest
        value, mean, variance = self.with_derivatives(0.0)
        if not too_small(0.0, value, mean):
            return 0.0
        low, high = 0.0, min(limit, 1.0 / math.sqrt(max(variance, 1e-300)))
        while high < limit and too_small(high, *self.with_derivatives(high)[:2]):
            low, high = high, min(limit, 2.0 * high)
        for _ in range(6):
            middle = 0.5 * (low + high)
            if too_small(middle, *self.with_derivatives(middle)[:2]):
                low = middle
            else:
                high = middle
        return high


def tilt_for_delta(cumulants: Cumulants, delta: float) -> float:
    """The tilt whose Chernoff bound is delta at its own mean."""
    return cumulants.tilt_for(lambda t, value, mean: value - t * mean > math.log(delta))


def tilt_for_epsilon(cumulants: Cumulants, epsilon: float) -> float:
    """The tilt whose mean is epsilon."""
    return cumulants.tilt_for(lambda t, value, mean: mean < epsilon)


@dataclass(frozen=True, eq=False)
class ComposedLoss:
    """The composed law: mass ``exp(log_scale - tilt * loss) * tilted`` at each loss of the window."""

    losses: Floats
    tilted: Floats
    tilt: float
    log_scale: float
    infinity: float
    outside: float
    entry_error: float

    def delta(self, epsilon: float) -> float:
        """Upper bound of delta at this epsilon."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        excess = self.losses[first:] - epsilon
        weights = np.exp(-self.tilt * excess) * -np.expm1(-excess)
        inside = float(np.maximum(self.tilted[first:], 0.0) @ weights)
        inside += self.entry_error * float(np.sum(weights)) + self._truncated(epsilon)
        log_factor = self.log_scale - self.tilt * epsilon
        return min(1.0, self.infinity + inside * (1 + 1e-12) * math.exp(min(log_factor, 700.0)))

    def _truncated(self, epsilon: float) -> float:
        """Tilted mass that the window misses, relative to the tilt factor at epsilon."""
        above = self.outside * math.exp(-self.tilt * max(0.0, float(self.losses[-1]) - epsilon))
        below = self.outside if epsilon < self.losses[0] else 0.0
        return above + below

    def epsilon(self, delta: float) -> float:
        """Upper bound of epsilon at this delta: every value returned was checked by `delta`."""
        if self.delta(0.0) <= delta:
            return 0.0
        if self.delta(float(self.losses[-1])) > delta:
            return math.inf
        guess = max(0.0, self._estimate(delta))
        margin = 1e-12 + 1e-10 * guess
        while self.delta(guess + margin) > delta:
            margin *= 4.0
        return guess + margin

    def _estimate(self, delta: float) -> float:
        """Epsilon by suffix sums over the nodes; inside a cell delta is linear in exp(epsilon)."""
        centre = float(self.losses[len(self.losses) // 2])
        excess = np.clip(self.losses - centre, -LARGEST_TILTED_LOSS, LARGEST_TILTED_LOSS)
        masses = np.maximum(self.tilted, 0.0) * np.exp(np.clip(-self.tilt * excess, -690.0, 690.0))
        tail_p = np.cumsum(masses[::-1])[::-1]
        tail_q = np.cumsum((masses * np.exp(-excess))[::-1])[::-1]
        log_unit = min(max(self.log_scale - self.tilt * centre, -690.0), 690.0)  # a guess may be coarse
        wanted = (delta - self.infinity) / math.exp(log_unit)
        at_nodes = tail_p - np.exp(excess) * tail_q
        crossed = np.nonzero(at_nodes <= wanted)[0]
        node = int(crossed[0]) if len(crossed) else len(self.losses) - 1
        ratio = (tail_p[node] - wanted) / tail_q[node] if tail_q[node] > 0 else 0.0
        inside = centre + math.log(ratio) if ratio > 0 else -math.inf
        return float(min(max(inside, self.losses[max(node - 1, 0)]), self.losses[node]))


def compose(cumulants: Cumulants, tilt: float) -> ComposedLoss:
    """Compose each loss with its multiplicity, tilted by `tilt`."""
    step = cumulants.items[0][0].step
    log_scale, _, variance = cumulants.with_derivatives(tilt)
    bottom, top = (_chernoff_end(cumulants, tilt, log_scale, variance, sign) for sign in (-1, 1))
    length = fft.next_fast_len(max(16, math.ceil((top - bottom) / step) + 2), real=True)
    start = math.floor(bottom / step)
    tilted, entry_error = _tilted_convolution(cumulants, tilt, length, start)
    return ComposedLoss(
        losses=step * (start + np.arange(length, dtype=float)),
        tilted=tilted,
        tilt=tilt,
        log_scale=log_scale,
        infinity=cumulants.infinity,
        outside=OUTSIDE,
        entry_error=entry_error,
    )


def _chernoff_end(cumulants: Cumulants, tilt: float, at_tilt: float, variance: float, sign: int) -> float:
    """Beyond this loss the tilted law has mass at most OUTSIDE (sign +1: above, -1: below)."""
    extreme = sum(n * float(losses[-1 if sign > 0 else 0]) for (_, n), losses in _paired(cumulants))
    if variance <= 0.0:
        return extreme
    log_outside = math.log(OUTSIDE)
    guess = math.sqrt(-2 * log_outside / variance)
    best = extreme * sign
    for factor in (0.35, 0.5, 0.7, 0.85, 1.0, 1.2):
        push = guess * factor
        if (tilt + push) * cumulants.largest < 2 * LARGEST_TILTED_LOSS:
            best = min(best, (cumulants.value(tilt + sign * push) - at_tilt - log_outside) / push)
    return sign * best


def _paired(cumulants: Cumulants) -> list[tuple[Item, Floats]]:
    return list(zip(cumulants.items, cumulants.losses, strict=True))


def _tilted_convolution(
    cumulants: Cumulants, tilt: float, length: int, start: int
) -> tuple[Floats, float]:
    """Entries ``start + k`` of the composed tilted law, and a bound on the error of each."""
    log_spectrum = np.zeros(length // 2 + 1, dtype=complex)
    weakest = np.zeros(length // 2 + 1)
    offset = 0
    for (loss, n), losses in _paired(cumulants):
        masses, _ = cumulants.tilted(loss, losses, tilt)
        folded = _folded(masses, length)
        spectrum = fft.rfft(folded)
        spectrum[np.abs(spectrum) < 1e-280] = 1e-280
        log_one = np.log(spectrum)
        log_spectrum += n * log_one
        np.minimum(weakest, log_one.real, out=weakest)
        offset += n * loss.lowest
    count = sum(n for _, n in cumulants.items)
    magnitude = log_spectrum.real
    levels = math.log2(length) + 8
    relative = np.exp(np.minimum(magnitude - weakest, 0.0))  # |G| / |W|: how an error of W reaches G
    spectrum_error = 8 * UNIT * levels * (count + 1) * 2 * float(np.sum(relative + np.exp(magnitude))) / length
    composed = fft.irfft(np.exp(log_spectrum), length)
    return np.roll(composed, (offset - start) % length), spectrum_error


def _folded(masses: Floats, length: int) -> Floats:
    """Masses wrapped around the period."""
    rows = -(-len(masses) // length)
    padded = np.zeros(rows * length)
    padded[: len(masses)] = masses
    return padded.reshape(rows, length).sum(axis=0)
