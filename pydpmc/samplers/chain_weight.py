"""The tempering weight of a chain: a smaller one lets the budget pay for more diffusion, and pulls to the prior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..accounting.events.gaussian import largest_mu
from .directions import Directions, directions
from .outlook import ENOUGH_EFFECTIVE, LEAST_EFFECTIVE, Outlook, of_chain
from .request import clip_of_unit

if TYPE_CHECKING:
    from .request import Request

WEIGHTS = np.geomspace(1.0, 1e-4, 33)
STABLE, MOST_STEPS = 0.1, 1e6
PER_COORDINATE = 2.0  # a random walk of d coordinates pays 2 d times as much as a diffusion along the gradient


def best_weight(request: Request, purpose: str, walks: bool = False) -> float | None:
    """Return the weight whose chain has the best outlook in closed form, or None where too little is known.

    Privacy pays for w^2 times the time of a diffusion.
    """
    ways = directions(request.model, request.public, request.n)
    slope = clip_of_unit(request.model, request.public) or request.model.typical_lipschitz(request.public)
    if ways is None or slope is None or request.epsilon is None or request.delta is None:
        return None
    times = _times(request, ways, slope, walks)
    outlooks = {w: of_chain(ways, w, time, request.chains) for w, time in times.items()}
    return min(outlooks, key=lambda w: _rank(outlooks[w], purpose))


def _times(request: Request, ways: Directions, slope: float, walks: bool) -> dict[float, float]:
    assert request.epsilon is not None
    assert request.delta is not None
    apart = slope * (2.0 if request.adjacency == "replace" else 1.0)
    paid = 2.0 * (largest_mu(request.epsilon, request.delta) / apart) ** 2 / request.chains
    if walks:
        paid /= PER_COORDINATE * ways.dim
    steepest = float(ways.information.max() + ways.prior.max())
    smoothness = request.model.smoothness(request.public)
    curvature = steepest if smoothness is None else max(steepest, ways.n * smoothness)
    return {float(w): min(paid / w**2, MOST_STEPS * STABLE / (w * curvature)) for w in WEIGHTS}


def _rank(outlook: Outlook, purpose: str) -> tuple[float, float]:
    """Chains that mix come before all others."""
    draws = outlook.effective_draws or 0.0
    class_of = 0.0 if draws >= 1.5 * ENOUGH_EFFECTIVE else 1.0 if draws >= 1.5 * LEAST_EFFECTIVE else 2.0
    return class_of, outlook.score(purpose) if class_of < 2.0 else -math.log(max(draws, 1e-300))
