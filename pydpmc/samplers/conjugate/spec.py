"""Draws from a Gaussian posterior in closed form.

Claim: all draws together are mu-GDP, unconditionally. Neighbours: replace, or add_remove. Assumes: nothing. Proof:
docs/privacy/conjugate.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...checks import one_of, positive, whole
from ...models import GaussianMean
from ..base import Sampler
from ..request import check_weight

if TYPE_CHECKING:
    from ..request import Request
    from .settings import ConjugateSettings

MOST_DRAWS = 1_000_000
FREE_DRAWS = 4000


@dataclass(frozen=True)
class ConjugateSample(Sampler):
    """Independent draws from the posterior of ``GaussianMean`` or of ``LinearRegression``.

    For ``LinearRegression``, X'X and X'y (and y'y, if sigma is not known) are released once with noise. The draws come
    from the posterior given the noised sums, which the noise widens; any number of draws costs the same. For
    ``GaussianMean`` the sum is released so too (``release="sums"``), or the draws are exact draws from the (tempered)
    posterior, whose own spread is the mechanism; k of them cost sqrt(k) times the mu of one. Priors of coefficients
    must be ``Normal`` or ``Flat``; bounds (``row_norm`` or ``x_bounds``, and ``y_bounds``) must be declared.

    Parameters
    ----------
    draws
        Number of independent draws.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n. By default the largest weight,
        at most 1, within the budget; 1 where sums are released.
    noise_multiplier
        The noise on released sums, in units of the bound on one record's contribution.
    release
        ``GaussianMean`` only: ``"draws"`` (the default) or ``"sums"``, for any number of draws at one price.

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
    release: str = "draws"

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", whole(self.draws, "draws", most=MOST_DRAWS))
        if self.noise_multiplier is not None:
            positive(self.noise_multiplier, "noise_multiplier")
        one_of(self.release, "release", ("draws", "sums"))
        check_weight(self.w, self.n0)

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> ConjugateSample:
        """Return draws that cost nothing each."""
        mean = isinstance(request.model, GaussianMean)
        return cls(draws=FREE_DRAWS, release="sums" if mean else "draws")

    def choose(self, request: Request) -> ConjugateSettings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)
