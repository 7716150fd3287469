"""A Barker run at a given scale: what follows for its clip and its minibatch test from public facts."""

from __future__ import annotations

import dataclasses
import math

from ...errors import InvalidArgument
from ..request import Request
from .forecast import posterior_sd
from .proposal import Scale, Walk, walk_of
from .settings import LARGEST_TABLE, ROUNDING_UP, UNCLIPPED, Settings

CORRECTIONS = (1.0, 1.25, 1.5, 2.0)
MOST_SHARE = 0.95
SAFE_SHARE = 0.6  # of C that v_max may take unless given: closer to C the atoms of V_cor show and cost privacy


def settings_at(request: Request, steps: int, scale: Scale) -> Settings:
    """Return a run of so many steps at this scale, clip and C chosen where they were left open."""
    walk = walk_at(request, scale)
    batch, n = request.sampler.batch_size or 0, request.n
    room = LARGEST_TABLE if request.adjacency == "add_remove" else request.public.n
    draft = Settings(steps, walk, 1.0, request.w, n, batch, room=room)
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
            "scale: the planner knows too little to choose it (a flat prior, or no public number of records or "
            "bounds); give scale"
        )
    unit = walk_at(request, 1.0)
    return relative_step * sd / math.sqrt(request.dim) / unit.step


def walk_at(request: Request, scale: Scale) -> Walk:
    """Return the proposal at this scale."""
    return walk_of(_kind(request), scale, request.sampler.radius, request.dim)


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
        return math.sqrt(sampler.v_max / draft.v_max)  # draft.v_max is that of clip = 1
    if not request.private and not draft.batch_size:
        return UNCLIPPED
    slope = _slope(request)
    if slope is None or math.isinf(walk.reach):
        why = (
            'the proposal "gaussian" has no bounded reach'
            if math.isinf(walk.reach)
            else f"{type(request.model).__name__} has no Lipschitz constant under the declared bounds"
        )
        raise InvalidArgument(
            f"clip: {why}, so the planner cannot choose the bound on a record's log-likelihood ratio. Give "
            'clip, or declare bounds (row_norm, x_bounds, y_bounds) in Data and use proposal="ball".'
        )
    return slope * walk.reach * ROUNDING_UP


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
