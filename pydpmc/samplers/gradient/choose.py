"""Choice of the open parameters of a gradient run from public facts and the budget."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from ...checks import share
from ...errors import BudgetError, InvalidArgument, UnsupportedEventError
from ...models import LinearRegression
from ...models.base import predictor_norm
from ..request import Request, clip_of_unit
from .base import Constant, as_schedule, checked_values
from .published import calibrated
from .settings import GradientSettings

NOISE_SHARE = 0.1  # sampling a batch adds at most this share of the injected variance
LEAST_MULTIPLIER = 4.0  # below this noise multiplier the cost of a step grows faster than its step size
MOST_STEPS = 1_000_000
DEFAULT_STEPS = 10_000
UNCLIPPED_HEADROOM = 2.0**29  # without privacy: bound on the summed gradient in units of the noise
UNCLIPPED_MOST = 2.0**17  # without privacy: bound on one record's gradient in units of the noise
MOST_RECORDS = 2**31  # Data accepts fewer
LEAST_SHARE = 1e-12  # smallest share that the search for an affordable run tries


def choose(request: Request) -> GradientSettings:
    """Return a fully specified run that costs at most the budget."""
    refuse_unsupported(request)
    if getattr(request.sampler, "calibration", None) is not None:
        return calibrated(request)
    if not request.private:
        return settings_of(request, request.sampler.steps or DEFAULT_STEPS)
    settings = settings_of(request, request.sampler.steps or 1)
    if request.epsilon is None:
        if request.sampler.steps is None or request.sampler.step_size is None:
            raise InvalidArgument(
                "steps and step_size must be set in the sampler when no epsilon is given; "
                "or give epsilon and delta, and the planner chooses them"
            )
        return settings
    if request.sampler.steps is None:
        return _longest(request, settings)
    return _hot_enough(request, settings) if request.sampler.step_size is not None else _widest(request, settings)


def refuse_unsupported(request: Request) -> None:
    """Refuse models without a gradient, and batches without an accounting or a public number of records."""
    if not request.model.has_gradient:
        raise InvalidArgument(
            f"{request.model!r} has no gradient, which {request.sampler!r} needs; {request.model.without_gradient}"
        )
    if not request.model.cold:
        share(request.w, "w")
    if request.sampler.sampling == "without_replacement" and request.adjacency != "replace":
        raise UnsupportedEventError(
            'sampling="without_replacement" is accounted for under adjacency="replace" only; use "poisson"'
        )
    batch = request.sampler.batch_size
    if batch is not None and request.n is None:
        raise InvalidArgument("batch_size needs a public number of records under add_remove: pass public_n to Data")
    if batch is not None and request.n is not None and batch >= request.n:
        raise InvalidArgument(
            f'batch_size must be below the number of records, {request.n}, not {batch}; or use sampling="full"'
        )


def settings_of(request: Request, steps: int) -> GradientSettings:
    """Return the run of `steps` steps before the budget adjusts it."""
    sampler = request.sampler
    step_size = sampler.step_size if sampler.step_size is not None else _stable_step(request)
    schedule = as_schedule(step_size)
    first = float(checked_values(schedule, steps).max())
    sampling, batch = _batch(request, first)
    draft = GradientSettings(
        sampler=sampler.core_sampler,
        steps=steps,
        dim=request.dim,
        schedule=schedule,
        friction=float(getattr(sampler, "friction", 0.0)),
        friction_of_noise=sampler.friction_of_noise,
        clip=1.0,
        w=request.w,
        n=request.n,
        sampling=sampling,
        rate=1.0 if sampling == "full" else batch / _known(request.n),
        batch_size=0 if sampling == "full" else batch,
        room=MOST_RECORDS if request.private and request.adjacency == "add_remove" else request.public.n,
    )
    settings: GradientSettings = sampler.settle(dataclasses.replace(draft, clip=_clip(request, draft)), request)
    return settings


def _known(n: int | None) -> int:
    assert n is not None
    return n


def _clip(request: Request, draft: GradientSettings) -> float:
    if request.private or request.sampler.clip is not None:
        return bound_on_gradient(request)
    return float(draft.noise.min()) * min(UNCLIPPED_MOST, UNCLIPPED_HEADROOM / max(request.public.n, 1))


def bound_on_gradient(request: Request) -> float:
    """Return the clip: the sampler's, or else the model's Lipschitz constant."""
    if request.sampler.clip is not None:
        return float(request.sampler.clip)
    lipschitz = clip_of_unit(request.model, request.public)
    if lipschitz is None:
        raise InvalidArgument(
            f"clip: {type(request.model).__name__} has no Lipschitz constant under the declared bounds; give clip, the "
            "bound on the norm of one record's gradient, or declare bounds (row_norm, x_bounds) in Data"
            f"{_way_out(request)}"
        )
    return lipschitz


def _way_out(request: Request) -> str:
    """Return what to do about a model without a Lipschitz constant, with numbers where bounds are declared."""
    model, public = request.model, request.public
    if isinstance(model, LinearRegression):
        return (
            ". A residual has no bound: HuberRegression has the same mean and a bounded gradient, and ConjugateSample "
            "draws from LinearRegression in closed form"
        )
    typical, norm = model.typical_lipschitz(public), predictor_norm(public, model.has_intercept)
    if typical is None or norm is None or request.n is None or model.lipschitz(public) is not None:
        return ""
    curvature = request.w * request.n * typical * norm + float(model.prior_precision(public).max())
    step = request.sampler.stable_share / curvature * request.sampler.friction_of_noise
    return f". Numbers to start from, by the declared bounds: clip={typical:.3g}, step_size={step:.2g}"


def _stable_step(request: Request) -> float:
    """Return the step size at which discretisation widens no direction by more than a few percent."""
    curvature = largest_curvature(request)
    if curvature is None:
        raise InvalidArgument(
            "step_size: the planner needs a smooth model, declared bounds and a public number of records to choose "
            "it (public_n in Data under add_remove, max_group_size with groups); give step_size"
            f"{_way_out(request)}"
        )
    return float(request.sampler.stable_share / curvature * request.sampler.friction_of_noise)


def largest_curvature(request: Request) -> float | None:
    """Return a public bound on the curvature of U, or None."""
    smoothness = request.model.smoothness(request.public)
    records = request.public.records_per_unit
    if smoothness is None or request.n is None or records is None:
        return None
    counted = request.n * records * (request.public.max_weight or 1.0)  # every record of the largest weight
    return request.w * counted * smoothness + float(request.model.prior_precision(request.public).max())


def _batch(request: Request, step_size: float) -> tuple[str, int]:
    sampler, n = request.sampler, request.n
    if sampler.sampling == "full" or n is None or (not request.private and sampler.batch_size is None):
        return "full", 0
    sampling = sampler.sampling or "poisson"
    if sampler.batch_size is not None:
        return sampling, sampler.batch_size
    lipschitz = sampler.clip or clip_of_unit(request.model, request.public)
    if lipschitz is None:
        return "full", 0
    per_noise = step_size / (2.0 * sampler.friction_of_noise)  # the reciprocal variance of the injected noise
    quiet = per_noise * (request.w * n * lipschitz) ** 2 / request.dim / NOISE_SHARE
    gentle = LEAST_MULTIPLIER * request.w * n * lipschitz * math.sqrt(per_noise)
    batch = math.ceil(max(quiet, gentle, 32))
    return ("full", 0) if 2 * batch > n else (sampling, batch)


def _longest(request: Request, settings: GradientSettings) -> GradientSettings:
    """Return the longest run within the budget."""
    try:
        return request.largest(lambda steps: dataclasses.replace(settings, steps=int(steps)), (1, MOST_STEPS))
    except BudgetError:
        raise BudgetError(
            f"step_size: one step costs more than epsilon = {request.epsilon:g} at delta = {request.delta:g}; use a "
            "smaller step_size, a larger batch_size or a smaller w"
        ) from None


def _widest(request: Request, settings: GradientSettings) -> GradientSettings:
    """Return the run with the largest constant step size, up to the stable one, at which its steps fit the budget."""
    assert isinstance(settings.schedule, Constant)
    top = settings.schedule.step_size
    return costliest_share(
        request,
        lambda share: dataclasses.replace(settings, schedule=Constant(top * share)),
        f"steps: epsilon = {request.epsilon:g} cannot pay for {settings.steps} steps at any step size; lower steps",
    )


def _hot_enough(request: Request, settings: GradientSettings) -> GradientSettings:
    """Return the run with the given schedule; its noise is raised if the budget requires it."""
    return costliest_share(
        request,
        lambda share: dataclasses.replace(settings, heat=share**-0.5),
        f"step_size: epsilon = {request.epsilon:g} cannot pay for this schedule at any noise; use smaller steps",
    )


def costliest_share(request: Request, part: Callable[[float], GradientSettings], refusal: str) -> GradientSettings:
    """Return ``part(share)`` for the largest share, at most 1, that fits the budget."""
    try:
        return request.largest(part, (LEAST_SHARE, 1.0), integer=False)
    except BudgetError:
        raise BudgetError(refusal) from None
