"""Which clip of counts the next looks take: a function of public facts and of earlier looks."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from ...models import NegativeBinomialRegression, PoissonRegression
from ...models.priors import Flat
from .clips import WORTH_IT, Clip, Predictors, Trade
from .families import largest_count, largest_sigma, law_of
from .forecast import moment_of_a_column
from .links import clipped_moments
from .mixtures import MixturePrior

if TYPE_CHECKING:
    from .settings import NewtonSettings
    from .surrogate import GaussianFeatures

LEAST_FIRST, NOISE_A_RECORD, TOP_OVER_CLIP = 4.0, 0.1, 4.0  # of the first look
TYPICAL_RECORDS = 1e4  # where their number is private
WIDEST_GUIDE = 10.0  # of a log mean
TYPICAL_SIGMA = 0.5  # over the largest that the bounds of y allow


def first_clip(settings: NewtonSettings) -> NewtonSettings:
    """Return the settings of the first look, which is to find the mean of counts unless that was declared.

    Its clip is as large as noise allows: a tenth of a count a record, at the first look's share of the budget.
    """
    model, public = settings.model, settings.public
    if settings.clip.sigma is not None:  # all residuals that y_bounds allow near the prior's centre
        return dataclasses.replace(settings, clip=Clip(2.0, sigma=largest_sigma(public)))
    if not isinstance(model, PoissonRegression | NegativeBinomialRegression) or public.base_rate is not None:
        return settings
    largest = largest_count(model, public)
    schedule, records = settings.schedule, settings.n or TYPICAL_RECORDS
    share = schedule.first if schedule.fixed is None else schedule.fixed[0]
    heard = NOISE_A_RECORD * records * settings.estimating_mu * math.sqrt(share) / settings.moved_per_unit
    clip = min(largest, max(float(math.ceil(heard)), LEAST_FIRST))
    return dataclasses.replace(settings, clip=Clip(clip, min(largest, TOP_OVER_CLIP * clip)))


def better_clip(
    settings: NewtonSettings, predictors: Predictors, features: GaussianFeatures, left: float, spent: float
) -> Clip | None:
    """Return a clip that is worth the `spent` share of mu^2 on looks with the present one; None if there is none."""
    model = settings.model
    records = max(features.n * float(np.trace(features.Q)) / len(features.Q), 1.0)
    trade = Trade(law_of(model), predictors, records, settings.moved_per_unit)
    mu, in_all = settings.estimating_mu * math.sqrt(left), settings.estimating_mu * math.sqrt(left + spent)
    found = trade.best(largest_count(model, settings.public), mu)
    return found if trade.variance(found, mu) < WORTH_IT * trade.variance(settings.clip, in_all) else None


def best_residual(records: float, moved: float, mu: float) -> float:
    """Return the clip of normal residuals, over sigma, with the least forecast variance; arguments as of `Trade`."""

    def variance(clip: float) -> float:
        share, spread = clipped_moments(clip)
        return (spread * records + (clip * moved / mu) ** 2) / share**2

    return min((0.3 * 1.07**k for k in range(40)), key=variance)


def guide(settings: NewtonSettings, prior: MixturePrior) -> MixturePrior:
    """Return the prior that guides where to look: each column moves a predictor by about 1 at most.

    Early looks at counts say little of single columns, and a mean far out would be a poor point to look at next. The
    posterior is computed with the model's own prior.
    """
    first = 0 if settings.family.constant is None else 1
    sd = np.where(prior.kind == Flat.code, np.inf, prior.scale)
    sd[first:] = np.minimum(sd[first:], 1.0 / math.sqrt(moment_of_a_column(settings)))
    return MixturePrior.around(prior.mean, np.minimum(sd, WIDEST_GUIDE))
