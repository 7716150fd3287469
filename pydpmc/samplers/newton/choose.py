"""Fills in what the caller left open of a Newton run, from public facts and the budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from ...data.public import Public
from ...errors import BudgetError, InvalidArgument, UnsupportedEventError
from ...models import LinearRegression, NegativeBinomialRegression, OwnModel, PoissonRegression
from ..request import Request
from .clips import TYPICAL_SPREAD, Clip, Predictors, Trade
from .families import family_of, largest_count, largest_sigma, law_of, typical_count
from .fit import noise_of_fit, refuse_fit
from .forecast import forecast_of, has_flat_coordinate, moment_of_a_column
from .own_model import own_clip
from .reclip import TYPICAL_RECORDS, TYPICAL_SIGMA, best_residual
from .schedule import DEFAULT_LOOKS, Schedule
from .sensitivity import LEAST_MU, Bounds
from .settings import NewtonSettings
from .spec import Newton

LEAST_UNIT = 2.0**-160  # the core takes 2^-200 to 2^200, noise included
UNSPENT = 1e-6  # of epsilon: a search is quick here
MOST_MU = 1e3
NOT_NOTICED = 2.0**15  # mu without privacy
CURVATURE_SHARE = 0.1
MOST_PARAMETERS = 2000
PLAIN_CLIP = 1.345
LEAST_UNKNOWN = 4
LEAST_SIGNAL = 3.0  # curvature over noise, in a typical direction, for a flat prior


def choose(request: Request) -> NewtonSettings:
    """Return a fully specified run that costs at most the budget."""
    sampler, public = request.sampler, request.public
    assert isinstance(sampler, Newton)
    own = isinstance(request.model, OwnModel)
    if not own and (sampler.clip is not None or sampler.curvature_clip is not None):
        raise InvalidArgument("clip and curvature_clip are for models of your own; Newton knows the bounds of this one")
    clip = own_clip(request) if own else Clip(PLAIN_CLIP)
    family = family_of(request.model, public, clip)  # refuses what has no proof
    predictors = family.predictors
    _refuse_units(family.bounds, public.max_weight or 1.0)
    if predictors > 1 and sampler.curvature == "outer":
        raise UnsupportedEventError(
            'curvature="outer" has no kernel for SoftmaxRegression; leave it out: a look then releases sum x x\''
        )
    if public.records_per_unit is None:
        raise InvalidArgument("groups: Newton needs a public bound on the rows of a group; pass max_group_size to Data")
    if public.max_weight is not None:
        _refuse_weights(sampler, predictors, own)
    if sampler.fit:
        refuse_fit(request.model, public.max_weight is not None)
    if request.dim > MOST_PARAMETERS:
        raise InvalidArgument(f"Newton takes at most {MOST_PARAMETERS} parameters, but there are {request.dim}")
    fixed = None if sampler.shares is None else tuple(sampler.shares)
    schedule = Schedule(most=sampler.looks or DEFAULT_LOOKS, fixed=fixed)

    unknown = isinstance(request.model, LinearRegression) and request.model.sigma is None
    if unknown:
        _refuse_unknown(sampler, public)
    coefficients = request.dim - unknown
    records = None if public.grouped or public.max_weight is not None else request.n

    def at(mu: float) -> NewtonSettings:
        return NewtonSettings(
            request.model,
            public,
            request.adjacency,
            mu,
            schedule,
            block_of(sampler, coefficients // predictors),
            sampler.curvature,
            CURVATURE_SHARE if sampler.curvature_share is None else sampler.curvature_share,
            sampler.draws,
            records,
            clip,
            sampler.fit,
        )

    settings = at(NOT_NOTICED) if not request.private else _largest(request, at)
    settings = dataclasses.replace(settings, clip=best_clip(settings))
    _refuse_faint(settings)
    _refuse_flat(settings)
    return settings


def _refuse_units(bounds: Bounds, weight: float) -> None:
    """Refuse bounds beyond the grids of the core, which would refuse them after the run was charged."""
    gradient = weight * bounds.gradient
    values = (gradient, weight * bounds.curvature, gradient * gradient)  # the last if a look is at outer products
    if not all(LEAST_UNIT <= value <= 1.0 / LEAST_UNIT for value in values):
        raise InvalidArgument(
            f"one record can move the gradient by {gradient:.2g} and the curvature by {values[1]:.2g}, for which "
            "Newton has no grid; change the units of the data, or clip"
        )


def _refuse_unknown(sampler: Newton, public: Public) -> None:
    """Refuse what leaves no look at the spread of residuals."""
    if public.max_weight is not None:
        raise UnsupportedEventError(
            "sample_weight: LinearRegression by Newton needs a known sigma with weights; pass it"
        )
    if sampler.curvature == "outer":
        raise InvalidArgument('curvature="outer" shows no curvature of residuals with an unknown sigma; leave it out')
    looks = len(sampler.shares) if sampler.shares is not None else sampler.looks or LEAST_UNKNOWN
    if looks < LEAST_UNKNOWN:
        raise InvalidArgument(
            f"looks must be at least {LEAST_UNKNOWN} with an unknown sigma: two of them show its size"
        )


def _refuse_weights(sampler: Newton, predictors: int, own: bool) -> None:
    """Refuse weights where the variance of weighted gradients cannot be seen: it takes a look of its own."""
    if own:
        raise UnsupportedEventError("sample_weight: a model of your own takes no weights; use a Data without them")
    if predictors > 1:
        raise UnsupportedEventError(
            "sample_weight: SoftmaxRegression by Newton has no look at the variance of weighted gradients; use a Data "
            "without weights, or LogisticRegression for one class against the others"
        )
    if sampler.curvature == "outer":
        raise InvalidArgument('curvature="outer" shows no curvature of weighted records; leave it out')
    if (sampler.looks or 2) < 2 or (sampler.shares is not None and len(sampler.shares) < 2):
        raise InvalidArgument(
            "looks must be at least 2 with sample_weight: the last one shows the variance of gradients"
        )


def _largest(request: Request, at: Callable[[float], NewtonSettings]) -> NewtonSettings:
    if request.epsilon is None:
        raise InvalidArgument("Newton has no noise of its own to price: give epsilon and delta")
    try:
        return request.largest(at, (LEAST_MU * 100.0, MOST_MU), integer=False, unspent=UNSPENT)
    except BudgetError:
        raise BudgetError(
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for a look; raise it"
        ) from None


def best_clip(settings: NewtonSettings) -> Clip:
    """Return the clip of residuals with the least forecast variance."""
    model, public, n = settings.model, settings.public, settings.n
    if isinstance(model, OwnModel):
        return settings.clip
    if isinstance(model, PoissonRegression | NegativeBinomialRegression):
        predictors = Predictors(math.log(typical_count(public)), TYPICAL_SPREAD)
        records = TYPICAL_RECORDS if n is None else n * moment_of_a_column(settings)
        trade = Trade(law_of(model), predictors, records, settings.moved_per_unit)
        return trade.best(largest_count(model, public), settings.estimating_mu)
    if not isinstance(model, LinearRegression):
        return Clip(PLAIN_CLIP)
    sigma = None if model.sigma is not None else TYPICAL_SIGMA * largest_sigma(public)
    if n is None:
        return Clip(PLAIN_CLIP, sigma=sigma)
    norm = model.norm(public)
    assert norm is not None
    directions = n * norm**2 / settings.coefficients
    return Clip(best_residual(directions, settings.moved_per_unit, settings.estimating_mu), sigma=sigma)


def block_of(sampler: Newton, dim: int) -> tuple[int, ...]:
    """Return the block of each coordinate of theta."""
    if sampler.curvature == "diagonal":
        return tuple(range(dim))
    if sampler.blocks is None:
        return (0,) * dim
    listed = [i for block in sampler.blocks for i in block]
    if sorted(listed) != list(range(dim)):
        raise InvalidArgument(
            f"blocks must name each of the {dim} coordinates of theta once (0 to {dim - 1}; of one class for a softmax)"
        )
    of = {i: b for b, block in enumerate(sampler.blocks) for i in block}
    return tuple(of[i] for i in range(dim))


def _refuse_faint(settings: NewtonSettings) -> None:
    """Refuse a run whose looks cost so little for a record that rounding would cost more: huge groups."""
    schedule = settings.schedule
    share = schedule.first if schedule.fixed is None else min(schedule.fixed)
    try:
        settings.noise(settings.estimating_mu * math.sqrt(share / 2.0))  # no look has less
        if settings.fit:
            noise_of_fit(settings)
    except BudgetError:
        size = settings.records_per_unit
        raise BudgetError(
            f"max_group_size: with groups of up to {size:,} rows a look says less of a row than rounding hides; "
            "declare smaller groups, or raise epsilon"
        ) from None


def _refuse_flat(settings: NewtonSettings) -> None:
    """Refuse a flat prior where the looks may leave a direction unknown."""
    own = settings.model
    if not has_flat_coordinate(settings) or (isinstance(own, OwnModel) and own.public_prior is not None):
        return
    signal = forecast_of(settings).signal
    if signal is None:
        raise InvalidArgument(
            "prior: Flat needs a public number of records, to know that the looks suffice, and neither groups nor "
            "weights; pass public_n to Data, or take a Normal prior"
        )
    if signal < LEAST_SIGNAL:
        raise UnsupportedEventError(
            f"prior: with Flat the posterior may have no spread: curvature is forecast at {signal:.2g} times the noise "
            f"on it, and {LEAST_SIGNAL:g} are needed; take a Normal prior, a larger epsilon or fewer columns"
        )
