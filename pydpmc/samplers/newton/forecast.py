"""What a Newton run can be expected to say, in closed form from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...models.priors import Flat

if TYPE_CHECKING:
    from .settings import NewtonSettings

USED = 0.85  # of mu^2, by looks near enough to the optimum to be pooled
WIDE = 3.0


@dataclass(frozen=True)
class NewtonForecast:
    """The forecast width of an interval; None where the number of records is private.

    Attributes
    ----------
    width
        Posterior standard deviation over that of the posterior without privacy.
    spread
        Posterior standard deviation of a coefficient (features spread evenly over directions).
    of_prior
        Share of the posterior's precision that is the prior's.
    signal
        Curvature of a direction over the noise on the gradient; below 1 the looks say little.
    """

    width: float | None
    spread: float | None
    of_prior: float | None
    signal: float | None
    clipped_at_most: float = 0.0

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        if self.width is None or self.spread is None:
            return [("forecast", "none: the number of records is private; pass public_n to Data for one")]
        return [
            ("width of an interval", f"about {self.width:.3g} times the width without privacy"),
            ("posterior sd", f"about {self.spread:.3g} for a coefficient"),
        ]

    def advice(self, private: bool) -> list[str]:
        """Return what would help, if anything needs help."""
        if not private or self.width is None or self.width < WIDE:
            return []
        return ["privacy noise will dominate: use fewer columns, a larger epsilon, or expect mostly the prior"]


def forecast_of(settings: NewtonSettings) -> NewtonForecast:
    """Return the forecast of these settings."""
    if settings.n is None:
        return NewtonForecast(None, None, None, None)
    family = settings.family
    mu = settings.mu * math.sqrt(USED)
    sigma, _ = settings.bounds.noise(mu, settings.adjacency, settings.dim, settings.curvature_share)
    curvature = settings.n * family.curvature * family.radius**2 / settings.dim
    prior = float(settings.model.prior_precision(settings.public).mean())
    information = curvature**2 / (curvature + sigma**2)
    precision = information + prior
    return NewtonForecast(
        math.sqrt((curvature + prior) / precision),
        1.0 / math.sqrt(precision),
        prior / precision,
        curvature / sigma,
    )


def has_flat_coordinate(settings: NewtonSettings) -> bool:
    """Return whether some coordinate of theta has a flat prior."""
    table = settings.model.prior_table(settings.public)
    return bool((table[:, 0] == Flat.code).any())
