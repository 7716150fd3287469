"""The Gaussian mechanism that covers a guarantee up to a small delta.

Claim: `cover(guarantee, beside)` returns mu with h(a) <= h_mu(a) + beside at every a > 0, where h is the profile of the
guarantee's events and h_mu the profile of mu-GDP. Proof: docs/privacy/ledger.md, lemma 1.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from .events.base import Floats
from .events.gaussian import gdp_delta
from .guarantee import Guarantee

NODES = 20  # the profile is computed at these losses; it is convex, so its chords bound it in between
CELLS = 4096  # in each cell the largest value of the chords is compared with the least value of mu-GDP
LARGEST_MU = 50.0
PRECISION = 1e-4


def cover(guarantee: Guarantee, beside: float) -> float:
    """Return the smallest mu found; infinite if there is none up to `LARGEST_MU`.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> bits = acc.compose([(acc.AcceptBit(shift=0.02), 1000)])
    >>> 0.316 < cover(bits, 1e-7) < 0.33  # sqrt(1000) * 0.02 / 2 = 0.3162
    True
    """
    if guarantee.void is not None:
        return math.inf
    squares = exact_square(guarantee)
    if squares is not None:
        return math.sqrt(squares)
    losses, profile = _profile(dataclasses.replace(guarantee, total_variation=0.0), beside)
    if not math.isfinite(losses[-1]):
        return math.inf
    low, high = 0.0, LARGEST_MU
    if not _covers(high, losses, profile, beside):
        return math.inf
    while high > low * (1 + PRECISION) and high > 1e-12:
        middle = math.sqrt(low * high) if low > 0.0 else high / 4
        low, high = (low, middle) if _covers(middle, losses, profile, beside) else (middle, high)
    return high


def exact_square(guarantee: Guarantee) -> float | None:
    """Return mu^2 of a composition of unsampled Gaussians, rounded up; None if it contains any other event."""
    mus = [(event.gaussian_mu(guarantee.adjacency), n) for event, n in guarantee.events]
    if any(mu is None for mu, _ in mus):
        return None
    return sum(n * (mu or 0.0) ** 2 for mu, n in mus) * (1 + 1e-13)


def _profile(guarantee: Guarantee, beside: float) -> tuple[Floats, Floats]:
    """Return losses from 0 to where the profile has fallen to `beside`, and upper bounds of the profile there."""
    last = guarantee.epsilon(beside)
    if not math.isfinite(last) or last == 0.0:
        return np.array([0.0, last]), np.array([guarantee.delta(0.0), beside])
    losses: Floats = np.linspace(0.0, last, NODES + 1)
    return losses, np.array([*(guarantee.delta(float(loss)) for loss in losses[:-1]), beside])


def _covers(mu: float, losses: Floats, profile: Floats, beside: float) -> bool:
    """Return whether h_mu + `beside` lies above the chords; both decrease, so the ends of each cell decide."""
    if losses[-1] == 0.0:
        return True
    fine: Floats = np.linspace(0.0, losses[-1], CELLS + 1)
    chords = np.interp(np.exp(fine[:-1]), np.exp(losses), profile) * (1 + 1e-12)
    least = gdp_delta(mu, fine[1:]) * (1 - 1e-9 - 1e-12 / mu) - 1e-14
    return bool(np.all(chords <= least + beside * (1 - 1e-9)))
