"""What a Newton run can be expected to give, direction by direction."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..directions import Directions
from ..outlook import Outlook, of_calibrated, run_costs

if TYPE_CHECKING:
    from .settings import NewtonSettings

USED = 0.85  # of mu^2, by looks near enough to the optimum to be pooled
ROUNDS = 60


def outlook_of(settings: NewtonSettings, ways: Directions) -> Outlook:
    """Return the outlook: all looks as one at the truth."""
    family, dim = settings.family, settings.coefficients
    sigma, tau = settings.bounds.noise(
        settings.estimating_mu * math.sqrt(USED), settings.adjacency, dim, settings.curvature_share
    )
    sigma, tau = sigma / family.unit, tau * family.scale / family.unit
    curvature, scores = family.kept * ways.information, family.spread * ways.information
    variance = 1.0 / np.maximum(ways.prior, 1e-12 * curvature)
    met = curvature**2 / (curvature**2 + dim * tau**2 / 2.0)  # the noise of the curvature does not reach below it
    for _ in range(ROUNDS):
        noise = sigma**2 + tau**2 / 2.0 * (float((variance * met).sum()) + variance * met)
        precision = curvature**2 / (scores + noise) + ways.prior
        variance = 0.5 * (variance + 1.0 / precision)
    costs = run_costs(ways, settings.steps, settings.draws, dim + dim * dim / 4.0)
    return of_calibrated(ways, precision, effective_draws=float(settings.draws), **costs)
