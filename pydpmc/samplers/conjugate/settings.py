"""The settings of a conjugate run, which are public numbers, and the run itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...accounting import Event
from ...data.public import Public
from ..base import Release, last_iterates
from ..directions import Directions
from ..gradient.settings import ROUNDED_NORMAL_ERROR
from ..outlook import Outlook
from .noised_sums import exact_sum, grid_bits, noised

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...models import Model

Floats = npt.NDArray[np.float64]
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class ConjugateSettings:
    """The settings that both models share; `noise` is the standard deviation of the noise on the sums."""

    draws: int
    prior_mean: Numbers
    prior_precision: Numbers
    w: float
    noise: float
    room: int  # public bound on the number of records

    @property
    def steps(self) -> int:
        """One: all draws are made in one step."""
        return 1

    @property
    def dim(self) -> int:
        """Length of theta."""
        return len(self.prior_mean)

    @property
    def releases_of_sums(self) -> int:
        """How often the sums are released, each time with new noise."""
        raise NotImplementedError

    @property
    def statistics_count(self) -> int:
        """The number of sums."""
        raise NotImplementedError

    @property
    def clip(self) -> float:
        """The bound on the norm of one record's statistics."""
        raise NotImplementedError

    @property
    def bits(self) -> int:
        """The b such that a standard deviation of the noise has 2^b grid steps; it depends on public numbers only."""
        return grid_bits(self.clip, self.noise, self.room)

    def statistics(self, rows: Floats) -> Floats:
        """Return each record's contribution to the sums, from stored rows."""
        raise NotImplementedError

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return the draws, shape (draws, dim), from the noised sums: post-processing."""
        raise NotImplementedError

    def event(self, adjacency: str) -> Event:
        """Return the event of one release of the sums."""
        raise NotImplementedError

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of all draws."""
        return [(self.event(adjacency), self.releases_of_sums)]

    def total_variation(self, chains: int) -> float:
        """Return the total variation between the random numbers of the run and the laws that are accounted."""
        return self.releases_of_sums * self.statistics_count * ROUNDED_NORMAL_ERROR

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return nothing: the guarantee is unconditional."""
        return ()

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which draws are released: all of them."""
        return last_iterates(1, self.draws, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> ConjugateRun:
        """Return the run."""
        return ConjugateRun(self, core, chains, data)

    def forecast(self, model: Model, public: Public, chains: int) -> ConjugateForecast:
        """Return the forecast of the draws."""
        return ConjugateForecast(self.spread)

    @property
    def spread(self) -> float | None:
        """The standard deviation of a draw in its narrowest direction; None if it is not known before the run."""
        return None

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"sampler": "ConjugateSample", "draws": self.draws, "steps": 1, "w": self.w, "noise": self.noise}

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        return [
            ("draws", f"{self.draws:,}, independent and in closed form"),
            ("released sums", f"{self.statistics_count:,}, {self.releases_of_sums:,} time(s)"),
            ("noise on the sums", f"{self.noise / self.clip:.4g} times the largest contribution of one record"),
        ]


@dataclass(frozen=True)
class ConjugateForecast:
    """Expected behaviour of the draws, computed without a record."""

    spread: float | None

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        return [] if self.spread is None else [("spread of a draw", f"{self.spread:.4g}")]

    def advice(self, private: bool) -> list[str]:
        """Return an empty list: there is no chain that could fail to mix."""
        return []


class ConjugateRun:
    """A run that makes all draws in one step."""

    def __init__(self, settings: ConjugateSettings, core: Any, chains: Chains, data: Data) -> None:
        self._settings, self._core = settings, core
        self._rows = data._rows, data.public.width, data.public.has_target
        self._seed, self._draws = chains.seed, chains.draws
        self._bits = settings.bits
        self._stopped = False
        self.steps_done = 0

    def stop(self) -> None:
        """Stop summing records and release nothing."""
        self._stopped = True

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Sum over the records, add noise, and draw."""
        if steps < 1 or self.steps_done:
            return
        settings, random = self._settings, self._core.random
        key = random.key_from_os() if self._seed is None else random.key_from_seed(self._seed)
        unit = math.ldexp(settings.noise, -self._bits)
        sums = self._sums(unit)
        if self._stopped:
            return
        released = noised(self._core, key, sums, settings.noise, self._bits, settings.releases_of_sums)
        self._draws[:, 0, :] = settings.draws_from(released, self._core, key)
        self.steps_done = 1

    def _sums(self, unit: float) -> Any:
        settings = self._settings
        if hasattr(self._core, "statistics_sum"):  # the records are read cell by cell
            return self._core.statistics_sum(settings, self._rows[0], unit)
        return exact_sum(
            self._core,
            *self._rows,
            settings.statistics,
            settings.statistics_count,
            settings.clip,
            unit,
            stopped=lambda: self._stopped,
        )
