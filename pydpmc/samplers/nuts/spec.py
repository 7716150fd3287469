"""NUTS: draws from the posterior without privacy, as a reference for private results.

Claim: none, because its draws are functions of the records. `PosteriorSample` runs it with a guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...checks import inside, number, whole
from ...errors import InvalidArgument, NotPrivateError
from ..base import Sampler
from ..request import check_weight

if TYPE_CHECKING:
    from ..request import Request
    from .settings import NutsSettings

LEAST_WARMUP = 20
MOST_DEPTH = 20


@dataclass(frozen=True)
class NUTS(Sampler):
    """The No-U-Turn sampler: full-batch Hamiltonian Monte Carlo that tunes itself. It needs ``private=False``.

    The warm-up tunes the step size (by dual averaging) and a diagonal mass matrix (over windows of doubling length).

    Parameters
    ----------
    draws
        Draws kept of each chain.
    warmup
        Steps of each chain before them.
    target_accept
        Target of the mean acceptance probability; a larger one means shorter steps.
    max_depth
        A trajectory has at most 2^max_depth steps.
    jitter
        Each coordinate of a chain's start is moved uniformly within this distance from the plan's start.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
    >>> post = dp.sample(dp.BernoulliLogit(), data, dp.NUTS(draws=500), private=False, chains=4, progress=False)
    >>> post.draws["theta"].shape, post.sampler_stats.divergences
    ((4, 500, 1), (0, 0, 0, 0))
    """

    draws: int = 1000
    warmup: int = 1000
    target_accept: float = 0.8
    max_depth: int = 10
    jitter: float = 1.0
    w: float | None = None
    n0: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", whole(self.draws, "draws"))
        object.__setattr__(self, "warmup", whole(self.warmup, "warmup", least=LEAST_WARMUP))
        object.__setattr__(self, "max_depth", whole(self.max_depth, "max_depth", most=MOST_DEPTH))
        inside(self.target_accept, "target_accept")
        if not 0 <= number(self.jitter, "jitter") < math.inf:
            raise InvalidArgument(f"jitter must be finite and at least 0, not {self.jitter!r}")
        check_weight(self.w, self.n0)

    def choose(self, request: Request) -> NutsSettings:
        """Return the run; there is nothing to fill in."""
        from .settings import NutsSettings

        if request.private:
            raise NotPrivateError(
                "NUTS has no guarantee: pass private=False for the posterior without privacy, or use PosteriorSample "
                "(the same sampler, with a guarantee if its draws are exact) or Langevin (an unconditional guarantee)"
            )
        if not request.model.has_gradient:
            raise InvalidArgument(
                f"{request.model!r} has no gradient, which NUTS needs; {request.model.without_gradient}"
            )
        return NutsSettings(
            draws=self.draws,
            warmup=self.warmup,
            target_accept=self.target_accept,
            max_depth=self.max_depth,
            jitter=self.jitter,
            w=request.w,
            dim=request.dim,
        )
