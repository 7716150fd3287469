"""Bounds of a composition, of which the least that applies is reported, and quick estimates for searches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..events.base import Event, Floats
from ..events.gaussian import gdp_delta, gdp_epsilon
from ..events.pure_dp import PureDP
from .backward_induction import induction_profile, rough_induction_epsilon
from .composed_losses import composed_losses
from .grid import loss_scale
from .renyi import delta_from_moment, epsilon_from_moment
from .uses import Uses, coarsened, total, total_square

LARGEST_MU = 27.0  # losses reach mu (mu / 2 + 10), whose exponential must not overflow
LARGEST_PURE = 500.0  # the exponential of a larger loss nearly overflows
ROUGH_LEVELS = 24  # distinct noise levels of a rough epsilon
VARIANCE_LEVELS = 8  # distinct noise levels of a rough variance
SMALL_RANGE = 0.02  # bits of a smaller range are approximated by fewer bits of a larger range


class Bound(Protocol):
    """Converts delta into a valid epsilon and epsilon into a valid delta."""

    def epsilon(self, delta: float) -> float:
        """Upper bound of epsilon; infinite if there is none."""

    def delta(self, epsilon: float) -> float:
        """Upper bound of delta; 1 if there is none."""


@dataclass(frozen=True)
class PureBound:
    """Basic composition: the pure epsilons add up."""

    summed: float

    def epsilon(self, delta: float) -> float:  # noqa: D102
        return self.summed

    def delta(self, epsilon: float) -> float:  # noqa: D102
        return 0.0 if epsilon >= self.summed else 1.0


@dataclass(frozen=True)
class GaussianBound:
    """Exact composition of Gaussian mechanisms: the squares of mu add up."""

    mu: float

    def epsilon(self, delta: float) -> float:  # noqa: D102
        return gdp_epsilon(self.mu, delta)

    def delta(self, epsilon: float) -> float:  # noqa: D102
        return float(gdp_delta(self.mu, np.array([epsilon]))[0])


@dataclass(frozen=True)
class RenyiBound:
    """Renyi divergences add up; an event without a Renyi curve contributes the moments of its discretised loss."""

    uses: Uses
    adjacency: str

    def epsilon(self, delta: float) -> float:  # noqa: D102
        worst = 0.0
        for direction in self._directions():
            infinity = self._infinity(direction)
            if infinity >= delta:
                return math.inf
            moment = lambda orders, d=direction: self._log_moment(orders, d)  # noqa: E731
            worst = max(worst, epsilon_from_moment(moment, delta - infinity))
        return worst

    def delta(self, epsilon: float) -> float:  # noqa: D102
        worst = 0.0
        for direction in self._directions():
            moment = lambda orders, d=direction: self._log_moment(orders, d)  # noqa: E731
            worst = max(worst, self._infinity(direction) + delta_from_moment(moment, epsilon))
        return min(1.0, worst)

    def _without_curve(self) -> Uses:
        probe = np.array([2.0])
        return tuple(use for use in self.uses if use[0].log_moment(probe, self.adjacency) is None)

    def _directions(self) -> range:
        rest = self._without_curve()
        return range(len(composed_losses(rest, self.adjacency).directions)) if rest else range(1)

    def _infinity(self, direction: int) -> float:
        rest = self._without_curve()
        return composed_losses(rest, self.adjacency).directions[direction].infinity if rest else 0.0

    def _log_moment(self, orders: Floats, direction: int) -> Floats:
        rest = self._without_curve()
        known = tuple(use for use in self.uses if use not in rest)
        moment: Floats = total(known, lambda event: event.log_moment(orders, self.adjacency))  # type: ignore[arg-type,return-value]
        if rest:
            cumulants = composed_losses(rest, self.adjacency).directions[direction]
            moment = moment + np.array([cumulants.value(order - 1.0) for order in orders])
        return moment


def pure_bound(uses: Uses, adjacency: str) -> Bound | None:
    """Return basic composition, which applies if every event is pure."""
    summed = total(uses, lambda event: event.pure_epsilon(adjacency)) * (1 + 1e-14)
    return PureBound(summed) if math.isfinite(summed) else None


def gaussian_bound(uses: Uses, adjacency: str) -> Bound | None:
    """Return exact composition, which applies if every event is an unsampled Gaussian."""
    if any(event.gaussian_mu(adjacency) is None for event, _ in uses):
        return None
    return GaussianBound(math.sqrt(total_square(uses, adjacency)))


def induction_bound(uses: Uses, adjacency: str) -> Bound | None:
    """Return the bound for events of bounded range; each is priced at the widest range among them."""
    ranges = [event.bounded_range(adjacency) for event, _ in uses]
    widest = max(math.inf if s is None else s for s in ranges)
    return induction_profile(widest, int(total(uses, lambda event: 1.0)))


def renyi_bound(uses: Uses, adjacency: str) -> Bound | None:
    """Return the Renyi bound if some event has bounded range: only there can it beat the discretised loss."""
    useful = any(event.bounded_range(adjacency) is not None for event, _ in uses)
    return RenyiBound(uses, adjacency) if useful else None


def fourier_bound(uses: Uses, adjacency: str, rough: bool = False) -> Bound | None:
    """Return the composed discretised loss, unless the unsampled Gaussians are so costly that it would overflow."""
    gaussian = tuple(use for use in uses if use[0].gaussian_mu(adjacency) is not None)
    if math.sqrt(total_square(gaussian, adjacency)) > LARGEST_MU:
        return None
    return composed_losses(uses, adjacency, rough)


def bounds_of(uses: Uses, adjacency: str, *, rough: bool = False) -> list[Bound]:
    """Return every bound that applies, or only the exact one if there is one; if `rough`, on a coarser grid."""
    exact = gaussian_bound(uses, adjacency)
    if exact is not None:
        return [exact]
    pure = pure_bound(uses, adjacency)
    if _reveals_all(uses, adjacency):
        return [] if pure is None else [pure]
    candidates = [
        pure,
        induction_bound(uses, adjacency),
        renyi_bound(uses, adjacency),
        fourier_bound(uses, adjacency, rough),
    ]
    return [bound for bound in candidates if bound is not None]


def _reveals_all(uses: Uses, adjacency: str) -> bool:
    """Return whether one use has so large a loss, and so likely, that no bound improves on the sum of pure epsilons."""
    return any(
        LARGEST_PURE < event.pure_epsilon(adjacency) < math.inf
        for event, _ in uses
        if isinstance(event, PureDP) or event.bounded_range(adjacency) is not None
    )


def quick_bounds_of(uses: Uses, adjacency: str) -> list[Bound]:
    """Return the bounds that need no grid."""
    exact = gaussian_bound(uses, adjacency)
    candidates = [exact] if exact is not None else [pure_bound(uses, adjacency), renyi_bound(uses, adjacency)]
    return [bound for bound in candidates if bound is not None]


def rough_epsilon(uses: Uses, adjacency: str, delta: float) -> float:
    """Approximate epsilon at this delta, usually within 1 %, for searches and never for a claim.

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
    few = coarsened(uses, ROUGH_LEVELS)
    if widest < SMALL_RANGE or pure == math.inf:  # without induction, bits cost more than their Gaussian limit
        rough = [(event.roughly() if event.bounded_range(adjacency) is None else event, n) for event, n in few]
    else:
        rough = [(event.roughly(), n) for event, n in few]
    return min([pure, *(bound.epsilon(delta) for bound in bounds_of(tuple(rough), adjacency, rough=True))])


def rough_variance(uses: Uses, adjacency: str) -> float:
    """Approximate the variance of the composed loss."""
    return math.fsum(n * _variance(event.roughly(), adjacency) for event, n in coarsened(uses, VARIANCE_LEVELS))


def _variance(event: Event, adjacency: str) -> float:
    mu, reach = event.gaussian_mu(adjacency), event.bounded_range(adjacency)
    if mu is not None:
        return mu * mu
    return loss_scale(event, adjacency)[0] if reach is None else reach * reach / 4.0
