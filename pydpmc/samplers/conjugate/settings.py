"""What a conjugate run is made of, once everything is decided: public numbers only."""

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
    """What both models share; `noise` is the standard deviation of the noise on the sums."""

    draws: int
    prior_mean: Numbers
    prior_precision: Numbers
    w: float
    noise: float
    room: int  # more records than there can be, and public

    @property
    def steps(self) -> int:
        """All draws are made in one step."""
        return 1

    @property
    def dim(self) -> int:
        """Length of theta."""
        return len(self.prior_mean)

    @property
    def releases_of_sums(self) -> int:
        """How often the sums are released, each time with fresh noise."""
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
        """Grid steps in a standard deviation of the noise, as a power of two: public numbers alone decide."""
        return grid_bits(self.clip, self.noise, self.room)

    def statistics(self, rows: Floats) -> Floats:
        """Return each record's part of the sums, from rows as Data stores them."""
        raise NotImplementedError

    def draws_from(self, sums: Floats, core: Any, key: bytes) -> Floats:
        """Return the draws, shape (draws, dim), from the noised sums: post-processing."""
        raise NotImplementedError

    def event(self, adjacency: str) -> Event:
        """Return what one release of the sums costs."""
        raise NotImplementedError

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return what all draws release."""
        return [(self.event(adjacency), self.releases_of_sums)]

    def total_variation(self, chains: int) -> float:
        """Return how far the random numbers of the run are from the laws that are accounted."""
        return self.releases_of_sums * self.statistics_count * ROUNDED_NORMAL_ERROR

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return nothing: the guarantee is unconditional."""
        return ()

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which draws leave: all of them."""
        return last_iterates(1, self.draws, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> ConjugateRun:
        """Return the run."""
        return ConjugateRun(self, core, chains, data)

    def forecast(self, model: Model, public: Public, chains: int) -> ConjugateForecast:
        """Return what can be expected of the draws."""
        return ConjugateForecast(self.spread)

    @property
    def spread(self) -> float | None:
        """The standard deviation of a draw in its narrowest direction, if it is known before the run."""
        return None

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"sampler": "ConjugateSample", "draws": self.draws, "steps": 1, "w": self.w, "noise": self.noise}

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that say what runs."""
        return [
            ("draws", f"{self.draws:,}, independent and in closed form"),
            ("released sums", f"{self.statistics_count:,}, {self.releases_of_sums:,} time(s)"),
            ("noise on them", f"{self.noise / self.clip:.4g} times the most that one record can add"),
        ]


@dataclass(frozen=True)
class ConjugateForecast:
    """What can be said of the draws beforehand."""

    spread: float | None

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        return [] if self.spread is None else [("spread of a draw", f"{self.spread:.4g}")]

    def advice(self, private: bool) -> list[str]:
        """Return nothing: there is no chain that could fail to mix."""
        return []


class ConjugateRun:
    """All draws in one step."""

    def __init__(self, settings: ConjugateSettings, core: Any, chains: Chains, data: Data) -> None:
        self._settings, self._core = settings, core
        self._rows = data._rows, data.public.width, data.public.has_target
        self._seed, self._draws = chains.seed, chains.draws
        self._bits = settings.bits
        self._stopped = False
        self.steps_done = 0

    def stop(self) -> None:
        """Leave the records that are not summed yet, and release nothing."""
        self._stopped = True

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Sum, add noise, draw."""
        if steps < 1 or self.steps_done:
            return
        settings, random = self._settings, self._core.random
        key = random.key_from_os() if self._seed is None else random.key_from_seed(self._seed)
        unit = math.ldexp(settings.noise, -self._bits)
        sums = exact_sum(
            self._core,
            *self._rows,
            settings.statistics,
            settings.statistics_count,
            settings.clip,
            unit,
            stopped=lambda: self._stopped,
        )
        if self._stopped:
            return
        released = noised(self._core, key, sums, settings.noise, self._bits, settings.releases_of_sums)
        self._draws[:, 0, :] = settings.draws_from(released, self._core, key)
        self.steps_done = 1
