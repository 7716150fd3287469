"""The plan of a call that names no sampler: the first candidate that is proven for the model and fits the budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import PydpmcError
from ..samplers import Barker, ConjugateSample, Langevin, Newton
from ..samplers.base import Sampler

# In the order of how near their draws come to the posterior without privacy: Newton and the closed forms do not temper
# the likelihood; Langevin pays by the draw; a random walk pays for every step.
CANDIDATES: tuple[Sampler, ...] = (Newton(), ConjugateSample(), Langevin(draws=20), Barker())
Made = TypeVar("Made")


def first_that_fits(plan_by: Callable[[Sampler], Made], budgeted: bool) -> Made:
    """Return the plan by the first candidate that does not refuse; the last one's refusal if all do.

    Without a budget to plan for only a random walk has settings of its own to price.

    Examples
    --------
    >>> first_that_fits(lambda sampler: type(sampler).__name__, budgeted=True)
    'Newton'
    """
    if not budgeted:
        return plan_by(CANDIDATES[-1])
    for sampler in CANDIDATES[:-1]:
        try:
            return plan_by(sampler)
        except PydpmcError:
            continue
    return plan_by(CANDIDATES[-1])
