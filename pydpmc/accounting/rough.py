"""About what a composition costs, in a small part of the time: where a search should look, never what it claims."""

from __future__ import annotations

import math

from .bounds import bounds_of
from .events import Event
from .grid import loss_scale
from .levels import about
from .uses import Uses

FEW_LEVELS = 24  # of noise, where there are many
FEWER_LEVELS = 8  # where only the variance is wanted


def rough_epsilon(uses: Uses, adjacency: str, delta: float) -> float:
    """Epsilon at this delta, usually to a part in a hundred.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> uses = ((acc.MinibatchAcceptBit(b=1000, n=10**6, v_max=0.5), 10**5),)
    >>> abs(rough_epsilon(uses, "replace", 1e-6) / acc.compose(uses).epsilon(1e-6) - 1.0) < 0.03
    True
    """
    if not uses:
        return 0.0
    rough = _rough(uses, FEW_LEVELS)
    pure = math.fsum(n * (event.bounded_range(adjacency) or math.inf) for event, n in uses)
    return min(pure, *(bound.epsilon(delta) for bound in bounds_of(rough, adjacency, rough=True)))


def rough_variance(uses: Uses, adjacency: str) -> float:
    """About the variance of the composed loss."""
    return math.fsum(n * _variance(event, adjacency) for event, n in _rough(uses, FEWER_LEVELS))


def _rough(uses: Uses, levels: int) -> Uses:
    return tuple((event.roughly(), n) for event, n in about(uses, levels))


def _variance(event: Event, adjacency: str) -> float:
    mu, reach = event.gaussian_mu(adjacency), event.bounded_range(adjacency)
    if mu is not None:
        return mu * mu
    return loss_scale(event, adjacency)[0] if reach is None else reach * reach / 4.0
