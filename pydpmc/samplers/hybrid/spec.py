"""A private start, then a chain from it (Wang et al. 2015, algorithm 3).

Claim: start and chain together cost as much as the composition of their events. Neighbours and assumptions: those of
both samplers. Proof: docs/privacy/hybrid.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...checks import given, inside
from ...errors import WrongType
from ..base import Sampler

if TYPE_CHECKING:
    from ..request import Request
    from .settings import HybridSettings


@dataclass(frozen=True)
class Hybrid(Sampler):
    """One sampler finds the posterior with a part of the budget; another explores it from there with the rest.

    Parameters
    ----------
    start
        Any sampler; the chains start at the mean of its draws. One draw is enough.
    chain
        Any sampler; its draws are the result.
    share
        Share of the budget that the start may use, measured in mu squared, which adds up. The chain uses the rest. By
        default ``plan`` chooses the share with the smallest expected error of the chain.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=100_000, columns=("a", "b"), has_target=False, row_norm=1.0)
    >>> sampler = dp.Hybrid(start=dp.ConjugateSample(), chain=dp.SGLD(clip=2.0), share=0.2)
    >>> plan = dp.plan(dp.GaussianMean(), public, sampler, epsilon=1.0, delta=1e-6)
    >>> 0.99 < plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    start: Sampler
    chain: Sampler
    share: float | None = None

    def __post_init__(self) -> None:
        for name in ("start", "chain"):
            value = getattr(self, name)
            if not isinstance(value, Sampler):
                raise WrongType(f"{name} must be a pydpmc sampler such as SGLD(), not {given(value)}")
        if self.share is not None:
            inside(self.share, "share")

    @property
    def supports_groups(self) -> bool:
        """Whether groups of records can be protected: only if both samplers can."""
        return all(getattr(sampler, "supports_groups", False) for sampler in (self.start, self.chain))

    def choose(self, request: Request) -> HybridSettings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)
