"""What would help a plan, with figures: more records, a larger epsilon, fewer columns, another sampler."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..accounting.statement import units_of
from ..data.public import Public
from ..errors import HopelessPlan, PoorPlanWarning, PydpmcError
from ..samplers.outlook import Outlook, outlook_of
from ..samplers.request import Request
from .choice import candidates

if TYPE_CHECKING:
    from .plan import Plan

GOOD = 1.5  # times as wide as without privacy
MORE_RECORDS, MORE_EPSILON = (4, 16, 64, 256, 1024, 4096), (2.0, 5.0, 10.0, 30.0, 100.0)
USUAL, MOST_EPSILON = 3, 10.0  # factors that are tried; more only while the result would be the prior
LEARNED = 0.7  # of the error of the prior alone
HOPELESS = 1e300
GAIN = 0.9  # of the plan's own width: what helps less is not said


def refuse_hopeless(plan: Plan, anyway: bool) -> None:
    """Refuse a plan that would waste its budget, unless it is wanted anyway; warn of a poor one."""
    if not plan.private or anyway:
        return
    reason = plan.outlook.hopeless
    if reason is not None:
        raise HopelessPlan(
            f"this plan would waste its budget, and nothing was spent: {reason}.\n"
            + "\n".join(
                f"- {line}" for line in (*helps(plan), "pass anyway=True (pydpmc run --anyway) to run it all the same")
            )
        )
    if plan.outlook.poor is not None:
        warnings.warn(f"{plan.outlook.poor}; print(plan) says what would help", PoorPlanWarning, stacklevel=4)


def helps(plan: Plan) -> list[str]:
    """Return what would help, most first; each line ends with the figure that it would reach."""
    if not plan.private or plan.epsilon is None or plan.outlook.error is None:
        return []
    own = _loss(plan.outlook)
    if own <= GOOD:
        return []
    lines: list[tuple[float, str]] = []
    if plan.comparison is None and plan.outlook.is_chain:
        other = _another_sampler(plan, own)
        if other is not None:
            return [other]
    for found in (_records(plan), _epsilon(plan), _columns(plan)):
        better = _least_that_works(found)
        if better is not None and _loss(better[0]) < GAIN * own:
            lines.append((_loss(better[0]), f"{better[1]}: {_figure(better[0])}"))
    return [text for _, text in sorted(lines)]


def _least_that_works(found: Iterator[tuple[Outlook, str]]) -> tuple[Outlook, str] | None:
    """Return the first that is good, or else the last usual one, or the first beyond those that learns something."""
    works = None
    for k, one in enumerate(found):
        if works is not None and k >= USUAL and _learns(works[0]):
            break
        if one[0].hopeless is None:
            works = one
            if _loss(one[0]) <= GOOD:
                break
    return works


def _learns(outlook: Outlook) -> bool:
    """Return whether records say much that the prior does not."""
    known = outlook.error is not None and outlook.prior_error is not None
    return not known or outlook.error <= LEARNED * outlook.prior_error  # type: ignore[operator]


def _loss(outlook: Outlook) -> float:
    """Return how wide intervals are, and more where that is little because without privacy they were wide too."""
    width = outlook.reach
    if outlook.hopeless is not None or outlook.error is None or outlook.prior_error is None:
        return HOPELESS
    learned = 1.0 - min(1.0, outlook.error / outlook.prior_error) ** 2
    possible = max(1.0 - 1.0 / outlook.prior_error**2, 1e-12)
    return width * possible / max(learned, 1e-12)


def _figure(outlook: Outlook) -> str:
    width = outlook.reach
    few = f", {outlook.effective_draws:,.0f} effective draws" if outlook.is_chain and outlook.effective_draws else ""
    prior = "" if outlook.prior_error is None else f" (the prior alone: {outlook.prior_error:.2g})"
    return f"intervals about {width:.2g} times as wide as without privacy{prior}{few}"


def _another_sampler(plan: Plan, own: float) -> str | None:
    request = Request(
        plan.model, plan.public, plan.sampler, plan.adjacency, 1, True, plan.epsilon, plan.delta, plan.earlier
    )
    best = candidates(request, "posterior")[0]
    if best.outlook is None or best.outlook.hopeless is not None or _loss(best.outlook) > GAIN * own:
        return None
    return f"leave the sampler out: {best.name} gives {_figure(best.outlook)}"


def _records(plan: Plan) -> Iterator[tuple[Outlook, str]]:
    size = plan.public.size(plan.adjacency)
    if size is None:
        return
    for factor in MORE_RECORDS:
        public = dataclasses.replace(plan.public, n=size * factor)
        if plan.adjacency == "add_remove":
            public = dataclasses.replace(public, public_n=size * factor)
        outlook = planned_outlook(plan, public, plan.epsilon)
        if outlook is not None:
            yield outlook, f"{size * factor:,} {units_of(plan.public.unit)} instead of {size:,}"


def _epsilon(plan: Plan) -> Iterator[tuple[Outlook, str]]:
    assert plan.epsilon is not None
    for factor in MORE_EPSILON:
        if factor > 10.0 and plan.epsilon * factor > MOST_EPSILON:
            return
        outlook = planned_outlook(plan, plan.public, plan.epsilon * factor)
        if outlook is not None:
            yield outlook, f"epsilon = {plan.epsilon * factor:g} instead of {plan.epsilon:g}"


def _columns(plan: Plan) -> Iterator[tuple[Outlook, str]]:
    public, half = plan.public, plan.public.width // 2
    if half < 1 or plan.model.one_column:
        return
    fewer = dataclasses.replace(
        public,
        columns=public.columns[:half],
        x_bounds=None if public.x_bounds is None else public.x_bounds[:half],
        row_norm=None if public.row_norm is None else public.row_norm * (half / public.width) ** 0.5,
    )
    outlook = planned_outlook(plan, fewer, plan.epsilon)
    if outlook is not None:
        yield outlook, f"{half} columns instead of {public.width}, their norm smaller in proportion"


def planned_outlook(plan: Plan, public: Public, epsilon: float | None) -> Outlook | None:
    """Return the outlook of the same plan with other public facts or another budget, roughly; None if refused."""
    budget = epsilon, plan.delta, plan.earlier
    request = Request(plan.model, public, plan.sampler, plan.adjacency, plan.chains, True, *budget, rough=True)
    try:
        if plan.comparison is not None:
            return candidates(request, plan.comparison.purpose)[0].outlook
        settings = plan.sampler.choose(request)
        return outlook_of(settings, plan.model, public, public.size(plan.adjacency), plan.chains, plan.init)
    except (PydpmcError, ArithmeticError):
        return None
