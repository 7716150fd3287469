"""Draws from a tempered posterior by hidden NUTS chains (Wang et al. 2015, algorithm 1; Minami et al. 2016).

Claim: each draw is GDP (Lipschitz model, strongly convex prior) or has bounded range (clamped log-likelihood), under
replace or add_remove. Assumes: the draws are exact and independent. Proof: docs/privacy/posterior_sample.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...checks import number, positive, whole, yes_or_no
from ...errors import InvalidArgument
from ..base import Sampler
from ..nuts.spec import LEAST_WARMUP
from ..request import check_weight

if TYPE_CHECKING:
    from ..conjugate.settings import ConjugateSettings
    from ..request import Request
    from .settings import PosteriorSampleSettings

LEAST_CHAINS = 4


@dataclass(frozen=True)
class PosteriorSample(Sampler):
    """k draws from exp(-U), with a guarantee on the condition, stated in the result, that they are exact.

    Inner NUTS chains run with hidden states, and only the draws are released. Before the release, R-hat (below 1.01)
    and the effective sample size of every coordinate are checked; a failure raises ``NotConvergedError`` and releases
    nothing.

    Without `bound`, the model must have a Lipschitz constant and a convex loss, and every coefficient a Normal prior;
    then mu = 2 w L / sqrt(m) under replace. With `bound`, any model with a proper prior works. ``GaussianMean`` is
    sampled exactly in closed form, as by ``ConjugateSample``, so its guarantee is unconditional.

    Parameters
    ----------
    draws
        Number k of draws to release; each costs the same.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n. By default the largest weight,
        at most 1, within the budget.
    bound
        Clamps each record's log-likelihood to [-bound, bound] (to [-bound, 0] if it is never positive). The draws come
        from the posterior of the clamped likelihood.
    temper_prior
        Raises the prior to the power w too, as in Wang et al. (2015).
    gamma
        A bound on the total variation between the released and exact draws, if you can assert one. It adds
        (1 + e^epsilon) gamma to delta, and the guarantee is conditional on this bound instead of on exactness.
    inner_chains, warmup, inner_draws
        Number of inner chains (at least 4), and their steps before and during the collection of draws. Chains that are
        too short fail the check by chance, and the budget is lost.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
    >>> plan = dp.plan(dp.BernoulliLogit(), data.public, dp.PosteriorSample(draws=1), epsilon=1.0, delta=1e-6)
    >>> round(plan.settings.w, 2), len(plan.guarantee.assumptions)
    (0.24, 2)
    """

    draws: int = 1
    w: float | None = None
    n0: float | None = None
    bound: float | None = None
    temper_prior: bool = False
    gamma: float = 0.0
    inner_chains: int = LEAST_CHAINS
    warmup: int = 1000
    inner_draws: int = 2000

    def __post_init__(self) -> None:
        leasts = (("draws", 1), ("inner_chains", LEAST_CHAINS), ("warmup", LEAST_WARMUP), ("inner_draws", 100))
        for name, least in leasts:
            object.__setattr__(self, name, whole(getattr(self, name), name, least=least))
        if self.bound is not None:
            positive(self.bound, "bound")
        check_weight(self.w, self.n0)
        if not 0 <= number(self.gamma, "gamma") < 0.5:
            raise InvalidArgument(f"gamma must lie in [0, 0.5), not {self.gamma!r}")
        yes_or_no(self.temper_prior, "temper_prior")

    def choose(self, request: Request) -> PosteriorSampleSettings | ConjugateSettings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)
