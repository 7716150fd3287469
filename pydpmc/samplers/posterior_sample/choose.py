"""Choice of the bound that holds for a posterior draw, and of the weight w within the budget."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ...errors import BudgetError, InvalidArgument
from ...models import GaussianMean, LinearRegression
from ...models.priors import Flat, Normal
from ..conjugate import choose as conjugate_choose
from ..conjugate.settings import ConjugateSettings
from ..conjugate.spec import ConjugateSample
from ..request import Request
from .settings import PosteriorSampleSettings

SMALLEST_WEIGHT = 1e-7
UNSPENT = 1e-6  # share of epsilon left over; it can be small because a cost is cheap to compute
GRID_BITS = 24
CONJUGATE = "; with a known sigma, ConjugateSample needs no clamp"
SPACING = 50  # least number of steps between two draws of one inner chain


def choose(request: Request) -> PosteriorSampleSettings | ConjugateSettings:
    """Return a fully specified run that costs at most the budget."""
    if request.chains != 1:
        raise InvalidArgument("chains must be 1: PosteriorSample(draws=k) releases k draws, inner_chains make them")
    if _has_closed_form(request):
        sampler = request.sampler
        exact = ConjugateSample(draws=sampler.draws, w=sampler.w, n0=sampler.n0)
        return conjugate_choose.choose(dataclasses.replace(request, sampler=exact))
    _require_proper(request)
    given = request.sampler.w is not None or request.sampler.n0 is not None
    if given or not request.private:
        return _settings(request, request.w)
    if request.epsilon is None:
        raise InvalidArgument("w must be set in the sampler when no epsilon is given; or give epsilon and delta")
    return _largest(request, _settings(request, 1.0))


def _has_closed_form(request: Request) -> bool:
    """Return whether the requested draws can be made exactly, so that the guarantee needs no assumption."""
    sampler, model = request.sampler, request.model
    as_it_is = sampler.bound is None and not sampler.temper_prior and sampler.gamma == 0.0
    conjugate = all(isinstance(model.block_prior(b), Normal | Flat) for b in model.blocks(request.public))
    return isinstance(model, GaussianMean) and as_it_is and conjugate


def _settings(request: Request, w: float) -> PosteriorSampleSettings:
    sampler, model = request.sampler, request.model
    per_chain = math.ceil(sampler.draws / sampler.inner_chains)
    bound = sampler.bound
    return PosteriorSampleSettings(
        draws=sampler.draws,
        w=w,
        temper_prior=sampler.temper_prior,
        loglik_range=None if bound is None else (-bound, min(bound, model.loglik_ceiling())),
        slope_change=None if bound is not None or not request.private else _slope_change(request),
        prior_convexity=None if bound is not None or not request.private else _prior_convexity(request),
        gamma=float(sampler.gamma),
        inner_chains=sampler.inner_chains,
        warmup=sampler.warmup,
        inner_draws=max(sampler.inner_draws, SPACING * per_chain),
        grid=_grid(request),
    )


def _slope_change(request: Request) -> float:
    """Return the largest change of the summed gradient between neighbours; refuse a loss that is not convex."""
    model, public = request.model, request.public
    change = model.gradient_change(public, request.adjacency)
    if not model.convex or model.lipschitz(public) is None or change is None:
        raise InvalidArgument(
            f"bound: {type(model).__name__} has no Lipschitz constant under the declared bounds, or no convex loss; "
            "declare row_norm or x_bounds in Data, or give bound, at which each record's log-likelihood is clamped"
            f"{CONJUGATE if isinstance(model, LinearRegression) else ''}"
        )
    return change


def _prior_convexity(request: Request) -> float:
    least = math.inf
    for block in request.model.blocks(request.public):
        prior = request.model.block_prior(block)
        if block.positive or not isinstance(prior, Normal):
            raise InvalidArgument(
                f"prior: the bound for Lipschitz models needs a Normal prior on {block.name!r} (a strongly convex "
                "-log prior); change it, or give bound, at which each record's log-likelihood is clamped"
            )
        least = min(least, float(prior.precision(block.size).min()))
    return least


def _require_proper(request: Request) -> None:
    for block in request.model.blocks(request.public):
        if isinstance(request.model.block_prior(block), Flat):
            raise InvalidArgument(
                f"prior of {block.name!r} is Flat, but an exact draw needs a proper one: use Normal()"
            )


def _largest(request: Request, settings: PosteriorSampleSettings) -> PosteriorSampleSettings:
    assert request.epsilon is not None
    assert request.delta is not None
    if (1.0 + math.exp(request.epsilon)) * settings.gamma >= request.delta:
        raise BudgetError(f"gamma = {settings.gamma:g} alone costs more than delta = {request.delta:g}; lower it")
    try:
        return request.largest(
            lambda w: dataclasses.replace(settings, w=w), (SMALLEST_WEIGHT, 1.0), integer=False, unspent=UNSPENT
        )
    except BudgetError:
        raise BudgetError(
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for the draws at any useful w; "
            "raise epsilon, or lower draws"
        ) from None


def _grid(request: Request) -> tuple[float, ...]:
    """Return the grid step of each coordinate: a power of two, about 2^-24 of the prior's scale."""
    table = request.model.prior_table(request.public)
    scale = np.where(table[:, 4] != 0.0, 1.0, table[:, 2])
    return tuple(float(step) for step in np.exp2(np.floor(np.log2(scale)) - GRID_BITS))
