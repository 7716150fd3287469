"""The Gaussian mechanism without subsampling: mu-GDP, which composes exactly.

Claim: noise of standard deviation ``noise_multiplier * L`` on a sum of vectors of norm at most L is mu-GDP, with
mu = 1/noise_multiplier under `add_remove` and 2/noise_multiplier under `replace`; the squares of mu add up.
Source: Dong, Roth, Su 2022; Balle, Wang 2018 for the closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..._core import erfcx
from ...checks import all_positive, positive
from ...rounding import lower, upper
from ..loss.gaussian_cells import LARGEST_DEVIATION, gaussian_loss
from ..loss.privacy_loss import UNIT, PrivacyLoss
from .base import Event, Floats

SMALLEST_MU, LARGEST_MU = 1e-12, 1e6
SMALLEST_DELTA = 1e-300  # smaller numbers are subnormal and lose digits
SECTIONS = 32  # a bracket is cut into this many parts at once, which takes no longer than a bisection

if TYPE_CHECKING:
    from .poisson_gaussian import PoissonGaussian
    from .without_replacement_gaussian import WithoutReplacementGaussian


def gdp_delta(mu: float, eps: Floats) -> Floats:
    """Return the profile of mu-GDP at eps >= 0, rounded up by more than its rounding error."""
    if mu == math.inf:
        return np.ones_like(eps)
    return np.zeros_like(eps) if mu == 0.0 else _profile(mu, eps)


def _profile(mu: float | Floats, eps: Floats) -> Floats:
    here, there = mu / 2 - eps / mu, -mu / 2 - eps / mu
    density, far = np.exp(-0.5 * here * here), erfcx(-there / math.sqrt(2))
    tail = density * (0.5 * (erfcx(np.maximum(-here, 0.0) / math.sqrt(2)) - far))
    body = 1.0 - 0.5 * density * (erfcx(np.maximum(here, 0.0) / math.sqrt(2)) + far)
    cancelled = 4 * UNIT  # ulps lost by the subtractions above
    raised = np.where(here > 0.0, body + cancelled, tail) * (1 + 1e-12 + 16 * cancelled * (1 + np.abs(here)) / mu)
    floored: Floats = np.maximum(raised, SMALLEST_DELTA)
    return floored


def gdp_epsilon(mu: float, delta: float) -> float:
    """Return the smallest epsilon of mu-GDP at delta, rounded up."""
    if mu == math.inf or (mu > 0.0 and delta < SMALLEST_DELTA):
        return math.inf
    low, high = 0.0, mu * mu / 2 + mu * 40.0
    at_low, at_high = gdp_delta(mu, np.array([low, high])) <= delta
    if at_low or not at_high:
        return 0.0 if at_low else math.inf
    while high - low > 1e-13 * high:
        points = np.linspace(low, high, SECTIONS + 1)
        fits = gdp_delta(mu, points) <= delta
        fits[0], fits[-1] = False, True
        first = int(np.argmax(fits))
        low, high = float(points[first - 1]), float(points[first])
    return high


@lru_cache(maxsize=256)
def largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu, rounded down, for which mu-GDP implies (epsilon, delta)-DP."""
    all_positive(epsilon=epsilon, delta=delta)
    low, high = SMALLEST_MU, LARGEST_MU
    while high > low * (1.0 + 1e-12):
        points = np.geomspace(low, high, SECTIONS + 1)
        fits = _profile(points, np.asarray(epsilon)) <= delta
        fits[0], fits[-1] = True, False
        first = int(np.argmin(fits))
        low, high = float(points[first - 1]), float(points[first])
    return low


@dataclass(frozen=True)
class GDP(Event):
    """A release that is mu-GDP under the adjacency of its composition.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.compose([(acc.GDP(mu=0.1), 100)]).epsilon(1e-5), 4)
    4.3772
    """

    mu: float

    def __post_init__(self) -> None:
        positive(self.mu, "mu")

    def gaussian_mu(self, adjacency: str) -> float:  # noqa: D102
        return self.mu

    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:  # noqa: D102
        return (gaussian_loss(self.gaussian_mu(adjacency), step),)

    def largest_loss(self, adjacency: str) -> float:  # noqa: D102
        mu = self.gaussian_mu(adjacency)
        return mu * (mu / 2 + LARGEST_DEVIATION)

    def log_moment(self, orders: Floats, adjacency: str) -> Floats:  # noqa: D102
        return orders * (orders - 1.0) * self.gaussian_mu(adjacency) ** 2 / 2

    def describe(self) -> str:  # noqa: D102
        return f"a release that is {upper(self.mu)}-GDP"


@dataclass(frozen=True)
class Gaussian(Event):
    """A clipped sum with Gaussian noise of standard deviation ``noise_multiplier`` times the clipping norm.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> step = acc.Gaussian(noise_multiplier=1.0).poisson(rate=0.01)
    >>> round(acc.compose([(step, 1000)], adjacency="add_remove").epsilon(1e-5), 3)
    1.828
    """

    noise_multiplier: float

    def __post_init__(self) -> None:
        positive(self.noise_multiplier, "noise_multiplier")

    def poisson(self, rate: float) -> Gaussian | PoissonGaussian:
        """Return the same sum over a Poisson sample: each record enters with probability `rate`."""
        from .poisson_gaussian import PoissonGaussian

        return self if rate == 1.0 else PoissonGaussian(self.noise_multiplier, rate)

    def without_replacement(self, b: int, n: int) -> Gaussian | WithoutReplacementGaussian:
        """Return the same sum over b of n records, drawn anew without replacement at each use."""
        from .without_replacement_gaussian import WithoutReplacementGaussian

        return self if b == n else WithoutReplacementGaussian(self.noise_multiplier, b, n)

    def gaussian_mu(self, adjacency: str) -> float:  # noqa: D102
        return (2.0 if adjacency == "replace" else 1.0) / self.noise_multiplier

    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:  # noqa: D102
        return GDP(self.gaussian_mu(adjacency)).privacy_loss(adjacency, step)

    def largest_loss(self, adjacency: str) -> float:  # noqa: D102
        return GDP(self.gaussian_mu(adjacency)).largest_loss(adjacency)

    def log_moment(self, orders: Floats, adjacency: str) -> Floats:  # noqa: D102
        return GDP(self.gaussian_mu(adjacency)).log_moment(orders, adjacency)

    def describe(self) -> str:  # noqa: D102
        return f"a sum over all records with Gaussian noise (noise multiplier {lower(self.noise_multiplier)})"
