"""The discretised losses of a composition on a common grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from ..events.gaussian import GDP
from .cumulants import Cumulants
from .fourier import compose
from .grid import choose_step
from .rare_losses import without_rare_losses
from .uses import Uses, bucketed, total_square

LARGEST_ROUNDING_SHARE = 1e-3
MOST_TILTS = 4
MOST_GUESSES = 8
LEAST_SHARE = 1e-2  # below this share of the guessed delta, the surcharge for rare losses would matter
MOST_USES = 10**12  # the bound on the round-off is proven up to this count: docs/privacy/accounting.md


@dataclass(frozen=True, eq=False)
class ComposedLosses:
    """One loss if every event is symmetric, otherwise one for a removed and one for an added record."""

    directions: tuple[Cumulants, ...]

    def epsilon(self, delta: float) -> float:
        """Upper bound of epsilon: the worse direction."""
        worst = 0.0
        for direction in self.directions:
            if direction.infinity >= delta or _uses(direction) > MOST_USES:
                return math.inf
            cumulants = without_rare_losses(direction, delta)
            if worst == 0.0 or cumulants.loose_delta(worst) > delta:
                worst = max(worst, _epsilon(cumulants, delta))
        return worst

    def delta(self, epsilon: float) -> float:
        """Upper bound of delta: the worse direction."""
        if any(_uses(c) > MOST_USES or c.infinity == 1.0 for c in self.directions):
            return 1.0
        return max(_delta(c, epsilon) for c in self.directions)


def _uses(cumulants: Cumulants) -> int:
    return sum(n for _, n in cumulants.items)


def _epsilon(cumulants: Cumulants, delta: float) -> float:
    """Start with the smallest tilt, whose window is shortest, and increase it while the round-off is too large."""
    slack = max(0.0, math.log(1e8 / _uses(cumulants)))
    tilt, best = cumulants.tilt_for_delta(delta, slack), math.inf
    for _ in range(MOST_TILTS):
        composed = compose(cumulants, tilt)
        best = min(best, composed.epsilon(delta))
        if math.isfinite(best) and composed.rounding_share(best) < LARGEST_ROUNDING_SHARE:
            break
        slack /= 2
        tilt = cumulants.tilt_for_epsilon(best) if math.isfinite(best) else cumulants.tilt_for_delta(delta, slack)
    return best


def _delta(direction: Cumulants, epsilon: float) -> float:
    """Guess delta, which decides which losses count as rare; guess again if it was far too large."""
    guess, cumulants = 1.0, direction
    for _ in range(MOST_GUESSES):
        cumulants = without_rare_losses(direction, guess)
        loose = cumulants.loose_delta(epsilon)
        if loose > 0.1 * guess or cumulants is direction:
            break
        guess = loose
    found = compose(cumulants, cumulants.tilt_for_epsilon(epsilon)).delta(epsilon)
    if cumulants is direction or found > LEAST_SHARE * guess:
        return found
    cumulants = without_rare_losses(direction, found)
    return min(found, compose(cumulants, cumulants.tilt_for_epsilon(epsilon)).delta(epsilon))


def composed_losses(uses: Uses, adjacency: str, rough: bool = False) -> ComposedLosses:
    """Discretise every event on a common grid; if `rough`, on a coarser one, which is faster and overstates epsilon."""
    few = bucketed(_gaussians_merged(uses, adjacency))
    return _on_one_grid(tuple(sorted(few, key=repr)), adjacency, rough)


@lru_cache(maxsize=3)
def _on_one_grid(few: Uses, adjacency: str, rough: bool) -> ComposedLosses:
    step = choose_step(few, adjacency, rough)
    priced = [(event.privacy_loss(adjacency, step), n) for event, n in few]
    sides = max(len(losses) for losses, _ in priced)
    return ComposedLosses(
        tuple(Cumulants([(losses[min(side, len(losses) - 1)], n) for losses, n in priced]) for side in range(sides))
    )


def _gaussians_merged(uses: Uses, adjacency: str) -> Uses:
    """Replace all unsampled Gaussians by one, which is exact."""
    gaussian = tuple(use for use in uses if use[0].gaussian_mu(adjacency) is not None)
    if not gaussian:
        return uses
    squares = total_square(gaussian, adjacency)
    rest = tuple(use for use in uses if use[0].gaussian_mu(adjacency) is None)
    return (*rest, (GDP(math.sqrt(squares)), 1))
