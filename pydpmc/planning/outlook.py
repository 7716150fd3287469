"""The outlook of a plan: its sampler's figures for a typical table, and for one as rich as the bounds allow."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ..data.public import Public
from ..models import Model
from ..samplers.base import RunSettings
from ..samplers.directions import directions
from ..samplers.outlook import Outlook

if TYPE_CHECKING:
    from .plan import Plan


def outlook_of_plan(plan: Plan) -> Outlook:
    """Return what can be expected of a plan."""
    size = plan.public.size(plan.adjacency) if plan.private else plan.public.n
    return outlook_of(plan.settings, plan.model, plan.public, size, plan.chains, plan.init)


def outlook_of(
    settings: RunSettings, model: Model, public: Public, size: int | None, chains: int, init: Any = None
) -> Outlook:
    """Return what can be expected of settings; an empty outlook where public facts do not say."""
    draws = settings.releases(chains, None, None)
    is_chain = not draws.hidden
    typical, even = (directions(model, public, size, even) for even in (False, True))
    if typical is None or even is None or not hasattr(settings, "outlook"):
        return Outlook(is_chain=is_chain, w=settings.w)
    if init is not None and init != "prior":
        typical, even = (dataclasses.replace(ways, start=ways.open_variance) for ways in (typical, even))
    found: Outlook = settings.outlook(typical, chains)
    return dataclasses.replace(found, is_chain=is_chain, even_width=settings.outlook(even, chains).width)
