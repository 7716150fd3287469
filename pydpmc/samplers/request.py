"""What the caller of ``plan`` asked for, seen by every sampler's chooser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..accounting import Event, Guarantee, calibrate, compose
from ..accounting.calibration import about_largest
from ..accounting.composition.noise_levels import about
from ..data.public import Public
from ..errors import InvalidArgument
from ..models import Model

if TYPE_CHECKING:
    from .base import RunSettings

UNSPENT = 5e-4
ENOUGH_LEVELS = 12  # of noise, to compare runs
Run = TypeVar("Run", bound="RunSettings")


@dataclass(frozen=True)
class Request:
    """Model, public facts, sampler and budget of a plan."""

    model: Model
    public: Public
    sampler: Any
    adjacency: str
    chains: int
    private: bool
    epsilon: float | None
    delta: float | None
    earlier: tuple[Guarantee, ...] = ()  # of the posteriors that the start comes from
    rough: bool = False  # whether a run is only to be compared with others

    @property
    def n(self) -> int | None:
        """The number of records (or groups), if it may be known."""
        return self.public.size(self.adjacency)

    @property
    def w(self) -> float:
        """The tempering weight."""
        if self.sampler.n0 is None:
            return 1.0 if self.sampler.w is None else float(self.sampler.w)
        if self.n is None:
            raise InvalidArgument("n0 needs a public number of records: pass public_n to Data, or give w")
        if self.sampler.n0 > self.n:
            raise InvalidArgument(f"n0 is {self.sampler.n0:g} but there are only {self.n} records")
        return float(self.sampler.n0 / self.n)

    @property
    def dim(self) -> int:
        """The length of theta."""
        return self.model.dim(self.public)

    def cost(self, run: RunSettings) -> float:
        """Return epsilon of all chains of a run together with whatever the start has cost."""
        assert self.delta is not None
        return self._priced(run).epsilon(self.delta)

    def fits(self, run: RunSettings) -> bool:
        """Return whether the budget pays for a run."""
        assert self.epsilon is not None
        return self.cost(run) <= self.epsilon

    def largest(
        self,
        run_of: Callable[[float], Run],
        bracket: tuple[float, float],
        integer: bool = True,
        unspent: float = UNSPENT,
    ) -> Run:
        """Return the run of the largest parameter within the bracket that the budget pays for.

        `unspent` is the share of epsilon that the search may leave.
        """
        assert self.epsilon is not None
        assert self.delta is not None
        runs = lru_cache(maxsize=8)(run_of)
        if self.rough:
            budget = self.epsilon, self.delta
            return runs(about_largest(lambda x: self._priced(runs(x)), *budget, self.adjacency, bracket, integer))
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
            uses = about(uses, ENOUGH_LEVELS)
        own: list[tuple[Event, int] | Guarantee] = [*uses, *self.earlier]
        variation = run.total_variation(self.chains)
        return compose(own, adjacency=self.adjacency, unit=self.public.unit, total_variation=variation)
