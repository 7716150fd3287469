"""Several chains in place of one, where the budget of one can be split: then R-hat compares chains."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import PydpmcError
from ..models.priors import Flat
from ..samplers.request import Request

if TYPE_CHECKING:
    from .plan import Plan

TRIED = (4, 2)
WORSE = 1.1  # of the score of one chain: what a comparison of chains may cost


def several_chains(made: Plan, request: Request, purpose: str, plan_by: Callable[..., Plan]) -> Plan:
    """Return the plan with four or two chains if their outlook is nearly that of one, else as it is.

    Chains share the budget, so each is shorter and spends a share of it on its own warm-up. They start at draws from
    the prior where it is proper and no start was given: chains that start together would agree before they have mixed.
    """
    if not made.outlook.is_chain or made.outlook.error is None or made.outlook.hopeless is not None:
        return made
    apart = {"init": "prior"} if made.init is None and not _improper(request) else {}
    for count in TRIED:
        try:
            own = type(made.sampler).candidate(dataclasses.replace(request, chains=count), purpose)
            more = plan_by(own, chains=count, **apart)
        except (PydpmcError, ArithmeticError):
            continue
        outlook = more.outlook
        if outlook.hopeless is None and outlook.poor is None and _score(more, purpose) <= WORSE * _score(made, purpose):
            return more
    return made


def _score(plan: Plan, purpose: str) -> float:
    return plan.outlook.score(purpose)


def _improper(request: Request) -> bool:
    table = request.model.prior_table(request.public)
    return bool((table[:, 0] == Flat.code).any())
