"""What every sampler offers to ``plan``, and what its settings offer to ``run``."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ..checks import whole
from ..errors import InvalidArgument

if TYPE_CHECKING:
    from .._core import Chains, Target
    from ..accounting import Event
    from ..data.data import Data
    from ..data.public import Public
    from ..models import Model
    from .request import Request

DEFAULT_DRAWS = 10_000
WARMUP_SHARE = 0.2


class Sampler(ABC):
    """A sampler specification: frozen, any parameter open, completed by ``plan``."""

    def __init_subclass__(cls) -> None:
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _what_was_set  # type: ignore[method-assign]  # before dataclass writes one of all fields

    @abstractmethod
    def choose(self, request: Request) -> RunSettings:
        """Fill in what was left open, within the budget."""


class Outlook(Protocol):
    """What can be expected of a run, in lines for the plan's page."""

    def rows(self) -> list[tuple[str, str]]:
        """Return label and text of each line."""

    def advice(self, private: bool) -> list[str]:
        """Return what would help, if anything needs help."""


class RunSettings(Protocol):
    """A fully specified run: public numbers only."""

    @property
    def steps(self) -> int:
        """Steps of each chain."""

    @property
    def dim(self) -> int:
        """Length of theta."""

    @property
    def w(self) -> float:
        """Tempering weight."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee rests on; empty if it is unconditional."""

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return what all chains together release."""

    def total_variation(self, chains: int) -> float:
        """Return how far the random numbers of the run are from the laws that are accounted."""

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates leave."""

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run: an object with ``advance(steps, threads, block)``, ``steps_done`` and ``stop()``.

        ``stop()`` is called from another thread: the chunk of steps under way is dropped, and none is made after it.
        """

    def forecast(self, model: Model, public: Public, chains: int) -> Any:
        """Return what can be expected of the run: an Outlook."""

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that say what runs; `size` is the public number of records."""


def _what_was_set(sampler: Any) -> str:
    """Return the constructor's call with the parameters that differ from their defaults."""
    shown = [
        f"{field.name}={getattr(sampler, field.name)!r}"
        for field in dataclasses.fields(sampler)
        if field.repr and getattr(sampler, field.name) != field.default
    ]
    return f"{type(sampler).__name__}({', '.join(shown)})"


def target_arguments(model: Model, data: Data) -> dict[str, Any]:
    """Return the posterior of a model given data, as the arguments of the core's ``Target`` but for codes."""
    public = data.public
    return {
        "rows": data._rows,
        "columns": public.width,
        "has_target": public.has_target,
        "model": model.core_name,
        "intercept": model.has_intercept,
        "constants": model.constants,
        "prior": model.prior_table(public),
        **({"group_start": data._group_start} if public.grouped else {}),
    }


@dataclass(frozen=True)
class Release:
    """Which iterates leave: of each of `chains` chains, `kept` of them, every `thin`-th after `warmup` steps.

    A hidden run releases nothing before its last step: it cannot be stopped half-way with a result, and its
    chains are so many draws.
    """

    chains: int
    kept: int
    warmup: int
    thin: int
    hidden: bool = False

    def made(self, steps_done: int) -> int:
        """Return how many draws of each chain there are after so many steps."""
        return min(self.kept, max(0, steps_done - self.warmup) // self.thin)

    def of(self, out: npt.NDArray[np.float64], steps_done: int) -> npt.NDArray[np.float64]:
        """Return what leaves of `out`, shape (chain, draw, dim), after so many steps."""
        if not self.hidden:
            return out[:, : self.made(steps_done)]
        if steps_done < self.warmup + self.thin * self.kept:
            raise KeyboardInterrupt(
                "stopped before the last step: a run with a hidden state releases nothing before it"
            )
        return out.reshape(1, self.chains * self.kept, -1)


def all_iterates(steps: int, chains: int, draws: int | None, warmup: int | None) -> Release:
    """Return the release of a sampler whose guarantee covers every iterate: thinning is free."""
    most = DEFAULT_DRAWS if draws is None else whole(draws, "draws")
    skipped = int(WARMUP_SHARE * steps) if warmup is None else whole(warmup, "warmup", least=0)
    if skipped >= steps:
        raise InvalidArgument(f"warmup must be below the {steps} steps of the plan, not {warmup}")
    left = steps - skipped
    thin = max(1, math.ceil(left / most))
    return Release(chains, left // thin, skipped, thin)


def last_iterates(steps: int, count: int, draws: int | None, warmup: int | None) -> Release:
    """Return the release of `count` independent chains of which only the last iterate leaves."""
    for name, value in (("draws", draws), ("warmup", warmup)):
        if value is not None:
            raise InvalidArgument(
                f"{name} is not an option of this run: its plan releases {count} draw(s), the last iterate of each "
                "chain; set draws in the sampler instead"
            )
    return Release(count, 1, steps - 1, 1, hidden=True)
