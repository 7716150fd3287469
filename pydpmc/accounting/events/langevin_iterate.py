"""The last iterate of full-batch Langevin dynamics, with all other iterates hidden.

Claim: t steps X' = F(X) + sqrt(2h) xi are mu-GDP with mu = s sqrt(h/2) sqrt((1-c^t)/(1+c^t) (1+c)/(1-c)) if the maps F,
F' computed for neighbours satisfy |F(x) - F'(y)| <= c|x - y| + hs; for gradient steps c = max(|1-hm|, |1-hM|). Composed
as t releases they are s_0 sqrt(ht/2)-GDP, where h s_0 is the largest |F(x) - F'(x)|. If the last step is half a step,
X' = X + (F(X) - X)/2 + sqrt(h/2) xi, it is composed with the last iterate of the t - 1 steps before it, and adds
s_0^2 h/2 to the square of their mu.
Source: Bok, Su, Altschuler 2024. Proof: docs/privacy/langevin.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...checks import all_positive
from ...errors import InvalidArgument, UnsupportedEventError
from ...rounding import upper
from ..loss.privacy_loss import PrivacyLoss
from .base import ADJACENCIES, Event, Floats
from .gaussian import GDP

ARITHMETIC = 1.0 + 1e-12  # covers the rounding of the formula and of the square root that scales the noise
FAST_ROUNDING = 2.0**-51  # bounds the rounding of 2 - hM


@dataclass(frozen=True)
class LangevinIterate(Event):
    """One draw: the last of `steps` iterates of Langevin dynamics on a strongly convex, smooth U.

    Parameters
    ----------
    steps, step_size
        t and h. A step size above 2/(M + m) contracts less; one of 2/M or more does not contract and is refused.
    sensitivity
        s, the largest change of the exact gradient of U between neighbours, under `adjacency`.
    strong_convexity, smoothness
        m and M of U, for every data set.
    adjacency
        The adjacency for which `sensitivity` holds; under the other one the event is refused.
    error
        2E, where E bounds the distance between the computed and the exact gradient of any data set.
    error_between_neighbours
        How much more the computed gradients of neighbours can differ at one point than the exact ones; `error` by
        default.
    half_step
        Whether the last step is half a step with half the noise.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> draw = acc.LangevinIterate(
    ...     steps=10_000, step_size=1e-3, sensitivity=0.268, strong_convexity=1.0, smoothness=100.0, adjacency="replace"
    ... )
    >>> round(acc.compose([(draw, 1)], adjacency="replace").epsilon(1e-5), 2)
    1.0
    """

    steps: int
    step_size: float
    sensitivity: float
    strong_convexity: float
    smoothness: float
    adjacency: str
    error: float = 0.0
    error_between_neighbours: float | None = None
    half_step: bool = False

    def __post_init__(self) -> None:
        all_positive(step_size=self.step_size, sensitivity=self.sensitivity, strong_convexity=self.strong_convexity)
        all_positive(steps=self.steps, smoothness=self.smoothness)
        if int(self.steps) != self.steps:
            raise InvalidArgument(f"steps must be a whole number, not {self.steps!r}")
        if self.adjacency not in ADJACENCIES:
            raise InvalidArgument(f"adjacency must be 'replace' or 'add_remove', not {self.adjacency!r}")
        for name in ("error", "error_between_neighbours"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InvalidArgument(f"{name} must be a finite number of at least 0, not {value!r}")
        if self.smoothness < self.strong_convexity:
            raise InvalidArgument("smoothness must be at least strong_convexity")
        if not self.forgetting > 0.0:
            raise UnsupportedEventError(
                f"step_size is {self.step_size:g} but must be below 2 / smoothness = {2.0 / self.smoothness:g}, or the "
                "chain does not contract"
            )
        object.__setattr__(self, "adjacencies", frozenset({self.adjacency}))

    @property
    def forgetting(self) -> float:
        """1 - c, with c = max(|1 - hm|, |1 - hM|); rounded down."""
        slow, fast = self.step_size * self.strong_convexity, 2.0 - self.step_size * self.smoothness
        return min(slow, fast - FAST_ROUNDING, 1.0)

    @property
    def contracted_mu(self) -> float:
        """The mu that follows from the contraction of the hidden steps, rounded up."""
        forgetting, whole = self.forgetting, self.steps - int(self.half_step)
        one_step = (self.sensitivity + self.error) * math.sqrt(self.step_size / 2.0)
        decay = -whole * math.log1p(-forgetting) if forgetting < 1.0 else math.inf
        before = one_step * math.sqrt(math.tanh(decay / 2.0) * (2.0 - forgetting) / forgetting) if whole else 0.0
        return (math.hypot(before, self._released_mu(1)) if self.half_step else before) * ARITHMETIC

    @property
    def composed_mu(self) -> float:
        """The mu of a release of every iterate, rounded up."""
        return self._released_mu(self.steps) * ARITHMETIC

    def _released_mu(self, steps: int) -> float:
        """Return the mu of so many released steps, whole or half."""
        excess = self.error if self.error_between_neighbours is None else self.error_between_neighbours
        return (self.sensitivity + excess) * math.sqrt(self.step_size * steps / 2.0)

    def gaussian_mu(self, adjacency: str) -> float:  # noqa: D102
        if adjacency != self.adjacency:
            raise UnsupportedEventError(
                f"adjacency of this event is {self.adjacency!r}; it has no rule for {adjacency!r}"
            )
        return min(self.contracted_mu, self.composed_mu)

    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:  # noqa: D102
        return GDP(self.gaussian_mu(adjacency)).privacy_loss(adjacency, step)

    def largest_loss(self, adjacency: str) -> float:  # noqa: D102
        return GDP(self.gaussian_mu(adjacency)).largest_loss(adjacency)

    def log_moment(self, orders: Floats, adjacency: str) -> Floats:  # noqa: D102
        return GDP(self.gaussian_mu(adjacency)).log_moment(orders, adjacency)

    def describe(self) -> str:  # noqa: D102
        mu = upper(self.gaussian_mu(self.adjacency))
        return f"the last of {self.steps} iterates of Langevin dynamics, the others hidden ({mu}-GDP)"
