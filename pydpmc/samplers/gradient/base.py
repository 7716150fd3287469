"""The base class of the stochastic-gradient samplers, which make one private gradient query per step, and their steps.

Claim: the guarantee covers the whole chain unconditionally. Neighbours: add_remove or replace with Poisson samples or
all records, replace with samples without replacement. Assumes: nothing. Proof: docs/privacy/sgld.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ...checks import given, number, one_of, positive, reals, whole
from ...errors import InvalidArgument
from ..base import Sampler
from ..chain_weight import best_weight
from ..request import check_weight

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings

Floats = npt.NDArray[np.float64]
SHORT = 1 << 14
Sampling = Literal["poisson", "without_replacement", "full"]
SAMPLINGS = ("poisson", "without_replacement", "full")
STABILITY = 0.1  # step size times the largest curvature, so that the variance is at most 5 % too large


@dataclass(frozen=True)
class Schedule:
    """A step size for every step."""

    def values(self, steps: int) -> Floats:
        """Return the step sizes of steps 1 to `steps`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Schedule):
    """The same step size at every step."""

    step_size: float

    def __post_init__(self) -> None:
        positive(self.step_size, "step_size")

    def values(self, steps: int) -> Floats:
        """Return `steps` copies of the step size."""
        return np.full(steps, self.step_size)


@dataclass(frozen=True)
class Polynomial(Schedule):
    """a (b + t)^-gamma, t = 1, 2, ...

    Examples
    --------
    >>> Polynomial(a=0.1, gamma=1 / 3).values(8)[-1].round(6)
    np.float64(0.05)
    """

    a: float
    b: float = 0.0
    gamma: float = 1.0 / 3.0

    def __post_init__(self) -> None:
        positive(self.a, "a")
        number(self.b, "b")
        number(self.gamma, "gamma")

    def values(self, steps: int) -> Floats:
        """Return a (b + t)^-gamma."""
        enough = max(SHORT, 1 << (int(steps) - 1).bit_length())
        return np.asarray(self.a * _powers(self.b, self.gamma, enough)[:steps])


@lru_cache(maxsize=4)  # a search over the number of steps reuses them
def _powers(b: float, gamma: float, steps: int) -> Floats:
    with np.errstate(over="ignore"):  # `checked_values` checks the ones that are used
        return np.asarray((b + np.arange(1.0, steps + 1.0)) ** -gamma)


@dataclass(frozen=True)
class Cyclical(Schedule):
    """A cosine from `high` to `low`, repeated `cycles` times."""

    high: float
    low: float
    cycles: int = 4

    def __post_init__(self) -> None:
        positive(self.high, "high")
        positive(self.low, "low")
        whole(self.cycles, "cycles")

    def values(self, steps: int) -> Floats:
        """Return the cosine schedule."""
        phase = (np.arange(steps) * self.cycles / steps) % 1.0
        return np.asarray(self.low + 0.5 * (self.high - self.low) * (1.0 + np.cos(np.pi * phase)))


@dataclass(frozen=True)
class Piecewise(Schedule):
    """Step sizes that each hold for an equal share of the run."""

    step_sizes: Sequence[float]

    def __post_init__(self) -> None:
        if reals(self.step_sizes, "step_sizes").ndim != 1 or len(self.step_sizes) == 0:
            raise InvalidArgument(f"step_sizes must be a list of at least one step size, not {given(self.step_sizes)}")
        for step_size in self.step_sizes:
            positive(step_size, "step_sizes")

    def values(self, steps: int) -> Floats:
        """Return the step size of each share."""
        pieces = np.asarray(self.step_sizes, dtype=float)
        return np.asarray(pieces[np.arange(steps) * len(pieces) // steps])


def checked_values(schedule: Schedule, steps: int) -> Floats:
    """Return the step sizes; refuse any that is not positive and finite."""
    values = schedule.values(steps)
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise InvalidArgument(f"step_size must be positive and finite at every step; {schedule!r} is not")
    return values


def as_schedule(value: float | Schedule) -> Schedule:
    """Return a schedule; a number becomes a constant one."""
    return value if isinstance(value, Schedule) else Constant(float(value))


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
        constant, times ``max_group_size`` and ``max_weight`` if these are declared. It bounds the gradient times the
        weight of the record.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n. A network may have a weight
        above 1, a cold posterior; for all other models it is at most 1.
    """

    core_name: ClassVar[str]
    supports_groups: ClassVar[bool] = False  # docs/privacy/groups.md names the samplers with a proof
    supports_weights: ClassVar[bool] = True  # lemma 5 of docs/privacy/sgld.md
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
        check_weight(self.w, self.n0, cold=True)

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
