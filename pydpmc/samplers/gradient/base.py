"""The base class of the stochastic-gradient samplers, which make one private gradient query per step.

Claim: the guarantee covers the whole chain unconditionally. Neighbours: add_remove or replace with Poisson samples or
all records, replace with samples without replacement. Assumes: nothing. Proof: docs/privacy/sgld.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ...checks import one_of, positive, whole
from ...errors import InvalidArgument
from ..base import Sampler
from ..chain_weight import best_weight
from ..request import check_weight
from .schedules import Schedule

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings

Sampling = Literal["poisson", "without_replacement", "full"]
SAMPLINGS = ("poisson", "without_replacement", "full")
STABILITY = 0.1  # step size times the largest curvature, so that the variance is at most 5 % too large


@dataclass(frozen=True)
class GradientSampler(Sampler):
    """Base of SGLD, SGHMC, SGNHT and SGFS; ``plan`` chooses every parameter that is None.

    Parameters
    ----------
    steps
        Steps of each chain.
    step_size
        A number, or a schedule: ``Polynomial``, ``Cyclical``, ``Piecewise``.
    batch_size
        Expected (Poisson) or exact (without replacement) number of records per step.
    sampling
        ``"poisson"``, ``"without_replacement"`` (replace only) or ``"full"``.
    clip
        Bound L on the norm of the gradient of one record, or of the sum of a group; by default the model's Lipschitz
        constant, times ``max_group_size`` if that is declared.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n.
    """

    core_name: ClassVar[str]
    supports_groups: ClassVar[bool] = False  # docs/privacy/groups.md names the samplers with a proof
    steps: int | None = None
    step_size: float | Schedule | None = None
    batch_size: int | None = None
    sampling: Sampling | None = None
    clip: float | None = None
    w: float | None = None
    n0: float | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(getattr(self, name), name))
        if self.clip is not None:
            positive(self.clip, "clip")
        if self.step_size is not None and not isinstance(self.step_size, Schedule):
            positive(self.step_size, "step_size (a number, or a schedule)")
        if self.sampling is not None:
            one_of(self.sampling, "sampling", SAMPLINGS)
        if self.sampling == "full" and self.batch_size is not None:
            raise InvalidArgument('sampling="full" uses all records: leave batch_size out')
        check_weight(self.w, self.n0)

    @property
    def friction_of_noise(self) -> float:
        """The a in the variance 2 a / eta of the gradient noise; 1 for SGLD, whose variance is 2 / h."""
        return 1.0

    @property
    def core_sampler(self) -> str:
        """The name of the step in the core."""
        return self.core_name

    @property
    def stable_share(self) -> float:
        """Step size times the largest curvature if the planner chooses the step size."""
        return STABILITY

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> GradientSampler:
        """Return the sampler at the weight with the best outlook."""
        return cls(w=best_weight(request, purpose))

    def settle(self, settings: GradientSettings, request: Request) -> GradientSettings:
        """Return the settings with the additions of this sampler."""
        return settings

    def choose(self, request: Request) -> GradientSettings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)
