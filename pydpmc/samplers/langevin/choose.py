"""Fills in what the caller left open of a Langevin run, from public facts and the budget."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ...errors import BudgetError, InvalidArgument
from ..request import Request
from .bias import steps_for_bias, widest_step
from .constants import curvature
from .refusals import refuse_unsupported
from .settings import LangevinSettings

LEAST_W = 1e-12
SEARCH_PRECISION = 1.0002
UNSPENT = 1e-5  # of epsilon: a search is quick here


def choose(request: Request) -> LangevinSettings:
    """Return a fully specified run that costs at most the budget."""
    refuse_unsupported(request)
    sampler = request.sampler
    given = sampler.w is not None or sampler.n0 is not None
    if request.private and request.epsilon is None and not given:
        raise InvalidArgument(
            "w (or n0) must be set in the sampler when no epsilon is given; or give epsilon and delta, and the planner "
            "chooses the largest w they pay for"
        )
    if not request.private or given:
        draws = 1 if sampler.draws == "predict" else sampler.draws
        return _affordable(request, settings_of(request, request.w, draws))
    if sampler.draws == "predict":
        return largest_w(request, draws_for_prediction(request, largest_w(request, 1).w))
    return largest_w(request, sampler.draws)


def settings_of(request: Request, w: float, draws: int) -> LangevinSettings:
    """Return the run at this weight: step size from the largest curvature, steps from the least."""
    sampler, model = request.sampler, request.model
    assert request.n is not None
    public = dataclasses.replace(request.public, n=request.n)
    bends = curvature(model, public, w)
    step_size = widest_step(bends, sampler.bias) if sampler.step_size is None else float(sampler.step_size)
    if request.private and step_size * bends.largest >= 2.0:
        raise InvalidArgument(
            f"step_size is {step_size:g} but must be below {2.0 / bends.largest:.6g}, 2 over the largest curvature of "
            "the target, or its chain would not contract; leave it out, or lower w"
        )
    steps = sampler.steps or steps_for_bias(model, public, w, step_size, sampler.bias)
    return LangevinSettings(model, public, draws, steps, step_size, w, sampler.bias, request.adjacency)


def _affordable(request: Request, settings: LangevinSettings) -> LangevinSettings:
    if not request.private or request.epsilon is None or request.fits(settings):
        return settings
    raise BudgetError(
        f"epsilon = {request.epsilon:g} at delta = {request.delta:g} does not pay for w = {settings.w:.4g} with "
        f"{settings.draws} draw(s); leave w and n0 out to have the largest affordable one chosen"
    )


def largest_w(request: Request, draws: int) -> LangevinSettings:
    """Return the run with the largest weight, at most 1, that the budget pays for."""
    try:
        return request.largest(
            lambda w: settings_of(request, w, draws),
            (LEAST_W, _largest_stable(request)),
            integer=False,
            unspent=UNSPENT,
        )
    except BudgetError:
        raise BudgetError(
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for {draws} draw(s) at any w; "
            "raise it, or ask for fewer draws"
        ) from None


def _largest_stable(request: Request) -> float:
    """Return the largest weight, at most 1, at which a step size that was given contracts; a chosen one always does."""
    assert request.n is not None
    public = dataclasses.replace(request.public, n=request.n)
    given = request.sampler.step_size
    low, high = LEAST_W, 1.0
    if given is None or given * curvature(request.model, public, high).largest < 2.0:
        return high
    while high > SEARCH_PRECISION * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if given * curvature(request.model, public, middle).largest < 2.0 else (low, middle)
    return low


MOST_FOR_PREDICTION = 1000


def draws_for_prediction(request: Request, w_of_one: float) -> int:
    """Return the k whose mean has the least expected square error, if the truth is as the prior says.

    k draws of mu/sqrt(k) each have weight w/sqrt(k). Along a coordinate of which all records together have information
    J, with prior precision p, the mean of k draws at weight w misses the truth by the draws' own noise 1/(k(wJ + p)),
    by the shrinkage p/(wJ + p)^2 and by the sampling noise w^2 J/(wJ + p)^2.
    """
    information = request.model.information(request.public)
    assert information is not None
    assert request.n is not None
    total = information * request.n
    precision = float(request.model.prior_precision(request.public).mean())
    k = np.arange(1, MOST_FOR_PREDICTION + 1, dtype=float)
    w = np.minimum(w_of_one / np.sqrt(k), 1.0)
    seen = w * total + precision
    error = 1.0 / (k * seen) + (precision + w**2 * total) / seen**2
    return int(k[np.argmin(error)])
