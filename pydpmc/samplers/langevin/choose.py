"""Choice of the open parameters of a Langevin run from public facts and the budget."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ...data.public import Public
from ...errors import BudgetError, InvalidArgument, UnsupportedEventError
from ...models import Model, OwnModel
from ...models.priors import Flat, Normal
from ..request import Request
from .bias import steps_for_bias, widest_step
from .constants import curvature, refuse_left_out_gradients
from .settings import LangevinSettings

LEAST_W = 1e-12
SEARCH_PRECISION = 1.0002
UNSPENT = 1e-5  # share of epsilon left over; it can be small because a cost is cheap to compute


def choose(request: Request) -> LangevinSettings:
    """Return a fully specified run that costs at most the budget."""
    _refuse_unsupported(request)
    sampler = request.sampler
    given = sampler.w is not None or sampler.n0 is not None
    if request.private and request.epsilon is None and not given:
        raise InvalidArgument(
            "w (or n0) must be set in the sampler when no epsilon is given; or give epsilon and delta, and the planner "
            "chooses the largest w within the budget"
        )
    if not request.private or given:
        draws = 1 if sampler.draws == "predict" else sampler.draws
        return _affordable(request, settings_of(request, request.w, draws))
    if sampler.draws == "predict":
        return largest_w(request, draws_for_prediction(request, largest_w(request, 1).w))
    return largest_w(request, sampler.draws)


def settings_of(request: Request, w: float, draws: int) -> LangevinSettings:
    """Return the run at this weight; the largest curvature sets the step size, the least the number of steps."""
    sampler, model = request.sampler, request.model
    assert request.n is not None
    public = dataclasses.replace(request.public, n=request.n)
    bounds = curvature(model, public, w)
    step_size = widest_step(bounds, sampler.bias) if sampler.step_size is None else float(sampler.step_size)
    if request.private and step_size * bounds.largest >= 2.0:
        raise InvalidArgument(
            f"step_size is {step_size:g} but must be below {2.0 / bounds.largest:.6g}, 2 over the largest curvature of "
            "the target, or the chain does not contract; leave it out, or lower w"
        )
    steps = sampler.steps or steps_for_bias(model, public, w, step_size, sampler.bias)
    return LangevinSettings(model, public, draws, steps, step_size, w, sampler.bias, request.adjacency)


def _affordable(request: Request, settings: LangevinSettings) -> LangevinSettings:
    if not request.private or request.epsilon is None or request.fits(settings):
        return settings
    raise BudgetError(
        f"epsilon = {request.epsilon:g} at delta = {request.delta:g} does not pay for w = {settings.w:.4g} with "
        f"{settings.draws} draw(s); leave w and n0 out, and the planner chooses the largest affordable w"
    )


def largest_w(request: Request, draws: int) -> LangevinSettings:
    """Return the run with the largest weight, at most 1, within the budget."""
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
            "raise epsilon, or lower draws"
        ) from None


def _largest_stable(request: Request) -> float:
    """Return the largest weight, at most 1, at which a given step size contracts; 1 if it is chosen later."""
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
    """Return the number k of draws whose mean has the least expected squared error if the truth follows the prior.

    k draws at mu/sqrt(k) each have weight w/sqrt(k). For a coordinate with information J from all records and prior
    precision p, the squared error of the mean of k draws at weight w is the sum of the draws' noise 1/(k(wJ + p)), the
    shrinkage p/(wJ + p)^2 and the sampling noise w^2 J/(wJ + p)^2.
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


def _refuse_unsupported(request: Request) -> None:
    """Refuse a request whose guarantee would have no proof."""
    model, public = request.model, request.public
    if request.chains != 1:
        raise InvalidArgument(
            f"chains must be 1, not {request.chains}: every draw of Langevin is a chain of its own. Use Langevin(draws="
            f"{request.chains})"
        )
    _refuse_model(model, public)
    if request.n is None:
        raise InvalidArgument(
            "public_n: under add_remove Langevin needs a public upper bound on the number of records, because the "
            "step size depends on it; pass public_n to Data"
        )
    if model.gradient_change(public, request.adjacency) is None:
        raise UnsupportedEventError(
            f"{type(model).__name__} by Langevin is proven under adjacency='replace' only, because the gradient of one "
            "record has no bound; use adjacency='replace'"
        )
    _refuse_priors(model, public, request.private)


def is_convex(model: Model) -> bool:
    """Return whether the model is known, or stated by the user, to be convex."""
    return model.convex or (isinstance(model, OwnModel) and model.stated_convex)


def _refuse_model(model: Model, public: Public) -> None:
    if isinstance(model, OwnModel):
        if not model.stated_convex:
            raise UnsupportedEventError(
                f"{model!r} by Langevin has no proof unless its log-likelihood is concave and smooth; if you know that "
                "it is, say so by model.stated_convex_and_smooth(lipschitz=..., smoothness=...); or use SGLD or Newton"
            )
        if model.public_prior is not None:
            raise UnsupportedEventError(
                f"the prior of {model!r} is a density of its own, or has factors of its own; Langevin's guarantee "
                "needs normal priors: use SGLD, Barker or Newton with this prior"
            )
        model.check_convex(public)
    name = type(model).__name__
    if model.largest_factor(public, 0.0) is not None:  # first, because the constants below could overflow
        refuse_left_out_gradients(model, public, 0.0)
    smooth = model.smoothness(public) is not None
    bounded = model.gradient_change(public, "replace") is not None
    unbounded = not bounded and public.feature_norm is not None
    if not is_convex(model) or (bounded and not smooth) or unbounded:
        raise UnsupportedEventError(
            f"{name} by Langevin has no proof: it needs a convex, smooth log-likelihood whose gradients are bounded, "
            "such as LogisticRegression, HuberRegression (for LinearRegression) or GaussianMean; or use Barker or SGLD"
        )
    if not (smooth and bounded):
        raise InvalidArgument(f"{name} by Langevin needs declared bounds: pass row_norm or x_bounds to Data")
    if model.gradient_error(public, 1.0) is None:
        raise UnsupportedEventError(
            f"{name} by Langevin has no proof: no bound on the rounding of its gradients is stated; use Newton or SGLD"
        )


def _refuse_priors(model: Model, public: Public, private: bool) -> None:
    for block in model.blocks(public):
        prior = model.block_prior(block)
        if not isinstance(prior, Normal | Flat) or block.positive:
            raise UnsupportedEventError(
                f"the prior of {block.name!r} is {type(prior).__name__}{' of a positive number' * block.positive}; "
                "Langevin's guarantee needs one that is smooth and strongly convex: use Normal(scale=...), or Barker "
                "or SGLD with this prior"
            )
        if private and isinstance(prior, Flat) and model.strong_convexity(public) == 0.0:
            raise UnsupportedEventError(
                f"the prior of {block.name!r} is Flat; Langevin's guarantee rests on the prior's curvature: use "
                "Normal(scale=...), or Barker or SGLD with this prior"
            )
