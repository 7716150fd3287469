"""The interface of samplers to ``plan``, and of their settings to ``run``."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ..checks import whole
from ..errors import InvalidArgument
from .batches.gap_tables import AliasTable, gap_tables, most_members, raised_rate

if TYPE_CHECKING:
    from .._core import Chains, Target
    from ..accounting import Event
    from ..data.data import Data
    from ..data.public import Public
    from ..models import Model
    from .directions import Directions
    from .outlook import Outlook
    from .request import Request

DEFAULT_DRAWS = 10_000
WARMUP_SHARE = 0.2
ENOUGH_DRAWS = 100.0  # a forecast calls this many effective draws enough
SOME_DRAWS = 20.0  # a forecast calls fewer effective draws too few
# Total variation between the batch of one step and its accounted law: docs/privacy/sgld.md, lemma 4.
SUBSET_ERROR = 2.0**-100
POISSON_ERROR = 2.0**-60
BATCH_ERRORS = {"full": 0.0, "without_replacement": SUBSET_ERROR, "poisson": POISSON_ERROR}


class Sampler(ABC):
    """A frozen specification of a sampler, whose open parameters ``plan`` chooses."""

    has_coverage: ClassVar[bool] = True  # False: intervals may be too narrow, so it is not chosen for them

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> Sampler:
        """Return the sampler to compare with others for a request (whose own sampler is not looked at)."""
        return cls()

    def __init_subclass__(cls) -> None:
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _what_was_set  # type: ignore[method-assign]  # before dataclass writes one of all fields

    @abstractmethod
    def choose(self, request: Request) -> RunSettings:
        """Choose the open parameters within the budget."""


class Forecast(Protocol):
    """What a sampler alone can say of a run, in lines for the plan's page; ``Outlook`` is what all can say."""

    def rows(self) -> list[tuple[str, str]]:
        """Return label and text of each line."""

    def advice(self, private: bool) -> list[str]:
        """Return suggestions, or an empty list if the run needs none."""


def posterior_sd(model: Model, public: Public, n: int | None, w: float) -> float | None:
    """Return the expected posterior standard deviation of a coefficient, or None."""
    information = model.information(public)
    precision = float(model.prior_precision(public).mean())
    if information is None or n is None:
        return 1.0 / math.sqrt(precision) if precision > 0 else None
    return 1.0 / math.sqrt(w * n * information + precision)


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
        """The assumptions of the guarantee; empty if it is unconditional."""

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of all chains with their counts."""

    def total_variation(self, chains: int) -> float:
        """Return the total variation between the random numbers of the run and the laws that are accounted."""

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates are released."""

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run: an object with ``advance(steps, threads, block)``, ``steps_done`` and ``stop()``.

        ``stop()`` is called from another thread: the current chunk of steps is dropped, and no further step is made.
        """

    def forecast(self, model: Model, public: Public, chains: int) -> Any:
        """Return what this sampler can say of the run: a Forecast."""

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run; `size` is the public number of records."""


def _what_was_set(sampler: Any) -> str:
    """Return the constructor's call with the parameters that differ from their defaults."""
    shown = [
        f"{field.name}={getattr(sampler, field.name)!r}"
        for field in dataclasses.fields(sampler)
        if field.repr and getattr(sampler, field.name) != field.default
    ]
    return f"{type(sampler).__name__}({', '.join(shown)})"


def target_arguments(model: Model, data: Data, batch: int = 0, sampling: str = "full") -> dict[str, Any]:
    """Return the arguments of the core's ``Target``, without `coded`, for the posterior of a model given data.

    Batch size and sampling decide how many records a model of one's own is called for at a time.
    """
    public = data.public
    return {
        "rows": data._rows,
        "columns": public.width,
        "has_target": public.has_target,
        **model.core_model(public, batch, sampling),
        **({"group_start": data._group_start} if public.grouped else {}),
        **({} if data._weights is None else {"weights": data._weights}),
        **model.core_arguments(public),
    }


def batch_arguments(core: Any, sampling: str, n: int, b: int, rate: float) -> dict[str, Any]:
    """Return the arguments of a core run that define how batches are drawn."""
    if sampling == "full":
        return {"gaps": None, "most": 0}
    if sampling == "poisson":
        return {"gaps": _compiled(core, rate), "most": most_members(n, rate)}
    return subset_arguments(core, n, b)


def subset_arguments(core: Any, n: int, b: int) -> dict[str, Any]:
    """Return the arguments for batches of b of n records without replacement."""
    rate = raised_rate(n, b)
    return {"gaps": _compiled(core, rate), "most": most_members(n, rate)}


def _compiled(core: Any, rate: float) -> Any:
    tables = gap_tables(rate)
    remainder = None if tables.remainder is None else _columns(tables.remainder)
    return core.random.GapTables(tables.rate, tables.overflow, _columns(tables.gap), remainder)


def _columns(table: AliasTable) -> tuple[Any, Any, Any]:
    return table.entry, table.tail_high, table.tail_low


@dataclass(frozen=True)
class Release:
    """Which iterates are released: from each chain `kept` iterates, every `thin`-th after `warmup` steps.

    A hidden run releases nothing before its last step, so a run that is stopped earlier has no result. Each of its
    chains gives `kept` draws.
    """

    chains: int
    kept: int
    warmup: int
    thin: int
    hidden: bool = False

    def made(self, steps_done: int) -> int:
        """Return how many draws each chain has after `steps_done` steps."""
        return min(self.kept, max(0, steps_done - self.warmup) // self.thin)

    def of(self, out: npt.NDArray[np.float64], steps_done: int) -> npt.NDArray[np.float64]:
        """Return the part of `out`, shape (chain, draw, dim), that is released after `steps_done` steps."""
        if not self.hidden:
            return out[:, : self.made(steps_done)]
        if steps_done < self.warmup + self.thin * self.kept:
            raise KeyboardInterrupt(
                "the run was stopped before its last step: a run with a hidden state releases nothing before that"
            )
        return out.reshape(1, self.chains * self.kept, -1)


def all_iterates(steps: int, chains: int, draws: int | None, warmup: int | None) -> Release:
    """Return the release of a sampler whose guarantee covers every iterate, so that thinning costs nothing."""
    most = DEFAULT_DRAWS if draws is None else whole(draws, "draws")
    skipped = int(WARMUP_SHARE * steps) if warmup is None else whole(warmup, "warmup", least=0)
    if skipped >= steps:
        raise InvalidArgument(f"warmup must be below the {steps} steps of the plan, not {warmup}")
    left = steps - skipped
    thin = max(1, math.ceil(left / most))
    return Release(chains, left // thin, skipped, thin)


def last_iterates(steps: int, count: int, draws: int | None, warmup: int | None) -> Release:
    """Return the release of `count` independent chains that release only their last iterate."""
    for name, value in (("draws", draws), ("warmup", warmup)):
        if value is not None:
            raise InvalidArgument(
                f"{name} is not an option of this run: its plan releases {count} draw(s), the last iterate of each "
                "chain; set draws in the sampler instead"
            )
    return Release(count, 1, steps - 1, 1, hidden=True)


class AllAtOnce(Release):
    """All draws are made after the last step."""

    def of(self, out: npt.NDArray[np.float64], steps_done: int) -> npt.NDArray[np.float64]:
        """Return all draws, shape (chain, draw, dim)."""
        if steps_done <= self.warmup:
            raise KeyboardInterrupt(
                "stopped before the last step: there is no posterior yet, but all steps are paid for"
            )
        return out


def all_at_once(steps: int, chains: int, count: int, draws: int | None, warmup: int | None) -> AllAtOnce:
    """Return the release of a sampler that draws from a law which it has fitted, as many draws as the sampler says."""
    for name, value in (("draws", draws), ("warmup", warmup)):
        if value is not None:
            raise InvalidArgument(f"{name} is not an option of this run; set draws in the sampler: draws={count}")
    return AllAtOnce(chains, max(1, count // chains), steps - 1, 1, hidden=True)
