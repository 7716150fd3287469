"""The settings of a gradient run: public numbers only."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...accounting import Event, Gaussian
from ...data.public import Public
from ..base import BATCH_ERRORS, DEFAULT_DRAWS, Release, all_iterates, batch_arguments
from ..directions import Directions
from ..outlook import Outlook, of_chain, run_costs
from .base import Constant, Schedule, checked_values

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...models import Model
    from .forecast import GradientForecast

Floats = npt.NDArray[np.float64]
ARITHMETIC = 1.0 - 1e-12  # covers the rounding of the clip and of the noise multiplier
MOST_LEVELS, LEVEL_RATIO = 2000, 1.002  # more noise multipliers are rounded down to powers of the ratio
ROUNDED_NORMAL_ERROR = 2.0**-63  # total variation per coordinate and draw: docs/privacy/rounded_normal.md


@dataclass(frozen=True)
class GradientSettings:
    """A fully specified run of a gradient sampler."""

    sampler: str
    steps: int
    dim: int
    schedule: Schedule
    friction: float
    friction_of_noise: float
    clip: float
    w: float
    n: int | None  # the number of records, or None if it is private
    sampling: str
    rate: float  # probability that a record is in a batch: b / n, or 1
    batch_size: int  # 0: all records
    room: int  # public bound on the number of records
    heat: float = 1.0  # noise relative to what the target needs; above 1 the chain is hotter
    least_variance: float = 0.0  # least variance of the noise on the stochastic gradient of U
    calibration: str | None = None  # the paper that prescribes these settings

    @property
    def step_sizes(self) -> Floats:
        """The step size of every step."""
        return checked_values(self.schedule, self.steps)

    @property
    def noise(self) -> Floats:
        """The standard deviation of the noise on the clipped sum of gradients, for every step."""
        variance = np.maximum(self.heat**2 * 2.0 * self.friction_of_noise / self.step_sizes, self.least_variance)
        return np.asarray(np.sqrt(variance) * self.rate / self.w)

    @property
    def temperatures(self) -> Floats:
        """The temperature of the chain at every step; the target has temperature 1."""
        return np.asarray((self.noise * self.w / self.rate) ** 2 * self.step_sizes / (2.0 * self.friction_of_noise))

    @property
    def sensitivity(self) -> float:
        """The bound on the norm of one record's contribution to the noised sum."""
        return self.clip

    @property
    def released(self) -> int:
        """The length of the noised sum."""
        return self.dim

    @property
    def core_parameters(self) -> dict[str, list[float]]:
        """The public parameters of the sampler by their names in the core."""
        return {"friction": [self.friction]}

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of all steps of all chains."""
        return [(event, k * chains) for event, k in self._uses_of_a_chain]

    @cached_property
    def _uses_of_a_chain(self) -> list[tuple[Event, int]]:
        levels, counts = self._noise_multipliers()
        kind = self.sampling, self.rate, self.batch_size, self.n
        return [(_event(z, *kind), k) for z, k in zip(levels.tolist(), counts.tolist(), strict=True)]

    def _noise_multipliers(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return the distinct noise multipliers and their numbers of steps; many of them are rounded down to few."""
        if isinstance(self.schedule, Constant):
            one = dataclasses.replace(self, steps=1)
            return one.noise / self.sensitivity * ARITHMETIC, np.array([self.steps])
        multipliers = self.noise / self.sensitivity * ARITHMETIC
        if (multipliers[1:] < multipliers[:-1]).any():
            multipliers = np.sort(multipliers)
        rises = multipliers[1:] > multipliers[:-1]
        if np.count_nonzero(rises) < MOST_LEVELS:
            starts = np.flatnonzero(np.append(True, rises))
            levels = multipliers[starts]
        else:
            levels = _powers_from(multipliers[0], multipliers[-1])
            starts = np.searchsorted(multipliers, levels)
        counts = np.diff(np.append(starts, self.steps))
        return levels[counts > 0], counts[counts > 0]

    def total_variation(self, chains: int) -> float:
        """Return the total variation between the random numbers of the run and the laws that are accounted."""
        per_step = self.released * ROUNDED_NORMAL_ERROR + BATCH_ERRORS[self.sampling]
        return self.steps * chains * per_step

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return nothing: the guarantee is unconditional."""
        return ()

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates are released; the guarantee covers all of them."""
        return all_iterates(self.steps, chains, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run in the compiled core."""
        return core.GradientRun(
            target.with_squares(data.row_squares()),
            chains,
            sampler=self.sampler,
            parameters=self.core_parameters,
            sampling=self.sampling,
            clip=self.clip,
            room=self.room,
            batch=self.batch_size,
            **batch_arguments(core, self.sampling, max(1, data.public.n), self.batch_size, self.rate),
            weight=self.w / self.rate,
            step_size=self.step_sizes.tolist(),
            noise=self.noise.tolist(),
        )

    def forecast(self, model: Model, public: Public, chains: int) -> GradientForecast:
        """Return the forecast of the chains."""
        from .forecast import forecast

        return forecast(model, public, self, chains)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        time = float(self.step_sizes.sum()) / self.friction_of_noise
        costs = run_costs(ways, self.steps * chains * self.rate, DEFAULT_DRAWS * chains)
        return of_chain(ways, self.w, time, chains, heat=self.heat**2, **costs)

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "sampler": self.sampler.upper(),
            "steps": self.steps,
            "step_size": repr(self.schedule),
            "sampling": self.sampling,
            "batch_size": self.batch_size or None,
            "rate": self.rate,
            "clip": self.clip,
            "w": self.w,
            "friction": self.friction,
            "heat": self.heat,
            "calibration": self.calibration,
        }

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        h = self.step_sizes
        sizes = f"{h[0]:.4g}" if h[0] == h[-1] else f"{h[0]:.4g} to {h[-1]:.4g}"
        batch = "all" if self.sampling == "full" else f"{self.batch_size:,} {self.sampling.replace('_', ' ')}"
        rows = [
            ("records per step", batch),
            ("step size", f"{sizes}; diffusion time {h.sum():.4g}"),
            ("gradient clip", f"{self.clip:.4g} per record"),
            ("noise multiplier", f"at least {self.noise.min() / self.sensitivity:.4g}"),
        ]
        if self.w > 1.0:
            rows.append(("cold posterior", f"w = {self.w:.4g}: the likelihood counts {self.w:.4g} times"))
        if self.calibration is not None:
            rows += self._calibration_rows()
        elif self.heat > 1.0:
            rows.append(("temperature", f"{self.heat**2:.3g} times the target's, to stay within the budget"))
        return rows

    def _calibration_rows(self) -> list[tuple[str, str]]:
        low, high = float(self.temperatures.min()), float(self.temperatures.max())
        span = f"{low:.3g}" if high < 1.001 * low else f"{low:.3g} to {high:.3g}"
        targets = f"exp(-{1.0 / high:.3g} U)" if high < 1.001 * low else "another law at every step"
        return [
            ("calibration", f"{self.calibration}: noise and step sizes as printed, epsilon by our accounting"),
            ("temperature", f"{span} times the target's: the chain targets {targets}, not exp(-U)"),
        ]


def _powers_from(lowest: float, highest: float) -> Floats:
    """Return the powers of `LEVEL_RATIO` from just below the lowest level to the highest."""
    first, last = (math.floor(math.log(level) / math.log(LEVEL_RATIO)) for level in (lowest, highest))
    powers = LEVEL_RATIO ** np.arange(first, last + 1.0)
    powers[0] = min(powers[0], lowest)  # the logarithm may have been rounded up
    return np.asarray(powers)


@lru_cache(maxsize=4096)  # a search meets the same noise levels repeatedly
def _event(noise_multiplier: float, sampling: str, rate: float, batch_size: int, n: int | None) -> Event:
    gaussian = Gaussian(noise_multiplier)
    if sampling == "full":
        return gaussian
    if sampling == "poisson":
        return gaussian.poisson(rate)
    assert n is not None
    return gaussian.without_replacement(batch_size, n)
