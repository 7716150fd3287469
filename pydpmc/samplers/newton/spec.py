"""Newton: the posterior of a regression from a handful of noised looks at gradient and curvature.

Claim: all looks together are mu-GDP, unconditionally, with mu^2 the sum of the looks' mu_k^2, fixed in advance. The
draws are post-processing. Neighbours: replace, or add_remove. Assumes: nothing. Proof: docs/privacy/newton.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ...checks import given, inside, one_of, positive, whole
from ...errors import InvalidArgument, WrongType
from ..base import Sampler
from .sensitivity import LARGEST_SPLIT

if TYPE_CHECKING:
    from ..request import Request
    from .settings import NewtonSettings

CURVATURES = ("full", "blocks", "diagonal", "outer")
MOST_LOOKS, MOST_DRAWS = 64, 1_000_000


@dataclass(frozen=True)
class Newton(Sampler):
    """Draws from the posterior given a few noised (gradient, curvature) pairs: not tempered, and any number is free.

    Each look releases the sums of all records' gradients and curvatures at one public point with Gaussian noise. The
    next point, its share of the budget and when to stop follow from what was released. The posterior accounts for
    the noise: where the looks say little it falls back to the prior.

    Parameters
    ----------
    looks
        Most looks to take; 8 by default.
    shares
        Shares of the budget (of mu^2) of each look, in place of shares that follow the looks; they are scaled to
        sum to 1.
    curvature
        ``"full"``; ``"blocks"`` or ``"diagonal"`` release fewer entries, at the same price with less noise in all;
        ``"outer"`` releases the outer products of gradients. Of a model of your own the curvature is the positive part
        of each record's Hessian, by JAX.
    blocks
        For ``curvature="blocks"``: lists of coordinates of theta, each coordinate in one.
    curvature_share
        Share of each look's mu^2 that pays for the curvature, in models whose curvature is not free.
    clip, curvature_clip
        For models of your own: public bounds on the norm of a record's gradient, and on the trace of its curvature.
        Records beyond them are scaled down.
    draws
        Number of independent draws.
    fit
        Whether to take one more look, for a tenth of the budget, at the sums of residuals by predicted value:
        ``post.fit`` then tests whether the model fits. It changes no draw.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=20_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, dp.Newton(), epsilon=1.0, delta=1e-6)
    >>> plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    looks: int | None = None
    shares: Sequence[float] | None = None
    curvature: Literal["full", "blocks", "diagonal", "outer"] = "full"
    blocks: Sequence[Sequence[int]] | None = None
    curvature_share: float | None = None
    clip: float | None = None
    curvature_clip: float | None = None
    draws: int = 4000
    fit: bool = False

    supports_groups: ClassVar[bool] = True  # docs/privacy/newton.md, lemma 9
    supports_weights: ClassVar[bool] = True  # lemma 10
    w = n0 = None  # the likelihood is not tempered

    def __post_init__(self) -> None:
        one_of(self.curvature, "curvature", CURVATURES)
        object.__setattr__(self, "draws", whole(self.draws, "draws", most=MOST_DRAWS))
        if not isinstance(self.fit, bool):
            raise WrongType(f"fit must be True or False, not {given(self.fit)}")
        if self.looks is not None:
            object.__setattr__(self, "looks", whole(self.looks, "looks", most=MOST_LOOKS))
        if self.shares is not None:
            object.__setattr__(self, "shares", _shares(self.shares, self.looks))
        if (self.curvature == "blocks") != (self.blocks is not None):
            raise InvalidArgument('blocks must be given with curvature="blocks", and only then')
        if self.blocks is not None:
            object.__setattr__(self, "blocks", _blocks(self.blocks))
        for name in ("clip", "curvature_clip"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        if self.curvature_share is not None:
            inside(self.curvature_share, "curvature_share")
            if self.curvature_share > LARGEST_SPLIT:
                raise InvalidArgument(f"curvature_share must be at most {LARGEST_SPLIT}, not {self.curvature_share!r}")

    def choose(self, request: Request) -> NewtonSettings:
        """Fill in what was left open, within the budget."""
        from .choose import choose

        return choose(request)


def _shares(shares: Sequence[float], looks: int | None) -> tuple[float, ...]:
    if isinstance(shares, str) or not isinstance(shares, Sequence) or not 1 <= len(shares) <= MOST_LOOKS:
        raise WrongType(f"shares must be a list of 1 to {MOST_LOOKS} positive numbers, not {given(shares)}")
    values = [positive(share, "shares") for share in shares]
    if looks is not None and looks != len(values):
        raise InvalidArgument(f"looks is {looks} but there are {len(values)} shares; leave looks out")
    total = math.fsum(values)
    return tuple(value / total for value in values)


def _blocks(blocks: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    try:
        return tuple(tuple(whole(i, "blocks", least=0) for i in block) for block in blocks)
    except TypeError:
        raise WrongType(f"blocks must be lists of coordinates of theta, not {given(blocks)}") from None
