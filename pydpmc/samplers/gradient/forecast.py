"""Forecast of a gradient run from public facts."""

from __future__ import annotations

from dataclasses import dataclass

from ...data.public import Public
from ...models import Model
from ..base import ENOUGH_DRAWS, posterior_sd
from ..request import lipschitz_of_unit
from .settings import GradientSettings


@dataclass(frozen=True)
class GradientForecast:
    """Expected behaviour of the chains, computed without looking at a record.

    Attributes
    ----------
    time
        Diffusion time: the sum of the step sizes.
    relaxation
        Relaxation time of the chain at best: the posterior variance of a coefficient, if rows spread evenly over
        directions.
    longest_relaxation
        Upper bound of the relaxation time: the largest prior variance.
    effective_draws
        Effective draws of all chains together, at best.
    clipped_at_most
        Largest possible share of clipped gradients: 0 if a Lipschitz constant excludes clipping.
    """

    time: float
    relaxation: float | None
    longest_relaxation: float | None
    effective_draws: float | None
    clipped_at_most: float

    @property
    def mixes(self) -> bool | None:
        """Whether the budget can be expected to mix the chains; None if nothing is known."""
        return None if self.effective_draws is None else self.effective_draws >= ENOUGH_DRAWS

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        rows = []
        if self.relaxation is not None:
            rows.append(("relaxation time", f"{self.relaxation:.3g} at best"))
        if self.longest_relaxation is not None:
            rows.append(("", f"{self.longest_relaxation:.3g} in a direction of which the data say nothing"))
        rows.append(("gradients clipped", "none" if self.clipped_at_most == 0.0 else "unknown, at most all"))
        return rows

    def advice(self, private: bool) -> list[str]:
        """Return nothing: the plan's page says what would help."""
        return []


def forecast(model: Model, public: Public, settings: GradientSettings, chains: int) -> GradientForecast:
    """Return the forecast of a fully specified run."""
    time = float(settings.step_sizes.sum()) / settings.friction_of_noise
    known = model.information(public) is not None and settings.n is not None
    sd = posterior_sd(model, public, settings.n, settings.w) if known else None
    relaxation = None if sd is None else sd**2
    precision = model.prior_precision(public)
    lipschitz = lipschitz_of_unit(model, public)
    return GradientForecast(
        time=time,
        relaxation=relaxation,
        longest_relaxation=float(1.0 / precision.min()) if precision.size and precision.min() > 0 else None,
        effective_draws=None if relaxation is None else chains * time / (2.0 * relaxation),
        clipped_at_most=0.0 if lipschitz is not None and settings.clip >= lipschitz else 1.0,
    )
