"""The settings of a PosteriorSample run, which are public numbers, and their forecast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...accounting import GDP, BoundedRange, Event
from ...data.public import Public
from ..base import Release, last_iterates
from ..directions import Directions
from ..outlook import Outlook, of_tempered, run_costs

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...models import Model

ROUNDING_UP = 1.0 + 1e-12
MOST_RHAT = 1.01
LEAST_ESS = 400.0
INDEPENDENT = 10.0  # least number of autocorrelation times between two draws of one inner chain


@dataclass(frozen=True)
class PosteriorSampleForecast:
    """Expected variance of the draws around the truth, relative to the maximum-likelihood estimate.

    A draw at weight w has 1 + 1/w times the variance of that estimate (Wang et al. 2015, proposition 9).
    """

    draws: int
    w: float
    clamped: bool

    @property
    def relative_variance(self) -> float:
        """Variance of the mean of the draws over the variance of the maximum-likelihood estimate."""
        return 1.0 + 1.0 / (self.draws * self.w)

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        who = "the draw" if self.draws == 1 else f"the mean of {self.draws} draws"
        ratio = f"about {self.relative_variance:,.3g} times that of the maximum-likelihood estimate, ignoring the prior"
        return [("variance", f"of {who}: {ratio}")]

    def advice(self, private: bool) -> list[str]:
        """Return suggestions for a better run."""
        if self.clamped and private:
            return ["the clamp biases the draws wherever it acts; a Lipschitz model with a Normal prior needs none."]
        return []


@dataclass(frozen=True)
class PosteriorSampleSettings:
    """A fully specified run: k draws of inner chains whose states are hidden."""

    draws: int
    w: float
    temper_prior: bool
    loglik_range: tuple[float, float] | None  # None: not clamped
    slope_change: float | None  # change of the summed gradient between neighbours; None if clamped or not private
    prior_convexity: float | None
    gamma: float
    inner_chains: int
    warmup: int
    inner_draws: int
    grid: tuple[float, ...]

    @property
    def steps(self) -> int:
        """Steps of each inner chain, warm-up included."""
        return self.warmup + self.inner_draws

    @property
    def dim(self) -> int:
        """The length of theta."""
        return len(self.grid)

    @property
    def spacing(self) -> int:
        """Steps between two released draws of one inner chain."""
        return self.inner_draws // math.ceil(self.draws / self.inner_chains)

    @property
    def prior_weight(self) -> float:
        """The power of the prior in the target."""
        return self.w if self.temper_prior else 1.0

    def event(self, adjacency: str) -> Event:
        """Return the event of one exact draw."""
        if self.loglik_range is not None:
            low, high = self.loglik_range
            records = 2.0 if adjacency == "replace" else 1.0
            return BoundedRange(eta=records * self.w * (high - low) * ROUNDING_UP)
        assert self.slope_change is not None
        assert self.prior_convexity is not None
        convexity = self.prior_weight * self.prior_convexity
        return GDP(mu=self.w * self.slope_change / math.sqrt(convexity) * ROUNDING_UP)

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of the draws."""
        return [(self.event(adjacency), self.draws)]

    def total_variation(self, chains: int) -> float:
        """Return the gamma that the caller asserts."""
        return self.gamma

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the guarantee."""
        made = (
            f"states of {self.inner_chains} NUTS chains after {self.warmup} steps of warm-up, from different chains or "
            f"{self.spacing} steps apart"
        )
        law = (
            f"the released draws ({made}) are independent exact draws from the tempered posterior"
            if self.gamma == 0.0
            else f"the law of the released draws ({made}) differs from that of independent exact draws from the "
            f"tempered posterior by at most {self.gamma:g} in total variation, which is charged"
        )
        return (
            law,
            "the convergence check before the release, whose outcome depends on the records, would pass on every "
            "neighbouring data set too",
        )

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates are released: the draws, after the last step of the inner chains."""
        last_iterates(self.steps, self.draws, draws, warmup)
        return Release(1, self.draws, self.steps - self.draws, 1, hidden=True)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run of the inner chains."""
        from .inner_chains import HiddenNuts

        return HiddenNuts(core, target, chains, self)

    def forecast(self, model: Model, public: Public, chains: int) -> PosteriorSampleForecast:
        """Return the forecast of the draws."""
        return PosteriorSampleForecast(self.draws, self.w, self.loglik_range is not None)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return of_tempered(
            ways, self.w, self.draws, **run_costs(ways, 8.0 * self.steps * self.inner_chains, self.draws)
        )

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "sampler": "PosteriorSample",
            "steps": self.steps,
            "draws": self.draws,
            "w": self.w,
            "temper_prior": self.temper_prior,
            "loglik_range": None if self.loglik_range is None else list(self.loglik_range),
            "gamma": self.gamma,
            "inner_chains": self.inner_chains,
            "warmup": self.warmup,
            "spacing": self.spacing,
            "grid": list(self.grid),
        }

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        rows = [
            ("released", f"{self.draws} draw(s), rounded to a public grid; all other states stay hidden"),
            ("inner chains", f"{self.inner_chains} of NUTS, {self.warmup:,} + {self.inner_draws:,} steps each"),
        ]
        if self.loglik_range is not None:
            low, high = self.loglik_range
            rows.append(("log-likelihoods", f"clamped to [{low:.4g}, {high:.4g}] for each record"))
        if self.temper_prior:
            rows.append(("prior", "raised to the power w too"))
        return rows
