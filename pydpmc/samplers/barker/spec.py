"""Barker DP-MCMC (Heikkilä et al. 2019): a random walk that depends on the records through accept bits alone.

Claim: the guarantee covers the whole chain, whether it converged or not. Neighbours: replace or add_remove on full
data, replace on minibatches. Assumes: nothing. Proof: docs/privacy/barker.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from ...checks import one_of, positive, whole
from ...errors import InvalidArgument
from ..base import Sampler
from ..chain_weight import best_weight
from ..request import check_weight
from .proposal import KINDS, Scale, as_scale

if TYPE_CHECKING:
    from ..request import Request
    from .settings import Settings


@dataclass(frozen=True)
class Barker(Sampler):
    """Random-walk MCMC with Barker's accept test.

    ``plan`` chooses every parameter that is None, from public facts and the budget.

    Parameters
    ----------
    steps
        Steps of each chain. Every step costs privacy.
    batch_size
        Records per step; None uses all records in the exact test.
    proposal
        ``"sphere"`` (uniform on a sphere), ``"ball"`` (uniform in a ball), ``"truncated_gaussian"`` or
        ``"gaussian"``. All but the last have bounded reach, so that a model with a Lipschitz constant is never clipped.
        The sphere makes the longest moves for its reach and hence for its cost. Or a public function
        ``proposal(theta, random)``, which gets the coordinates of theta and a ``numpy.random.Generator`` and returns
        the proposed coordinates, with ``log q(theta | proposed) - log q(proposed | theta)`` as a pair unless that is 0.
    scale
        Size of the proposal: a number, one per coordinate, or a covariance matrix. For ``"sphere"`` and ``"ball"`` a
        number is the radius. It is public: do not compute it from the records. Moves of whole numbers are rounded.
    radius
        Truncation radius of ``"truncated_gaussian"``, in units of `scale`.
    clip
        Bound B on the log-likelihood ratio of one record or group. By default it is L times the reach of the proposal,
        times ``max_group_size`` if that is declared.
    w
        Tempering weight of the likelihood, in (0, 1]; 1 is the posterior.
    n0
        Effective number of records; it sets w = n0 / n.
    c
        Minibatch only: variance C of the normal part of the test (1 to 2).
    v_max
        Minibatch only: largest variance estimate, an alternative to `clip`.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.Barker(steps=2000, proposal="ball", scale=0.02).steps
    2000
    """

    steps: int | None = None
    batch_size: int | None = None
    proposal: Literal["sphere", "ball", "truncated_gaussian", "gaussian"] | Callable[..., Any] | None = None
    scale: npt.ArrayLike | None = None
    radius: float | None = None
    clip: float | None = None
    w: float | None = None
    n0: float | None = None
    c: float | None = None
    v_max: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", as_scale(self.scale))
        if self.proposal is not None and not callable(self.proposal):
            one_of(self.proposal, "proposal", KINDS)
        for name in ("steps", "batch_size"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, whole(value, name))
        for name in ("radius", "clip", "c", "v_max"):
            value = getattr(self, name)
            if value is not None:
                positive(value, name)
        check_weight(self.w, self.n0)
        self._refuse_contradictions()

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> Barker:
        """Return the sampler at the weight with the best outlook."""
        return cls(w=best_weight(request, purpose, walks=True))

    def choose(self, request: Request) -> Settings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)

    @property
    def supports_groups(self) -> bool:
        """Whether groups can be protected: only by the exact test on all records (docs/privacy/groups.md)."""
        return self.batch_size is None

    @property
    def given_scale(self) -> Scale | None:
        """The scale as a number, a vector or a covariance, if it was given."""
        return as_scale(self.scale)

    def _refuse_contradictions(self) -> None:
        if self.clip is not None and self.v_max is not None:
            raise InvalidArgument("clip and v_max determine each other: give one of them")
        if self.batch_size is None and (self.c is not None or self.v_max is not None):
            raise InvalidArgument("c and v_max belong to the minibatch test: give batch_size too")
        if self.batch_size is not None and self.batch_size < 2:
            raise InvalidArgument("batch_size must be at least 2")
        if callable(self.proposal) and self.scale is not None:
            raise InvalidArgument("scale: a proposal of your own decides how far it moves; leave scale out")
        if self.radius is not None and self.proposal != "truncated_gaussian":
            raise InvalidArgument('radius belongs to proposal="truncated_gaussian"; for "sphere" or "ball" give scale')
