"""Forecast of Langevin draws from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base import posterior_sd
from .bias import BIAS_PER_SHARE, MOST_SHARE

if TYPE_CHECKING:
    from .settings import LangevinSettings


@dataclass(frozen=True)
class LangevinForecast:
    """Expected behaviour of the draws, computed without looking at a record.

    Attributes
    ----------
    posterior_sd
        Expected standard deviation of one draw of a coefficient, if rows spread evenly over directions.
    noise_of_mean
        Expected standard deviation of the mean of all draws.
    prior_sd
        Largest prior standard deviation; infinite for a flat prior.
    condition
        Largest over least curvature of the target, to which the number of steps is proportional.
    discretisation
        Largest effect of the step size on a mean, in standard deviations, about; none where U is quadratic.
    bias
        Largest remaining effect of the start, in standard deviations.
    """

    posterior_sd: float
    noise_of_mean: float
    prior_sd: float
    condition: float
    discretisation: float
    bias: float

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        return [
            ("one draw", f"sd about {self.posterior_sd:.3g} per coefficient (the prior's is {self.prior_sd:.3g})"),
            ("mean of all draws", f"noise about {self.noise_of_mean:.3g} per coefficient"),
            ("discretisation", f"moves no mean by more than about {self.discretisation:.2g} sd"),
            ("start", f"its effect at the end is below {self.bias:.2g} sd, unless steps was given"),
            ("condition number", f"{self.condition:.4g}"),
        ]

    def advice(self, private: bool) -> list[str]:
        """Return nothing: the plan's page says what would help."""
        return []


def forecast(settings: LangevinSettings) -> LangevinForecast:
    """Return the forecast of a fully specified run."""
    model, public = settings.model, settings.public
    sd = posterior_sd(model, public, public.n, settings.w)
    assert sd is not None
    least = float(model.prior_precision(public).min())
    stiffest = settings.step_size * settings.curvature.largest
    return LangevinForecast(
        posterior_sd=sd,
        noise_of_mean=sd / math.sqrt(settings.draws),
        prior_sd=1.0 / math.sqrt(least) if least > 0 else math.inf,
        condition=settings.curvature.condition,
        discretisation=BIAS_PER_SHARE * stiffest if stiffest <= MOST_SHARE else math.inf,
        bias=settings.bias,
    )
