"""What closed-form draws can be expected to give, direction by direction."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from ...models.priors import Normal
from ..directions import Directions
from ..outlook import Outlook, of_calibrated, of_tempered, run_costs

if TYPE_CHECKING:
    from .gaussian_mean import MeanSettings
    from .linear_regression import LinearSettings
    from .noised_mean import NoisedMeanSettings
    from .unknown_sigma import MomentSettings

SIGMAS = 8


def outlook_of_mean(settings: MeanSettings, ways: Directions) -> Outlook:
    """Return the outlook of draws of a Gaussian mean: exact ones from the tempered posterior."""
    return of_tempered(ways, settings.w, settings.draws, **run_costs(ways, 4.0, settings.draws))


def outlook_of_noised_mean(settings: NoisedMeanSettings, ways: Directions) -> Outlook:
    """Return the outlook of draws given one noised sum."""
    costs = run_costs(ways, 4.0, settings.draws)
    return of_calibrated(ways, settings.information + ways.prior, effective_draws=float(settings.draws), **costs)


def outlook_of_moments(settings: MomentSettings, ways: Directions) -> Outlook:
    """Return the outlook of linear regression with unknown sigma: as with a known one, over sigmas of its prior.

    The noise does not follow sigma, so errors in units of the posterior without privacy are largest where it is small.
    """
    noises = settings.noises()[:2]
    typical = _outlook(settings, ways, *noises)
    assumed = 1.0 / np.sqrt(ways.information / (ways.n * ways.moments))
    found = [
        _outlook(settings, dataclasses.replace(ways, information=ways.information * (assumed / sigma) ** 2), *noises)
        for sigma in _sigmas(ways)
    ]
    if not found:
        return typical

    def together(name: str) -> float:
        return math.sqrt(float(np.mean([getattr(one, name) ** 2 for one in found])))

    return dataclasses.replace(
        typical,
        width=float(np.median([one.width or 0.0 for one in found])),
        error=together("error"),
        prediction_error=together("prediction_error"),
    )


def _sigmas(ways: Directions) -> list[float]:
    """Return sigmas at even quantiles of a normal prior, cut off at zero."""
    prior = ways.model.block_prior(ways.model.blocks(ways.public)[-1])
    if not isinstance(prior, Normal):
        return []
    loc, scale = float(np.asarray(prior.loc)), float(np.asarray(prior.scale))
    below = float(ndtr(-loc / scale))
    shares = below + (1.0 - below) * (np.arange(SIGMAS) + 0.5) / SIGMAS
    return [sigma for sigma in (loc + scale * ndtri(shares)).tolist() if sigma > 0.0]


def outlook_of_linear(settings: LinearSettings, ways: Directions) -> Outlook:
    """Return the outlook of linear regression: X'y is a noised observation of a noised X'X times beta."""
    to_xx, to_xy = math.sqrt(2.0) * settings.norm**2, math.sqrt(2.0) * settings.norm * settings.y_reach
    return _outlook(settings, ways, settings.noise * to_xx, settings.noise * to_xy)


def _outlook(settings: LinearSettings | MomentSettings, ways: Directions, xx: float, xy: float) -> Outlook:
    moments = ways.n * ways.moments
    beta = 1.0 / np.where(ways.prior > 0.0, ways.prior, np.inf)
    typical = float((ways.moments * beta).sum())
    if ways.prior.min() <= 0.0 or typical > settings.y_reach**2:
        beta = settings.y_reach**2 / ways.moments / ways.dim  # predictors stay within the bounds of y
    met = moments**2 / (moments**2 + ways.dim * xx**2 / 2.0)
    noise = xy**2 + xx**2 / 2.0 * (float((beta * met).sum()) + beta * met)
    variance = moments / ways.information * moments  # sigma^2 X'X
    precision = settings.w * moments**2 * met / (variance + noise) + ways.prior
    costs = run_costs(ways, 10.0, settings.draws, ways.dim**2)
    return of_calibrated(ways, np.maximum(precision, 1e-300), effective_draws=float(settings.draws), **costs)
