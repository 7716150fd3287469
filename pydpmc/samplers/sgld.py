"""Stochastic-gradient Langevin dynamics (papers/001 algorithm 2, papers/003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .gradient import GradientSampler


@dataclass(frozen=True)
class SGLD(GradientSampler):
    """theta' = theta - h g + sqrt(2h) xi: the injected noise is itself the Gaussian mechanism.

    Privacy pays for the diffusion time h times steps, so a smaller step with more steps costs compute only.
    The parameters are those of GradientSampler.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, dp.SGLD(), epsilon=1.0, delta=1e-6)
    >>> plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    core_name: ClassVar[str] = "sgld"
