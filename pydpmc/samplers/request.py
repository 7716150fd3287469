"""What the caller of ``plan`` asked for, seen by every sampler's chooser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..accounting import Event, Guarantee, calibrate, compose
from ..errors import InvalidArgument
from ..models import Model
from ..public import Public

UNSPENT = 5e-4


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
    unspent: float = UNSPENT  # share of epsilon that a search may leave

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

    def priced(self, uses: Sequence[tuple[Event, int]], total_variation: float = 0.0) -> Guarantee:
        """Return the guarantee of these uses together with whatever the start has cost."""
        own: list[tuple[Event, int] | Guarantee] = [*uses, *self.earlier]
        return compose(own, adjacency=self.adjacency, unit=self.public.unit, total_variation=total_variation)

    def cost(self, uses: Sequence[tuple[Event, int]], total_variation: float = 0.0) -> float:
        """Return epsilon of these uses together with whatever the start has cost."""
        assert self.delta is not None
        return self.priced(uses, total_variation).epsilon(self.delta)

    def largest(
        self, guarantee: Callable[[float], Guarantee], bracket: tuple[float, float], integer: bool = True
    ) -> float:
        """Return the largest parameter within the bracket whose guarantee the budget pays for."""
        assert self.epsilon is not None
        return calibrate(
            lambda x: [guarantee(x)],
            epsilon=self.epsilon,
            delta=self.delta or 0.0,
            adjacency=self.adjacency,
            bracket=bracket,
            integer=integer,
            unit=self.public.unit,
            unspent=self.unspent,
        )
