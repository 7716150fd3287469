"""Division of a budget between a start and the chain that follows it."""

from __future__ import annotations

import dataclasses
import math

from ... import accounting as acc
from ...accounting.events.gaussian import gdp_epsilon, largest_mu
from ...errors import BudgetError
from ..base import WARMUP_SHARE, posterior_sd
from ..request import Request
from .settings import HybridSettings

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
WITHOUT_FORECAST = 0.5  # the share in Wang et al. (2015)


def choose(request: Request) -> HybridSettings:
    """Return a start and a chain that together cost at most the budget."""
    if not request.private or request.epsilon is None:
        return _both(request, None)
    if request.sampler.share is not None:
        return _both(request, request.sampler.share)
    return _best(request)


def _both(request: Request, share: float | None) -> HybridSettings:
    """Plan the start within its share, then the chain within the rest."""
    budget = None if share is None else _epsilon_of_share(request, share)
    first = request.sampler.start.choose(
        dataclasses.replace(request, sampler=request.sampler.start, chains=1, epsilon=budget, earlier=())
    )
    spent: tuple[acc.Guarantee, ...] = ()
    if request.private:
        spent = (
            acc.compose(
                first.uses(request.adjacency, 1),
                request.adjacency,
                assumptions=first.assumptions,
                unit=request.public.unit,
                total_variation=first.total_variation(1),
            ),
        )
    earlier = (*request.earlier, *spent)
    chain = request.sampler.chain.choose(dataclasses.replace(request, sampler=request.sampler.chain, earlier=earlier))
    return HybridSettings(first, chain, share)


def _epsilon_of_share(request: Request, share: float) -> float:
    """Return the epsilon, at the same delta, of a share of the budget's mu squared."""
    assert request.epsilon is not None
    assert request.delta is not None
    mu = largest_mu(request.epsilon, request.delta)
    return max(gdp_epsilon(math.sqrt(share) * mu, request.delta), 1e-9)


def _best(request: Request) -> HybridSettings:
    """Return the run with the least expected error of the chain's mean; without a forecast, with equal shares."""
    errors: dict[float, float] = {}
    for share in SHARES:
        try:
            error = expected_error(request, _both(dataclasses.replace(request, rough=True), share))
        except BudgetError:
            continue
        if error is None:
            return _both(request, WITHOUT_FORECAST)
        errors[share] = error
        *_, good, worse, worst = [math.inf, math.inf, *errors.values()]
        if good < worse < worst:
            break  # an even larger share leaves the chain even less
    if not errors:
        raise BudgetError(
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for a start and a chain at any "
            "share; raise epsilon, or use one of the two samplers alone"
        )
    return _both(request, min(errors, key=errors.__getitem__))


def expected_error(request: Request, settings: HybridSettings) -> float | None:
    """Return the expected squared error of the mean of the chains' draws, in posterior variances, or None.

    Each coefficient is modelled as an Ornstein-Uhlenbeck process that starts at a draw from the start's posterior and
    is averaged after the warm-up.
    """
    model, public = request.model, request.public
    effective = getattr(settings.chain.forecast(model, public, request.chains), "effective_draws", None)
    wide = posterior_sd(model, public, request.n, settings.first.w)
    narrow = posterior_sd(model, public, request.n, settings.chain.w)
    if effective is None or wide is None or narrow is None:
        return None
    time = max(2.0 * effective / request.chains, 1e-9)  # in relaxation times
    averaged = (1.0 - WARMUP_SHARE) * time
    remaining = math.exp(-WARMUP_SHARE * time) * -math.expm1(-averaged) / averaged  # of the start's offset
    own = 2.0 * (averaged + math.expm1(-averaged)) / averaged**2 / request.chains
    return float((wide / narrow) ** 2 * remaining**2 + own)
