"""Accept bits and other releases whose log-likelihood ratio lies in some [t - s, t].

Claim: an accept bit whose log-odds differ by at most s between neighbours, and any other mechanism of bounded range s
(such as the exponential mechanism), costs at most the worst two-point ratio {e^t, e^{t-s}} at every step.
Neighbours: those for which s was computed. Source: docs/privacy/accounting.md, theorems 3 to 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...checks import positive
from ...rounding import upper
from .base import ADJACENCIES, Floats, ProfileEvent
from .gaussian import GDP


def range_profile(s: float, eps: Floats) -> Floats:
    """Return the largest hockey-stick divergence over the offset t: (e^{s/2} - sqrt a)^2 / (e^s - 1), a <= e^s."""
    profile: Floats = np.expm1((np.minimum(eps, s) - s) / 2) ** 2 / -math.expm1(-s)
    return profile


def range_log_moment(s: float, orders: Floats) -> Floats:
    """Return log sup_t E_P[ratio^(a-1)] in closed form, rounded up.

    With x = e^t the moment is x^b (A - B x), b = a - 1, and is largest at x = b A / (a B), clipped to [1, e^s]. For
    a s < 1 the two terms of A - B x nearly cancel, so the excess of the moment over 1 is computed instead.
    """
    b = orders - 1.0
    rise = b * math.expm1(s)
    best = np.clip(np.log1p((rise + (rise / np.expm1(np.minimum(b * s, 700.0)) - 1.0)) / orders), 0.0, s)
    fall = np.exp(-b * s)
    slope = -np.expm1(-b * s) / math.expm1(s)
    level = math.exp(s) * slope + fall
    moment: Floats = np.where(
        orders * s < 1.0,
        np.log1p(_excess_moment(s, np.minimum(orders, 1.0 / s), best)) + 1e-15 * orders * s,
        b * best + np.log(level - slope * np.exp(best)) + 1e-15 * (1.0 + b) * (1.0 + s),
    )
    return moment


def _excess_moment(s: float, orders: Floats, t: Floats) -> Floats:
    """Return E_Q[ratio^a] - 1 of the two-point ratio {e^t, e^{t-s}} of mean 1."""
    upper = -np.expm1(t - s) * np.exp(-t) / -math.expm1(-s)
    lower = np.expm1(-t) / math.expm1(-s)
    excess: Floats = upper * np.expm1(orders * t) + lower * np.expm1(orders * (t - s))
    return excess


class _BoundedRange(ProfileEvent):
    adjacencies: ClassVar[frozenset[str]] = ADJACENCIES

    @property
    def _range(self) -> float:
        raise NotImplementedError

    @property
    def epsilon_max(self) -> float:
        return self._range

    def profile(self, eps: Floats) -> Floats:
        return range_profile(self._range, eps)

    def bounded_range(self, adjacency: str) -> float:
        return self._range

    def roughly(self) -> GDP:
        return GDP(self._range / 2)  # the limit of a composition of many

    def log_moment(self, orders: Floats, adjacency: str) -> Floats:
        return range_log_moment(self._range, orders)

    @property
    def level(self) -> tuple[tuple[object, ...], float]:
        return (type(self),), self._range


@dataclass(frozen=True)
class AcceptBit(_BoundedRange):
    """One Barker accept bit on the full data, whose log-odds differ by at most `shift` between neighbours.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.compose([(acc.AcceptBit(shift=0.063), 250)]).epsilon(1e-6), 2)
    2.24
    """

    shift: float

    def __post_init__(self) -> None:
        positive(self.shift, "shift")

    @property
    def _range(self) -> float:
        return self.shift

    def describe(self) -> str:  # noqa: D102
        return f"an accept/reject bit on all records; its log-odds differ by at most {upper(self.shift)} for neighbours"


@dataclass(frozen=True)
class BoundedRange(_BoundedRange):
    """One draw from an exponential mechanism of range `eta`, e.g. an exact draw from a tempered posterior.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.compose([(acc.BoundedRange(eta=0.5), 1)]).epsilon(1e-9), 3)
    0.5
    """

    eta: float

    def __post_init__(self) -> None:
        positive(self.eta, "eta")

    @property
    def _range(self) -> float:
        return self.eta

    def describe(self) -> str:  # noqa: D102
        return f"a release whose log-likelihood ratio has range {upper(self.eta)}"
