"""Curves that explain a guarantee: epsilon against delta and against releases, and the success of an attack."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from ..accounting import Guarantee
from ..errors import InvalidArgument, NotPrivateError

DELTAS = tuple(float(d) for d in np.logspace(-12, -2, 11))
PARTS = 8
PROFILE_POINTS = 25


def epsilon_over_delta(guarantee: Guarantee, deltas: Sequence[float] = DELTAS) -> list[tuple[float, float]]:
    """Return (delta, epsilon) pairs; a delta that no epsilon attains is left out."""
    _require_guarantee(guarantee)
    pairs = [(delta, guarantee.epsilon(delta)) for delta in deltas]
    return [(delta, epsilon) for delta, epsilon in pairs if math.isfinite(epsilon)]


def epsilon_over_uses(guarantee: Guarantee, delta: float, parts: int = PARTS) -> list[tuple[int, float]]:
    """Return (uses, epsilon) pairs for a growing share of the uses of every event, up to all of them.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> curve = epsilon_over_uses(acc.compose([(acc.AcceptBit(shift=0.05), 1000)]), 1e-6, parts=2)
    >>> [uses for uses, _ in curve], curve[0][1] < curve[1][1]
    ([500, 1000], True)
    """
    _require_guarantee(guarantee)
    curve: dict[int, float] = {}
    for part in range(1, parts + 1):
        uses = tuple((event, math.ceil(n * part / parts)) for event, n in guarantee.events)
        spent = dataclasses.replace(guarantee, events=uses).epsilon(delta)
        curve[sum(n for _, n in uses)] = spent
    return sorted(curve.items())


def attack_success(guarantee: Guarantee, false_positive_rates: Sequence[float]) -> list[float]:
    """Return the largest true-positive rate of any attack at each false-positive rate, whatever the attacker knows.

    An attack decides from the release which of two neighbouring data sets was used. If the release is
    (epsilon, delta)-DP, its true-positive rate t and false-positive rate f satisfy t <= e^epsilon f + delta and
    1 - f <= e^epsilon (1 - t) + delta. The result is the least bound over the whole curve.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> bound, = attack_success(acc.compose([(acc.PureDP(epsilon=1.0), 1)]), [0.01])
    >>> 0.0271 < bound < 0.0273
    True
    """
    _require_guarantee(guarantee)
    curve = profile(guarantee)
    rates = []
    for f in false_positive_rates:
        if not 0.0 <= f <= 1.0:
            raise InvalidArgument(f"false_positive_rates must lie in [0, 1], not {f!r}")
        bounds = [_times_exp(e, f) + d for e, d in curve] + [1.0 - math.exp(-e) * (1.0 - d - f) for e, d in curve]
        rates.append(min(1.0, *bounds))
    return rates


def best_guess(guarantee: Guarantee) -> float:
    """Return the largest probability of telling which of two equally likely data sets was used; 1/2 is guessing."""
    _require_guarantee(guarantee)
    return 0.5 + 0.5 * guarantee.delta(0.0)


def profile(guarantee: Guarantee) -> list[tuple[float, float]]:
    """Return (epsilon, delta) pairs from epsilon = 0 to where delta = 1e-9."""
    largest = guarantee.epsilon(1e-9)
    if not math.isfinite(largest):
        largest = 20.0
    grid = [0.0, *np.linspace(0.0, max(largest, 1e-6) * (1 + 1e-9), PROFILE_POINTS)[1:]]
    return [(float(e), guarantee.delta(float(e))) for e in grid]


def _require_guarantee(guarantee: Guarantee) -> None:
    if guarantee.void is not None:
        raise NotPrivateError(f"there is no guarantee to draw: {guarantee.void}")


def _times_exp(epsilon: float, rate: float) -> float:
    """Return e^epsilon times a rate; infinite, which bounds nothing, where that is too large for a number."""
    if rate == 0.0:
        return 0.0
    return math.exp(epsilon) * rate if epsilon < 700.0 else math.inf
