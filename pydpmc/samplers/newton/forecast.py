"""What a Newton run can be expected to say, in closed form from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...models import OwnModel
from ...models.priors import Flat

if TYPE_CHECKING:
    from .settings import NewtonSettings

USED = 0.85  # of mu^2, by looks near enough to the optimum to be pooled
ROUNDS = 60
PRIVATE_SIZE = "the number of records (or the sum of their weights) is private; pass public_n to Data"
OWN_CODE = "nothing is known of the curvature of your model; plan.rehearse() tries it on made-up records"


@dataclass(frozen=True)
class NewtonForecast:
    """The forecast width of an interval; None where too little is public.

    Attributes
    ----------
    width
        Posterior standard deviation over that of the posterior without privacy.
    spread
        Posterior standard deviation of a coefficient.
    of_prior
        Share of the posterior's precision that is the prior's.
    signal
        Curvature of a direction over the noise on the gradient; below 1 the looks say little.
    clipped_at_most
        Share of records whose terms may be clipped.
    why_none
        Why there is no forecast.
    """

    width: float | None
    spread: float | None
    of_prior: float | None
    signal: float | None
    clipped_at_most: float = 0.0
    why_none: str = ""

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        if self.width is None or self.spread is None:
            return [("forecast", f"none: {self.why_none}")]
        return []

    def advice(self, private: bool) -> list[str]:
        """Return nothing: the plan's page says what would help."""
        return []


def forecast_of(settings: NewtonSettings) -> NewtonForecast:
    """Return the forecast of these settings: all looks as one at the truth, features spread evenly within bounds."""
    if settings.n is None:
        return NewtonForecast(None, None, None, None, why_none=PRIVATE_SIZE)
    if isinstance(settings.model, OwnModel) and not settings.family.curvature:
        return NewtonForecast(None, None, None, None, why_none=OWN_CODE)
    family, dim = settings.family, settings.coefficients
    mu = settings.estimating_mu * math.sqrt(USED)
    sigma, tau = settings.noise(mu)
    tau *= family.scale if family.predictors == 1 else family.curvature
    curvature = settings.n * family.curvature * moment_of_a_column(settings)
    scores = curvature if family.variance is None else curvature * family.variance / family.curvature
    prior = float(settings.model.prior_precision(settings.public).mean())
    variance = 1.0 / max(prior, 1e-12 * curvature)
    for _ in range(ROUNDS):
        met = curvature**2 / (curvature**2 + dim * tau**2 / 2.0)  # by the noise of the curvature: pooling.felt
        noise = sigma**2 + tau**2 / 2.0 * dim * variance * met
        precision = curvature**2 / (scores + noise) + prior
        variance = 0.5 * (variance + 1.0 / precision)
    return NewtonForecast(
        math.sqrt((curvature**2 / scores + prior) / precision),
        1.0 / math.sqrt(precision),
        prior / precision,
        curvature / sigma,
    )


def moment_of_a_column(settings: NewtonSettings) -> float:
    """Return the forecast of E x_j^2: uniform within `x_bounds`, or rows of the declared norm; 1 without columns."""
    public, family = settings.public, settings.family
    if isinstance(settings.model, OwnModel):  # what it states is the information about a coordinate
        return 1.0
    if settings.coefficients == 1 and family.constant is not None:
        return 1.0
    norm = public.feature_norm
    assert norm is not None
    even = norm**2 / public.width
    if public.x_bounds is None:
        return even
    squares = [(low * low + low * high + high * high) / 3.0 for low, high in public.x_bounds]
    return min(even, math.fsum(squares) / len(squares))


def has_flat_coordinate(settings: NewtonSettings) -> bool:
    """Return whether some coordinate of theta has a flat prior."""
    table = settings.model.prior_table(settings.public)
    return bool((table[:, 0] == Flat.code).any())
