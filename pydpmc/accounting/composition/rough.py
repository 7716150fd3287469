"""About what a composition costs, in a small part of the time: where a search should look, never what it claims."""

from __future__ import annotations

import math

from ..events.base import Event
from .backward_induction import rough_induction_epsilon
from .bounds import bounds_of
from .grid import loss_scale
from .noise_levels import about
from .uses import Uses

FEW_LEVELS = 24  # of noise, where there are many
FEWER_LEVELS = 8  # where only the variance is wanted
SMALL_RANGE = 0.02  # of a bit, below which fewer of a larger range tell its cost


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
    ranges = [event.bounded_range(adjacency) for event, _ in uses]
    widest = max(math.inf if reach is None else reach for reach in ranges)
    pure = math.fsum(n * (math.inf if reach is None else reach) for reach, (_, n) in zip(ranges, uses, strict=True))
    if widest < SMALL_RANGE:
        bits = rough_induction_epsilon(widest, sum(n for _, n in uses), delta)
        if bits < math.inf:
            return min(pure, bits)
    few = about(uses, FEW_LEVELS)
    if widest < SMALL_RANGE or pure == math.inf:  # where no induction will be made, bits cost more than they tend to
        rough = [(event.roughly() if event.bounded_range(adjacency) is None else event, n) for event, n in few]
    else:
        rough = [(event.roughly(), n) for event, n in few]
    return min([pure, *(bound.epsilon(delta) for bound in bounds_of(tuple(rough), adjacency, rough=True))])


def rough_variance(uses: Uses, adjacency: str) -> float:
    """About the variance of the composed loss."""
    return math.fsum(n * _variance(event.roughly(), adjacency) for event, n in about(uses, FEWER_LEVELS))


def _variance(event: Event, adjacency: str) -> float:
    mu, reach = event.gaussian_mu(adjacency), event.bounded_range(adjacency)
    if mu is not None:
        return mu * mu
    return loss_scale(event, adjacency)[0] if reach is None else reach * reach / 4.0
