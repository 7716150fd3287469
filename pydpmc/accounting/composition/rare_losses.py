"""Losses so rare that they hardly matter at a given delta, made harmless for the length of the window.

Claim: `without_rare` returns a law whose profile, composed with any others, is at least that of the given one and at
most `2 * mass` above it. Proof: docs/privacy/accounting.md, composition by a tilted Fourier transform.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..loss.privacy_loss import UNIT, PrivacyLoss
from .cumulants import Cumulants

SHARE = 3e-7  # of delta, rounded to a power of ten, that all of them together may add: at most 1e-6 of delta
WORTH_IT = 0.5  # of the atoms, at most, must be left


def without_rare(loss: PrivacyLoss, mass: float) -> PrivacyLoss:
    """The largest losses, of at most this probability, as infinite; the lowest as the first that is not as rare."""
    from_below, from_above = np.cumsum(loss.masses), np.cumsum(loss.masses[::-1])
    first = int(np.searchsorted(from_below, mass, side="right"))
    dropped = int(np.searchsorted(from_above, mass, side="right"))
    last = len(loss.masses) - dropped
    if first >= last:
        return loss
    rounding = 1.0 + len(loss.masses) * UNIT
    masses = loss.masses[first:last].copy()
    masses[0] += rounding * float(from_below[first - 1]) if first else 0.0
    infinity = loss.infinity + (rounding * float(from_above[dropped - 1]) if dropped else 0.0)
    return PrivacyLoss(loss.step, loss.lowest + first, masses, infinity)


def without_rare_losses(cumulants: Cumulants, delta: float) -> Cumulants:
    """The same composition for queries near this delta, shorter where that is worth it."""
    return _shortened(cumulants, round(math.log10(delta))) if delta > 1e-290 else cumulants


@lru_cache(maxsize=4)  # both directions, at two deltas
def _shortened(cumulants: Cumulants, exponent: int) -> Cumulants:
    share = SHARE * 10.0**exponent / (2 * len(cumulants.items))
    items = [(without_rare(loss, share / n), n) for loss, n in cumulants.items]
    left = sum(len(loss.masses) for loss, _ in items)
    return Cumulants(items) if left <= WORTH_IT * sum(len(loss.masses) for loss, _ in cumulants.items) else cumulants
