"""Step-size schedules, which are public and are accounted step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...checks import given, number, positive, reals, whole
from ...errors import InvalidArgument

Floats = npt.NDArray[np.float64]
SHORT = 1 << 14


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
