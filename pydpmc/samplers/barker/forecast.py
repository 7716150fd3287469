"""Forecast of a random walk from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...data.public import Public
from ...models import Model
from ..base import ENOUGH_DRAWS, posterior_sd
from ..request import lipschitz_of_unit
from .settings import Settings

UPHILL_SPEED = 0.4  # mean of the positive part of a standard normal: on a steep slope only uphill moves are accepted


@dataclass(frozen=True)
class Forecast:
    """Expected behaviour of the chains, computed without looking at a record.

    Attributes
    ----------
    posterior_sd
        Expected posterior standard deviation of a coefficient, if rows spread evenly over directions.
    acceptance
        Expected share of accepted proposals.
    travel
        Distance over which a coefficient diffuses in one chain.
    climb
        Distance that one chain can move towards a distant posterior.
    start_distance
        Distance of the posterior from the default start, if the truth is one prior standard deviation away.
    effective_draws
        Expected effective draws of all chains together.
    clipped_at_most
        Largest possible share of clipped log-likelihood ratios: 0 if a Lipschitz constant excludes clipping.
    n, w
        Public number of records, and tempering weight.
    never_clipped
        End of the sentence that says how to exclude clipping; empty if this sampler cannot.
    convex
        Whether the model is convex, so that Langevin is an alternative.
    """

    posterior_sd: float | None
    acceptance: float | None
    travel: float
    climb: float
    start_distance: float | None
    effective_draws: float | None
    clipped_at_most: float
    n: int | None = None
    w: float = 1.0
    never_clipped: str = ""
    convex: bool = False

    @property
    def mixes(self) -> bool | None:
        """Whether the budget can be expected to mix the chains; None if nothing is known."""
        if self.effective_draws is None:
            return None
        reaches = self.start_distance is None or self.climb >= self.start_distance
        return self.effective_draws >= ENOUGH_DRAWS and reaches

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        rows = [("a chain can travel", f"{self.travel:.3g} per coefficient by diffusion, {self.climb:.3g} uphill")]
        unclipped = "none: the clip is never reached (Lipschitz bound)"
        clipped = "unknown: the clip may act, and it biases the posterior if it does"
        rows.append(("ratios clipped", unclipped if self.clipped_at_most == 0.0 else clipped))
        return rows

    def advice(self, private: bool) -> list[str]:
        """Return suggestions for a better run."""
        advice = []
        if private and self.mixes is False and self.start_distance is not None and self.climb < self.start_distance:
            advice.append("a start nearer to the posterior (init=, from public knowledge) would save steps.")
        if self.n is None:
            advice.append("declare public_n in Data (a public, rough number of records) for a plan that fits the data.")
        if private and self.clipped_at_most > 0:
            advice.append(f"a shorter proposal, or a larger clip, clips less{self.never_clipped}.")
        return advice


def acceptance_rate(relative_step: float) -> float:
    """Return Barker's expected acceptance for log ratios N(-l^2/2, l^2), where l is the relative step."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    log_ratio = -0.5 * relative_step**2 + relative_step * nodes
    return float(weights @ (0.5 * (1.0 + np.tanh(0.5 * log_ratio)))) / math.sqrt(2.0 * math.pi)


def _rules_clipping_out(model: Model, public: Public) -> str:
    if public.grouped:  # planning/page.py advises on groups
        return ""
    if model.lipschitz(public) is None:
        return "; a model with a Lipschitz constant is never clipped"
    return "; with a bounded proposal and clip left open nothing is clipped"


def forecast(model: Model, public: Public, settings: Settings, chains: int) -> Forecast:
    """Return the forecast of a fully specified run."""
    dim, steps, move = settings.walk.dim, settings.steps, settings.walk.step
    lipschitz = lipschitz_of_unit(model, public)
    safe = lipschitz is not None and settings.clip >= lipschitz * settings.walk.reach * (1.0 - 1e-9)
    sd = posterior_sd(model, public, settings.n, settings.w)
    known = sd is not None and model.information(public) is not None and settings.n is not None
    acceptance = acceptance_rate(move * math.sqrt(dim) / sd) if sd is not None else None
    kept = acceptance if acceptance is not None else 0.5
    draws = None
    if known and sd is not None:
        draws = chains * min(steps / 2.0, steps * kept * (move / sd) ** 2 / 4.0)
    precision = model.prior_precision(public)
    proper = precision[precision > 0]
    return Forecast(
        posterior_sd=sd if known else None,
        acceptance=acceptance if known else None,
        travel=move * math.sqrt(steps * kept),
        climb=UPHILL_SPEED * move * steps,
        start_distance=float(np.sqrt((1.0 / proper).sum())) if proper.size else None,
        effective_draws=draws,
        clipped_at_most=0.0 if safe else 1.0,
        n=settings.n,
        w=settings.w,
        never_clipped=_rules_clipping_out(model, public),
        convex=model.convex and not public.grouped,
    )
