"""The request that ``plan`` passes to a sampler's ``choose``, and bounds on the contribution of one unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..accounting import Event, Guarantee, calibrate, compose
from ..accounting.calibration import approximate_largest
from ..accounting.composition.uses import coarsened
from ..checks import positive, share
from ..data.public import Public
from ..errors import InvalidArgument, UnsupportedEventError
from ..models import Model

if TYPE_CHECKING:
    from .base import RunSettings

UNSPENT = 5e-4
ENOUGH_LEVELS = 12  # noise levels that are kept when runs are only ranked
Run = TypeVar("Run", bound="RunSettings")


@dataclass(frozen=True)
class Request:
    """The model, public facts, sampler and budget of a plan."""

    model: Model
    public: Public
    sampler: Any
    adjacency: str
    chains: int
    private: bool
    epsilon: float | None
    delta: float | None
    earlier: tuple[Guarantee, ...] = ()  # guarantees of the posteriors that the start comes from
    rough: bool = False  # whether runs are only ranked, with approximate costs

    @property
    def n(self) -> int | None:
        """The number of records (or groups), or None if it is private."""
        return self.public.size(self.adjacency)

    @property
    def w(self) -> float:
        """The tempering weight."""
        if self.sampler.n0 is None:
            return 1.0 if self.sampler.w is None else float(self.sampler.w)
        if self.n is None:
            raise InvalidArgument("n0 needs a public number of records: pass public_n to Data, or give w")
        if self.sampler.n0 > self.n:
            raise InvalidArgument(f"n0 must be at most the number of records, {self.n}, not {self.sampler.n0:g}")
        return float(self.sampler.n0 / self.n)

    @property
    def dim(self) -> int:
        """The length of theta."""
        return self.model.dim(self.public)

    def cost(self, run: RunSettings) -> float:
        """Return epsilon of all chains of a run, including the cost of their start."""
        assert self.delta is not None
        return self._priced(run).epsilon(self.delta)

    def fits(self, run: RunSettings) -> bool:
        """Return whether a run fits the budget."""
        assert self.epsilon is not None
        return self.cost(run) <= self.epsilon

    def largest(
        self,
        run_of: Callable[[float], Run],
        bracket: tuple[float, float],
        integer: bool = True,
        unspent: float = UNSPENT,
    ) -> Run:
        """Return the run with the largest parameter in the bracket that fits the budget.

        `unspent` is the share of epsilon that the search may leave over.
        """
        assert self.epsilon is not None
        assert self.delta is not None
        runs = lru_cache(maxsize=8)(run_of)
        if self.rough:
            budget = self.epsilon, self.delta
            return runs(approximate_largest(lambda x: self._priced(runs(x)), *budget, self.adjacency, bracket, integer))
        parameter = calibrate(
            lambda x: [self._priced(runs(x))],
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,
            bracket=bracket,
            integer=integer,
            unit=self.public.unit,
            unspent=unspent,
        )
        return runs(parameter)

    def _priced(self, run: RunSettings) -> Guarantee:
        uses = run.uses(self.adjacency, self.chains)
        if self.rough:
            uses = coarsened(uses, ENOUGH_LEVELS)
        own: list[tuple[Event, int] | Guarantee] = [*uses, *self.earlier]
        variation = run.total_variation(self.chains)
        return compose(own, adjacency=self.adjacency, unit=self.public.unit, total_variation=variation)


def lipschitz_of_unit(model: Model, public: Public) -> float | None:
    """Return a bound on the gradient of the log-likelihood of any unit, or None."""
    return None if public.records_per_unit is None else clip_of_unit(model, public)


def clip_of_unit(model: Model, public: Public) -> float | None:
    """Return the unit's gradient bound; for groups of unbounded size one record's, so large groups are clipped.

    A record counts as often as its weight says, so its bound is that of a record of the largest weight.
    """
    lipschitz = model.lipschitz(public)
    return None if lipschitz is None else lipschitz * (public.records_per_unit or 1) * (public.max_weight or 1.0)


def refuse_groups_without_proof(sampler: object, public: Public) -> None:
    """Refuse groups unless the sampler declares a proof for them."""
    if public.grouped and not getattr(sampler, "supports_groups", False):
        raise UnsupportedEventError(
            f"groups: {sampler!r} has no proof for groups of records; use Newton, SGLD, SGHMC, SGNHT or DPVI, or "
            "Barker on all records (batch_size=None)"
        )


def refuse_weights_without_proof(sampler: object, model: Model, public: Public) -> None:
    """Refuse weighted records unless sampler and model have a proof for them."""
    if public.max_weight is None:
        return
    if not getattr(sampler, "supports_weights", False):
        raise UnsupportedEventError(
            f"sample_weight: {sampler!r} has no proof for weighted records; use Newton or a gradient sampler (SGLD, "
            "SGHMC, SGNHT, SGFS, DPVI), or a Data without weights"
        )
    if not model.takes_weights:
        raise UnsupportedEventError(
            f"sample_weight: the loops of a {type(model).__name__} read no weights; use a Data without weights"
        )


def check_weight(w: float | None, n0: float | None, cold: bool = False) -> None:
    """Refuse a weight outside (0, 1], and one given as both w and n0; `cold` allows weights above 1."""
    if n0 is not None:
        positive(n0, "n0")
    if w is not None:
        (positive if cold else share)(w, "w")
    if w is not None and n0 is not None:
        raise InvalidArgument("w and n0 say the same thing (w = n0 / n): give one of them")
