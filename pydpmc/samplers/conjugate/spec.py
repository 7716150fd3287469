"""Draws from a Gaussian posterior in closed form.

Claim: all draws together are mu-GDP, unconditionally. Neighbours: replace, or add_remove. Assumes: nothing. Proof:
docs/privacy/conjugate.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...checks import positive, whole
from ...models import GaussianMean
from ..base import Sampler
from ..request import check_weight

if TYPE_CHECKING:
    from ..request import Request
    from .settings import ConjugateSettings

MOST_DRAWS = 1_000_000
FREE_DRAWS, DRAWS_FOR_INTERVAL = 4000, 20


@dataclass(frozen=True)
class ConjugateSample(Sampler):
    """Independent draws from the posterior of ``GaussianMean`` or of ``LinearRegression`` with known sigma.

    For ``GaussianMean`` the draws are exact draws from the (tempered) posterior, whose own spread is the mechanism; k
    draws cost sqrt(k) times the mu of one. For ``LinearRegression``, X'X and X'y are released once with noise. The
    draws come from the posterior given the noised sums, which the noise widens; any number of draws costs the same.
    Priors must be ``Normal`` or ``Flat``; bounds (``row_norm`` or ``x_bounds``, and ``y_bounds``) must be declared.

    Parameters
    ----------
    draws
        Number of independent draws.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n. By default the largest weight,
        at most 1, within the budget; for ``LinearRegression`` 1.
    noise_multiplier
        ``LinearRegression`` only: the noise on the released sums, in units of the bound on one record's contribution.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=1000, columns=("a",), has_target=False, row_norm=1.0)
    >>> model = dp.GaussianMean(prior=dp.Normal(scale=100.0))
    >>> plan = dp.plan(model, public, dp.ConjugateSample(), epsilon=0.1, delta=1e-3)
    >>> round(plan.settings.w, 3)
    0.825
    """

    draws: int = 1
    w: float | None = None
    n0: float | None = None
    noise_multiplier: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", whole(self.draws, "draws", most=MOST_DRAWS))
        if self.noise_multiplier is not None:
            positive(self.noise_multiplier, "noise_multiplier")
        check_weight(self.w, self.n0)

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> ConjugateSample:
        """Return draws that cost nothing each, or so many as an interval needs where each costs."""
        if isinstance(request.model, GaussianMean):
            return cls(draws=DRAWS_FOR_INTERVAL)
        return cls(draws=FREE_DRAWS)

    def choose(self, request: Request) -> ConjugateSettings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)
