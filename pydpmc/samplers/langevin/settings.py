"""The settings of a Langevin run: public numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...accounting import Event, LangevinIterate
from ...data.public import Public
from ...models import Model, OwnModel
from ..base import Release, last_iterates, target_arguments
from ..directions import Directions
from ..gradient.settings import ROUNDED_NORMAL_ERROR
from ..outlook import Outlook, of_tempered, run_costs
from .constants import UPWARDS, Arithmetic, Curvature, arithmetic, curvature

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from .forecast import LangevinForecast

NO_MORE_THAN_DECLARED = (
    "there are at most public_n = {0:,} records, in the data set and in its neighbours (of more, the first {0:,} would "
    "be used, and the price would be that of replacing a record)"
)


@dataclass(frozen=True)
class LangevinSettings:
    """A fully specified Langevin run, including its target: the price holds only for this model and prior."""

    model: Model
    public: Public  # its n bounds the number of records
    draws: int
    steps: int
    step_size: float
    w: float
    bias: float
    adjacency: str = "replace"

    @property
    def dim(self) -> int:
        """Length of theta."""
        return self.model.dim(self.public)

    @cached_property
    def curvature(self) -> Curvature:
        """The least and largest curvature of U."""
        return curvature(self.model, self.public, self.w)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Grids and errors of the compiled run."""
        return arithmetic(self.model, self.public, self.w, self.step_size)

    def event(self, adjacency: str) -> LangevinIterate:
        """Return the event of one draw."""
        change = self.model.gradient_change(self.public, adjacency)
        assert change is not None
        errors, one = self.arithmetic, self.w * self.arithmetic.of_record
        return LangevinIterate(
            steps=self.steps,
            step_size=self.step_size,
            sensitivity=self.w * change * UPWARDS,
            strong_convexity=self.curvature.least,
            smoothness=self.curvature.largest,
            adjacency=adjacency,
            error=2.0 * (self.public.n * one + errors.of_update + errors.of_point) * UPWARDS,
            error_between_neighbours=2.0 * (one + errors.of_update) * UPWARDS,
            half_step=True,
        )

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of all draws."""
        return [(self.event(adjacency), self.draws * chains)]

    def total_variation(self, chains: int) -> float:
        """Return the total variation between the random numbers of the run and the laws that are accounted."""
        return self.draws * chains * self.steps * self.dim * ROUNDED_NORMAL_ERROR

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return what the user states of a model; under add_remove, that no more records than declared are there."""
        stated = (self.model.convexity,) if isinstance(self.model, OwnModel) else ()
        return stated if self.adjacency == "replace" else (*stated, NO_MORE_THAN_DECLARED.format(self.public.n))

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates are released: the last of each chain."""
        return last_iterates(self.steps, self.draws * chains, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run in the compiled core; of more records than the run is priced for, the first are used."""
        if data.public.n > self.public.n:  # private under add_remove: a refusal would tell
            data = data.first(self.public.n)
            target = core.Target(**target_arguments(self.model, data), coded=data._coded)
        if self.model.lipschitz(self.public) is None:  # what a void record adds, nothing, is too far from x - theta
            data = data.with_void_at(self._middle())
            target = core.Target(**target_arguments(self.model, data), coded=data._coded)
        errors = self.arithmetic
        return core.LangevinRun(
            target.with_squares(data.row_squares()),
            chains,
            step_size=self.step_size,
            steps=self.steps,
            weight=self.w,
            clip=errors.clip,
            gradient_unit=errors.gradient_unit,
            centre=errors.box.centre.tolist(),
            radius=errors.box.radius.tolist(),
        )

    def _middle(self) -> npt.NDArray[np.float64]:
        """Return the middle of the declared bounds, which replaces void records."""
        bounds = self.public.x_bounds
        return np.zeros(self.public.width) if bounds is None else (np.array(bounds) / 2).sum(axis=1)

    def forecast(self, model: Model, public: Public, chains: int) -> LangevinForecast:
        """Return the forecast of the draws."""
        from .forecast import forecast

        return forecast(self)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return of_tempered(ways, self.w, self.draws, **run_costs(ways, self.steps * self.draws, self.draws))

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "sampler": "Langevin",
            "draws": self.draws,
            "steps": self.steps,
            "step_size": self.step_size,
            "w": self.w,
            "bias": self.bias,
        }

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        widest = float(self.arithmetic.box.radius.max())
        return [
            ("draws", f"{self.draws:,}, each the last iterate of a chain; all other iterates stay hidden"),
            ("records per step", "all"),
            ("step size", f"{self.step_size:.4g}"),
            ("theta kept within", f"{widest:.4g} of the prior's centre"),
        ]
