"""Choice of the open parameters of a Barker run from public facts and the budget."""

from __future__ import annotations

import dataclasses
import math

from ...errors import BudgetError, InvalidArgument, UnsupportedEventError
from ...models import OwnModel
from ..base import posterior_sd
from ..request import Request
from .own_proposal import moves_of
from .proposal import OWN, Scale, Walk, walk_of
from .settings import LARGEST_TABLE, ROUNDING_UP, UNCLIPPED, Settings

GENTLE_STEP = 0.8  # in units of posterior sd / sqrt d: acceptance is then near 1/2, its largest value
LONGEST_STEP = 2.4  # the most efficient step if compute, not privacy, is scarce
FEWEST_STEPS = 200
DEFAULT_STEPS = 10_000
MOST_STEPS = 10**9
MOST_RECORD_READS = 2e9  # steps times records of a default plan: about ten seconds on two cores
LEAST_SHARE = 1e-9  # smallest scale that is tried, as a share of the most efficient one


def choose(request: Request) -> Settings:
    """Return a fully specified run that costs at most the budget."""
    _refuse_unsupported(request)
    scale = scale_of(request)
    if not request.private:
        return _without_privacy(request, scale)
    if request.epsilon is None:
        return _as_given(request, scale)
    if scale is None:
        return _choose_scale_and_steps(request)
    return _choose_steps(request, settings_at(request, 1, scale))


def scale_of(request: Request) -> Scale | None:
    """Return the scale that was given; of a function of the user's, how far it moves, for forecasts."""
    if callable(request.sampler.proposal):
        return moves_of(request)
    scale: Scale | None = request.sampler.given_scale
    if scale is None and any(request.model.whole_numbers(request.public)):
        raise InvalidArgument(
            "scale: the planner cannot choose how far to move parameters that are whole numbers; give one scale per "
            "coordinate of theta, such as scale=[0.1, 3.0], or a proposal of your own"
        )
    return scale


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
            f"batch_size must be below the number of records, {request.public.n}, not {batch}; "
            "leave batch_size out to use all records in the exact test"
        )


def _as_given(request: Request, scale: Scale | None) -> Settings:
    sampler = request.sampler
    missing = [name for name, value in (("steps", sampler.steps), ("scale", scale)) if value is None]
    if missing:
        raise InvalidArgument(
            f"{' and '.join(missing)} must be set in the sampler when no epsilon is given; "
            "or give epsilon and delta, and the planner chooses them"
        )
    assert sampler.steps is not None
    assert scale is not None
    return settings_at(request, sampler.steps, scale)


def _without_privacy(request: Request, scale: Scale | None) -> Settings:
    steps = request.sampler.steps or DEFAULT_STEPS
    return settings_at(request, steps, natural_scale(request, LONGEST_STEP) if scale is None else scale)


def _affordable_steps(request: Request, settings: Settings, most: int = MOST_STEPS) -> int:
    """Return the largest number of steps per chain within the budget, up to `most`; 0 if not one fits."""
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
    """Choose the gentle step; a longer one if it allows too many steps, a shorter one if it allows too few.

    The privacy cost grows with steps * scale^2, and the gentle step makes the best use of it.
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
    """Return the run with the largest scale, up to the most efficient one, at which `steps` fit the budget."""
    top = natural_scale(request, LONGEST_STEP)
    high = dataclasses.replace(within_variance(request, top), steps=steps)
    if request.sampler.clip is not None or request.sampler.v_max is not None:
        if request.fits(high):
            return high
        most = _affordable_steps(request, high)
        raise BudgetError(
            f"steps: with the given clip, {steps} steps in each of {request.chains} chain(s) cost more than "
            f"epsilon = {request.epsilon:g} at delta = {request.delta:g} at any scale; {most} steps fit the budget. "
            "Lower clip, w or chains, or raise epsilon."
        )
    top *= min(1.0, high.walk.norm / walk_at(request, top).norm)  # the minibatch test may have reduced the scale

    def shortened(share: float) -> Settings:
        return high if share == 1.0 else settings_at(request, steps, top * share)

    try:
        return request.largest(shortened, (LEAST_SHARE, 1.0), integer=False)
    except BudgetError:
        raise BudgetError(
            f"steps: epsilon = {request.epsilon:g} at delta = {request.delta:g} cannot pay for {steps} steps in each "
            f"of {request.chains} chain(s) at any scale; raise epsilon, or lower steps or chains"
        ) from None


CORRECTIONS = (1.0, 1.25, 1.5, 2.0)
MOST_SHARE = 0.95
SAFE_SHARE = 0.6  # largest v_max / C that is chosen: closer to C the atoms of V_cor cost privacy


def settings_at(request: Request, steps: int, scale: Scale) -> Settings:
    """Return a run of `steps` steps at this scale; open clip and C are chosen."""
    walk = walk_at(request, scale)
    batch, n = request.sampler.batch_size or 0, request.n
    room = LARGEST_TABLE if request.adjacency == "add_remove" else request.public.n
    own = request.sampler.proposal if callable(request.sampler.proposal) else None
    draft = Settings(steps, walk, 1.0, request.w, n, batch, room=room, propose=own)
    clip = _clip(request, walk, draft)
    draft = dataclasses.replace(draft, clip=clip)
    return dataclasses.replace(draft, c=_correction_variance(request, draft)) if batch else draft


def within_variance(request: Request, scale: float) -> Settings:
    """Return settings at this scale, or at the largest scale that the minibatch test allows."""
    try:
        return settings_at(request, 1, scale)
    except ValueError:
        if request.sampler.batch_size is None or request.sampler.clip is not None or request.sampler.v_max is not None:
            raise
    allowed = 0.99 * SAFE_SHARE * (request.sampler.c or CORRECTIONS[0])
    unit = Settings(1, walk_at(request, 1.0), 1.0, request.w, request.n, request.sampler.batch_size or 0)
    unit = dataclasses.replace(unit, clip=_clip(request, unit.walk, unit))
    return settings_at(request, 1, scale * min(1.0, math.sqrt(allowed / unit.v_max) / scale))


def natural_scale(request: Request, relative_step: float) -> float:
    """Return the scalar scale that makes the step this multiple of (posterior sd / sqrt d)."""
    sd = posterior_sd(request.model, request.public, request.n, request.w)
    if sd is None:
        raise InvalidArgument(
            "scale: the planner cannot choose it, because the prior is flat or the bounds or a public number of "
            "records are missing; give scale"
        )
    unit = walk_at(request, 1.0)
    return relative_step * sd / math.sqrt(request.dim) / unit.step


def walk_at(request: Request, scale: Scale) -> Walk:
    """Return the proposal at this scale."""
    if callable(request.sampler.proposal):
        return Walk(OWN, scale, 1.0, request.dim)
    whole = request.model.whole_numbers(request.public)
    return walk_of(_kind(request), scale, request.sampler.radius, request.dim, whole if any(whole) else ())


def _kind(request: Request) -> str:
    if request.sampler.proposal is not None:
        return str(request.sampler.proposal)
    bounded = request.private or request.model.lipschitz(request.public) is not None
    if not bounded:
        return "gaussian"
    return "sphere" if request.dim > 1 else "ball"


def _clip(request: Request, walk: Walk, draft: Settings) -> float:
    sampler = request.sampler
    if sampler.clip is not None:
        return float(sampler.clip)
    if sampler.v_max is not None:
        return math.sqrt(sampler.v_max / draft.v_max)  # the draft has clip = 1
    if not request.private and not draft.batch_size:
        return UNCLIPPED
    slope = _slope(request)
    if slope is None or math.isinf(walk.reach):
        why = (
            f'the proposal "{walk.kind.replace("own", "of your own")}" has no bounded reach'
            if math.isinf(walk.reach)
            else f"{_name(request)} has no Lipschitz constant under the declared bounds"
        )
        if isinstance(request.model, OwnModel):
            raise InvalidArgument(
                f"clip: {why}; give clip to the sampler, or lipschitz to the model: a public bound on the gradient of "
                "a record, which is scaled down to it"
            )
        raise InvalidArgument(
            f"clip: {why}, so the planner cannot choose the bound on a record's log-likelihood ratio. Give "
            'clip, or declare bounds (row_norm, x_bounds, y_bounds) in Data and use proposal="ball".'
        )
    return slope * walk.reach * ROUNDING_UP


def _name(request: Request) -> str:
    return repr(request.model) if isinstance(request.model, OwnModel) else type(request.model).__name__


def _slope(request: Request) -> float | None:
    lipschitz = request.model.lipschitz(request.public)
    slope = lipschitz if lipschitz is not None else request.model.typical_lipschitz(request.public)
    return None if slope is None else slope * (request.public.records_per_unit or 1)


def _correction_variance(request: Request, draft: Settings) -> float:
    if request.sampler.c is not None:
        c = float(request.sampler.c)
        if draft.v_max >= c:
            raise InvalidArgument(_too_much_variance(draft, c))
        return c
    for c in CORRECTIONS:
        if draft.v_max <= SAFE_SHARE * c:
            return c
    if draft.v_max <= MOST_SHARE * CORRECTIONS[-1]:
        return CORRECTIONS[-1]
    raise InvalidArgument(_too_much_variance(draft, CORRECTIONS[-1]))


def _too_much_variance(draft: Settings, c: float) -> str:
    return (
        f"batch_size: with {draft.batch_size} records per step and clip {draft.clip:.3g} the minibatch test needs "
        f"v_max = {draft.v_max:.3g} below C = {c:g}. Take a larger batch_size, a smaller scale or clip, or a "
        "smaller w."
    )
