"""Choice of the open parameters of a conjugate run from public facts and the budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...errors import BudgetError, InvalidArgument, UnsupportedEventError
from ...models import GaussianMean, LinearRegression
from ..gradient.choose import MOST_RECORDS
from ..request import Request
from .gaussian_mean import MeanSettings, ball, noise_of
from .linear_regression import LinearSettings, bounds
from .noised_mean import NoisedMeanSettings
from .noised_sums import LEAST_BITS
from .settings import ConjugateSettings, Numbers
from .unknown_sigma import MomentSettings

Settings = TypeVar("Settings", bound=ConjugateSettings)
UNSPENT = 1e-6  # share of epsilon left over; it can be small because a cost is cheap to compute
LEAST, MOST = 1e-12, 1e12
NOT_NOTICED = 2.0**-16, 2.0**-29  # noise without privacy: per contribution of one record, and per record


def choose(request: Request) -> ConjugateSettings:
    """Return a fully specified run that costs at most the budget."""
    if request.chains != 1:
        raise InvalidArgument(
            f"chains is {request.chains}, but there are no chains here: use ConjugateSample(draws={request.chains})"
        )
    settings = _settings(request)
    if settings.bits < LEAST_BITS:
        raise InvalidArgument(
            "noise is too small for 64-bit sums over so many records; raise noise_multiplier, or lower w"
        )
    return settings


def _settings(request: Request) -> ConjugateSettings:
    model = request.model
    if isinstance(model, GaussianMean):
        return _mean(request, model)
    if isinstance(model, LinearRegression):
        return _linear(request, model)
    raise UnsupportedEventError(
        f"{type(model).__name__} has no posterior in closed form; ConjugateSample supports GaussianMean and "
        "LinearRegression"
    )


def _room(request: Request) -> int:
    """Return a public bound on the number of records: under add_remove the largest size of a table."""
    return MOST_RECORDS if request.private and request.adjacency == "add_remove" else request.public.n


def _prior(request: Request, count: int) -> tuple[Numbers, Numbers]:
    """Return mean and precision of the first `count` coordinates of theta."""
    stated = request.model.normal_prior(request.public)
    precision = tuple(p for p in stated["prior_precision"][:count] if p is not None)
    if len(precision) < count:
        raise UnsupportedEventError("ConjugateSample needs a Normal or Flat prior: others have no closed form")
    return tuple(m for m in stated["prior_mean"][:count] if m is not None), precision


def _mean(request: Request, model: GaussianMean) -> ConjugateSettings:
    public, sampler = request.public, request.sampler
    if sampler.noise_multiplier is not None and sampler.release == "draws":
        raise InvalidArgument(
            "noise_multiplier: the noise of GaussianMean is the posterior's own spread; leave it out, or set "
            'release="sums"'
        )
    if public.feature_norm is None:
        raise InvalidArgument(
            "GaussianMean by ConjugateSample needs declared bounds: pass row_norm or x_bounds to Data"
        )
    if request.n is None:
        raise InvalidArgument(
            "public_n: under add_remove the posterior's spread must not depend on the private number of records; pass "
            "public_n to Data, which is used instead"
        )
    n, (mean, precision), (centre, radius) = request.n, _prior(request, request.dim), ball(public)
    if radius == 0.0:
        raise InvalidArgument("x_bounds admit one value only, so there is nothing to estimate: widen them")

    room = _room(request)
    if sampler.release == "sums":
        prior = mean, precision, request.w

        def summed(quiet: float) -> NoisedMeanSettings:
            return NoisedMeanSettings(sampler.draws, *prior, radius / quiet, room, model.sigma, n, centre, radius)

        return _quiet(request, summed)

    def at(w: float) -> MeanSettings:
        noise = noise_of(w, n, model.sigma, precision)
        return MeanSettings(sampler.draws, mean, precision, w, noise, room, model.sigma, n, centre, radius)

    if not request.private or request.epsilon is None or sampler.w is not None or sampler.n0 is not None:
        return _affordable(request, at(request.w))
    return _largest(request, at, 1.0)


def _linear(request: Request, model: LinearRegression) -> ConjugateSettings:
    public, sampler = request.public, request.sampler
    if model.norm(public) is None or public.y_bounds is None:
        raise InvalidArgument(
            "LinearRegression by ConjugateSample needs declared bounds: pass row_norm or x_bounds, and y_bounds to Data"
        )
    count = public.width + model.intercept
    (mean, precision), facts = _prior(request, count), bounds(public, model.intercept)
    if facts[0] == 0.0 or facts[2] == 0.0:
        raise InvalidArgument("x_bounds or y_bounds admit one value only, so there is nothing to estimate: widen them")
    released, sigma, room = (sampler.draws, mean, precision, request.w), model.sigma, _room(request)
    if sigma is not None:
        return _quiet(
            request, lambda quiet: LinearSettings(*released, 1.0 / quiet, room, model.intercept, *facts, sigma)
        )
    n = request.n
    if n is None:
        raise InvalidArgument(
            "public_n: an unknown sigma is found from the number of records, which is private under add_remove; pass "
            "public_n to Data, or sigma to LinearRegression"
        )
    if request.w != 1.0:
        raise InvalidArgument("w: with an unknown sigma ConjugateSample does not temper; leave w and n0 out")
    prior: Numbers = tuple(model.prior_table(public)[-1].tolist())
    return _quiet(
        request, lambda quiet: MomentSettings(*released, 1.0 / quiet, room, model.intercept, *facts, n, prior)
    )


def _quiet(request: Request, at: Callable[[float], Settings]) -> Settings:
    """Return the settings with the least noise that the budget pays for; `at` takes the inverse of the noise."""
    sampler = request.sampler
    if sampler.noise_multiplier is not None:
        return _affordable(request, at(1.0 / sampler.noise_multiplier))
    if not request.private:
        return at(1.0 / max(NOT_NOTICED[0], request.public.n * NOT_NOTICED[1]))
    if request.epsilon is None:
        raise InvalidArgument(
            "noise_multiplier must be set in the sampler when no epsilon is given; or give epsilon and delta, and the "
            "planner chooses it"
        )
    return _largest(request, at, MOST)


def _affordable(request: Request, settings: Settings) -> Settings:
    if not request.private or request.epsilon is None or request.fits(settings):
        return settings
    raise BudgetError(
        f"epsilon = {request.epsilon:g} at delta = {request.delta:g} does not pay for {settings.draws} draw(s) with "
        "these settings; leave w, n0 and noise_multiplier out, and the planner chooses them"
    )


def _largest(request: Request, at: Callable[[float], Settings], most: float) -> Settings:
    try:
        return request.largest(at, (LEAST, most), integer=False, unspent=UNSPENT)
    except BudgetError:
        raise BudgetError(
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for {request.sampler.draws} "
            "draw(s); raise epsilon, or lower draws"
        ) from None
