"""Draws from a tempered posterior by hidden NUTS chains (Wang et al. 2015, algorithm 1; Minami et al. 2016).

Claim: each draw is GDP (Lipschitz model, strongly convex prior) or of bounded range (clamped log-likelihood), under
replace or add_remove. Assumes: that the draws are exact and independent. Proof: docs/privacy/posterior_sample.md.
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
    """k draws from exp(-U), the guarantee conditional on their being exact, which the result says.

    Inner chains of NUTS run with a hidden state: only the draws leave. Before they do, R-hat (below 1.01) and the
    effective sample size of every coordinate are checked; a failure raises ``NotConvergedError`` and releases nothing.

    Without `bound` the model must have a Lipschitz constant and a convex loss, and every coefficient a Normal prior:
    then mu = 2 w L / sqrt(m) under replace. With `bound` any model with a proper prior will do. ``GaussianMean`` is
    drawn in closed form, as by ``ConjugateSample``: exact, and without a condition.

    Parameters
    ----------
    draws
        Number k of draws to release; each costs the same.
    w, n0
        Tempering weight of the likelihood, or the effective number of records it stands for. Left open, the planner
        takes the largest w in (0, 1] that the budget pays for.
    bound
        Clamps each record's log-likelihood to [-bound, bound] (to [-bound, 0] where it is never positive). The draws
        are those of the clamped model, which is another model wherever the clamp acts.
    temper_prior
        Raises the prior to the power w too, as Wang et al. (2015) does.
    gamma
        Total variation between the law of the released draws and that of exact ones, if you can vouch for a number: it
        is charged, (1 + e^epsilon) gamma in delta, and the guarantee is conditional on it instead of on exactness.
    inner_chains, warmup, inner_draws
        Inner chains (at least 4), and the steps of each before and while draws are collected. Chains that are too short
        fail the check by chance, and the budget is lost.

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
        """Fill in what was left open, within the budget."""
        from .choose import choose

        return choose(request)
