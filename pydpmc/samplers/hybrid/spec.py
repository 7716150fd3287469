"""A private start, then a chain from it (Wang et al. 2015, algorithm 3).

Claim: start and chain together cost what the accountant finds for their composition. Neighbours and assumptions: those
of the two. Proof: docs/privacy/hybrid.md.
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
        Any sampler; the mean of its draws is where the chains start. One draw is enough.
    chain
        Any sampler; its draws are the result.
    share
        Share of the budget, in mu squared (which adds up), that the start may use. What it leaves over goes to the
        chain. Left open, ``plan`` picks the share whose chain can be expected to have the smallest error.

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
        """Whether groups of records can be protected: if both samplers can."""
        return all(getattr(sampler, "supports_groups", False) for sampler in (self.start, self.chain))

    def choose(self, request: Request) -> HybridSettings:
        """Fill in what was left open, within the budget."""
        from .choose import choose

        return choose(request)
