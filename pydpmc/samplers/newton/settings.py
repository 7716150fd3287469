"""What a Newton run is made of, once everything is decided: public numbers only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...accounting import GDP, Event
from ...data.public import Public
from ...errors import InvalidArgument
from ...models import LinearRegression, Model, OwnModel
from ..base import Release, all_at_once
from ..directions import Directions
from ..gradient.settings import ROUNDED_NORMAL_ERROR
from ..outlook import Outlook
from .clips import Clip
from .families import Family, family_of
from .fit import GROUPS, SHARE
from .forecast import NewtonForecast, forecast_of
from .look import entries
from .outlook import outlook_of
from .schedule import Schedule
from .sensitivity import LINEAR_FREE, Bounds

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from .run import NewtonRun

Floats = npt.NDArray[np.float64]
ARITHMETIC = 1.0 + 1e-12  # of mu: the sum of squares


@dataclass(frozen=True)
class NewtonSettings:
    """A fully specified run: the sum of mu_k^2 is `mu`^2, whatever the looks show."""

    model: Model
    public: Public
    adjacency: str
    mu: float
    schedule: Schedule
    blocks: tuple[int, ...]  # of each coordinate of theta (of one predictor, if there are several)
    curvature: str
    curvature_share: float
    draws: int
    n: int | None  # of records, if it may be known
    clip: Clip  # of linear models and counts
    fit: bool = False  # whether a last look at residuals by predicted value is taken

    @property
    def estimating_mu(self) -> float:
        """What pays for all looks but the one at the fit."""
        return self.mu * math.sqrt(1.0 - SHARE) if self.fit else self.mu

    @property
    def steps(self) -> int:
        """The most looks."""
        return len(self.schedule.fixed) if self.schedule.fixed is not None else self.schedule.most

    @property
    def dim(self) -> int:
        """Length of theta."""
        return self.coefficients + (isinstance(self.model, LinearRegression) and self.model.sigma is None)

    @property
    def coefficients(self) -> int:
        """Length of the gradient of a look: theta without an unknown sigma."""
        return len(self.blocks) * self.family.predictors

    @property
    def w(self) -> float:
        """Return 1: the likelihood is not tempered."""
        return 1.0

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return nothing: the guarantee is unconditional."""
        return ()

    @property
    def released(self) -> int:
        """The numbers that a look releases."""
        return self.coefficients + len(entries(self.blocks)[0])

    @property
    def family(self) -> Family:
        """What is known of the model."""
        return family_of(self.model, self.public, self.clip)

    @property
    def bounds(self) -> Bounds:
        """What one record can contribute to a look."""
        return self.bounds_of(self.curvature == "outer")

    def bounds_of(self, outer: bool) -> Bounds:
        """Return what one record can contribute to a look at curvatures, or at outer products of gradients."""
        most, found = self.public.max_weight, self.family.bounds
        found = found if most is None else found.weighted(most)
        return Bounds(found.gradient, found.gradient**2, LINEAR_FREE) if outer else found

    def noise(self, mu: float, bounds: Bounds | None = None) -> tuple[float, float]:
        """Return sigma and tau of a look that costs at most mu; `bounds` if they are not those of all looks."""
        each = mu / self.records_per_unit
        return (bounds or self.bounds).noise(each, self.adjacency, self.coefficients, self.curvature_share)

    def price(self, sigma: float, tau: float, bounds: Bounds | None = None) -> float:
        """Return the mu of a look: that of a record, times the most records of a unit."""
        return self.records_per_unit * (bounds or self.bounds).mu(sigma, tau, self.adjacency, self.coefficients)

    @property
    def moved_per_unit(self) -> float:
        """How far a unit can move the gradient, for each unit of the clip."""
        apart = 2.0 if self.adjacency == "replace" else 1.0
        return apart * self.family.radius * self.records_per_unit * (self.public.max_weight or 1.0)

    @property
    def records_per_unit(self) -> int:
        """The most records of what is protected."""
        most = self.public.records_per_unit
        assert most is not None  # choose refuses groups of any size
        return most

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return what all looks together release."""
        if adjacency != self.adjacency:
            raise InvalidArgument(f"these settings were made for adjacency={self.adjacency!r}, not {adjacency!r}")
        return [(GDP(self.mu * ARITHMETIC), 1)]

    def total_variation(self, chains: int) -> float:
        """Return how far the random numbers of the run are from the laws that are accounted."""
        return (self.steps * self.released + (2 * GROUPS if self.fit else 0)) * ROUNDED_NORMAL_ERROR

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which draws leave: all of them."""
        return all_at_once(self.steps, chains, self.draws, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> NewtonRun:
        """Return the run."""
        from .own_model import OwnNewtonRun
        from .run import NewtonRun
        from .unknown_sigma import UnknownSigmaRun

        if isinstance(self.model, OwnModel):
            return OwnNewtonRun(self, core, target, chains, data)
        kind = NewtonRun if self.clip.sigma is None else UnknownSigmaRun
        return kind(self, core, target, chains, data)

    def forecast(self, model: Model, public: Public, chains: int) -> NewtonForecast:
        """Return what can be expected of the draws."""
        return forecast_of(self)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return outlook_of(self, ways)

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "sampler": "Newton",
            "looks": self.steps,
            "steps": self.steps,
            "shares": None if self.schedule.fixed is None else list(self.schedule.fixed),
            "curvature": self.curvature,
            "curvature_share": self.curvature_share,
            "residual_clip": self.clip.residual,
            "largest_count": self.clip.top if math.isfinite(self.clip.top) else None,
            "curvature_clip": self.clip.curvature,
            "draws": self.draws,
            "fit": self.fit,
            "mu": self.mu,
            "w": 1.0,
        }

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that say what runs."""
        sharing = "shared as the looks show" if self.schedule.fixed is None else "shared as given"
        fit = [("fit", f"one more look, at residuals in {GROUPS} groups, for {SHARE:.0%} of the budget")]
        return [
            ("looks", f"at most {self.steps}, {self.released:,} numbers each, over all records"),
            *(fit if self.fit else []),
            ("budget", f"sum of mu_k^2 = {self.mu**2:.4g}, {sharing}"),
            ("curvature", self.curvature),
            ("draws", f"{self.draws:,}, independent, from the posterior given the looks"),
        ]
