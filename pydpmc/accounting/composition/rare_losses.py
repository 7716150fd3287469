"""Truncation of losses that are too rare to matter at a given delta, which shortens the window.

Claim: `without_rare` returns a loss whose profile, composed with any others, is at least the profile of the given loss
and at most `2 * mass` above it. Proof: docs/privacy/accounting.md, composition by a tilted Fourier transform.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..loss.privacy_loss import UNIT, PrivacyLoss
from .cumulants import Cumulants

SHARE = 3e-7  # all truncations together add this share of delta, rounded to a power of ten: at most 1e-6 of delta
WORTH_IT = 0.5  # a truncation is used if at most this share of the atoms remains


def without_rare(loss: PrivacyLoss, mass: float) -> PrivacyLoss:
    """Make the largest losses, of probability at most `mass`, infinite; merge the lowest ones into the next."""
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
    """Return the composition for queries near this delta, truncated if that shortens it enough."""
    return _shortened(cumulants, round(math.log10(delta))) if delta > 1e-290 else cumulants


@lru_cache(maxsize=4)  # two directions at two deltas
def _shortened(cumulants: Cumulants, exponent: int) -> Cumulants:
    share = SHARE * 10.0**exponent / (2 * len(cumulants.items))
    items = [(without_rare(loss, share / n), n) for loss, n in cumulants.items]
    left = sum(len(loss.masses) for loss, _ in items)
    return Cumulants(items) if left <= WORTH_IT * sum(len(loss.masses) for loss, _ in cumulants.items) else cumulants
