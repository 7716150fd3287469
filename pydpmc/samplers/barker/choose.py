"""Fills in what the caller left open of a Barker run, from public facts and the budget."""

from __future__ import annotations

import dataclasses

from ...errors import BudgetError, InvalidArgument, UnsupportedEventError
from ..request import Request
from .draft import natural_scale, settings_at, walk_at, within_variance
from .settings import Settings

GENTLE_STEP = 0.8  # step / (posterior sd / sqrt d): nearly every small move has acceptance 1/2, so none is wasted
LONGEST_STEP = 2.4  # the most efficient step where compute, not privacy, is scarce
FEWEST_STEPS = 200
DEFAULT_STEPS = 10_000
MOST_STEPS = 10**9
MOST_RECORD_READS = 2e9  # steps times records that a default plan takes: about ten seconds on two cores
LEAST_SHARE = 1e-9  # of the most efficient scale


def choose(request: Request) -> Settings:
    """Return a fully specified run that costs at most the budget."""
    _refuse_unsupported(request)
    if not request.private:
        return _without_privacy(request)
    if request.epsilon is None:
        return _as_given(request)
    scale = request.sampler.given_scale
    if scale is None:
        return _choose_scale_and_steps(request)
    return _choose_steps(request, settings_at(request, 1, scale))


def _refuse_unsupported(request: Request) -> None:
    batch = request.sampler.batch_size
    if batch is None:
        return
    if request.adjacency != "replace":
        raise UnsupportedEventError(
            'batch_size: minibatches are accounted for under adjacency="replace" only; use all records '
            "(batch_size=None) under add_remove"
        )
    if batch >= request.public.n:
        raise InvalidArgument(
            f"batch_size is {batch} but there are {request.public.n} records; "
            "leave batch_size out to use all of them in the exact test"
        )


def _as_given(request: Request) -> Settings:
    sampler = request.sampler
    missing = [name for name in ("steps", "scale") if getattr(sampler, name) is None]
    if missing:
        raise InvalidArgument(
            f"{' and '.join(missing)} must be set in the sampler when no epsilon is given; "
            "or give epsilon and delta, and the planner chooses"
        )
    scale = sampler.given_scale
    assert sampler.steps is not None
    assert scale is not None
    return settings_at(request, sampler.steps, scale)


def _without_privacy(request: Request) -> Settings:
    sampler = request.sampler
    steps = sampler.steps or DEFAULT_STEPS
    scale = sampler.given_scale
    return settings_at(request, steps, natural_scale(request, LONGEST_STEP) if scale is None else scale)


def _affordable_steps(request: Request, settings: Settings, most: int = MOST_STEPS) -> int:
    """Return the most steps per chain that the budget pays for, up to `most`."""
    try:
        return request.largest(lambda steps: dataclasses.replace(settings, steps=int(steps)), (1, most)).steps
    except BudgetError:
        return 0


def _choose_steps(request: Request, settings: Settings) -> Settings:
    wanted = request.sampler.steps
    if wanted is not None:
        if not request.fits(dataclasses.replace(settings, steps=wanted)):
            most = _affordable_steps(request, settings)
            raise BudgetError(
                f"steps: {wanted} steps in each of {request.chains} chain(s) cost more than "
                f"epsilon = {request.epsilon:g} at delta = {request.delta:g}; this proposal and clip can afford "
                f"{most}. Lower steps, scale, w or chains, or raise epsilon."
            )
        return dataclasses.replace(settings, steps=wanted)
    most = _affordable_steps(request, settings, _most_steps(request))
    if most < 1:
        raise BudgetError(
            f"scale: one step of this size in each of {request.chains} chain(s) costs more than "
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g}. Lower scale, clip, w or chains."
        )
    return dataclasses.replace(settings, steps=most)


def _most_steps(request: Request) -> int:
    reads = request.sampler.batch_size or request.n or 1
    return max(FEWEST_STEPS, int(MOST_RECORD_READS / (reads * request.chains)))


def _choose_scale_and_steps(request: Request) -> Settings:
    """Take gentle steps, longer ones if there would be too many to run, shorter ones if too few to be a chain.

    Privacy pays for steps * scale^2, so the gentle step wastes least of it.
    """
    if request.sampler.steps is not None:
        return _choose_scale(request, request.sampler.steps)
    draft = within_variance(request, natural_scale(request, GENTLE_STEP))
    most = _most_steps(request)
    about = _affordable_steps(dataclasses.replace(request, rough=True), draft, most)
    if not FEWEST_STEPS <= about < most:
        return _choose_scale(request, most if about == most else FEWEST_STEPS)
    steps = _affordable_steps(request, draft, most)
    return _choose_scale(request, FEWEST_STEPS) if steps < FEWEST_STEPS else dataclasses.replace(draft, steps=steps)


def _choose_scale(request: Request, steps: int) -> Settings:
    """Return the largest scale, up to the most efficient one, at which that many steps are within the budget."""
    top = natural_scale(request, LONGEST_STEP)
    high = dataclasses.replace(within_variance(request, top), steps=steps)
    if request.sampler.clip is not None or request.sampler.v_max is not None:
        if request.fits(high):
            return high
        most = _affordable_steps(request, high)
        raise BudgetError(
            f"steps: with the clip that was given {steps} steps in each of {request.chains} chain(s) cost more than "
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g}, whatever the scale; {most} can be afforded. "
            "Lower clip, w or chains, or raise epsilon."
        )
    top *= min(1.0, high.walk.norm / walk_at(request, top).norm)  # the minibatch test may have shortened it

    def shortened(share: float) -> Settings:
        return high if share == 1.0 else settings_at(request, steps, top * share)

    try:
        return request.largest(shortened, (LEAST_SHARE, 1.0), integer=False)
    except BudgetError:
        raise BudgetError(
            f"steps: epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for {steps} steps in each "
            f"of {request.chains} chain(s), however short they are; raise it, or lower steps or chains"
        ) from None
