"""The page that ``print(plan)`` shows: what will run, what it costs, and what to expect of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..accounting.statement import units_of
from ..rounding import upper

if TYPE_CHECKING:
    from .plan import Plan

WIDTH = 22


def page(plan: Plan) -> str:
    """Return the plan as a page of text."""
    sections = (*_what_runs(plan), *_privacy(plan), *plan.forecast.rows())
    lines = [f"Plan: {type(plan.model).__name__} by {plan.settings.describe()['sampler']}", ""]
    lines += [f"  {label:<{WIDTH}}{text}" for label, text in sections]
    advice = [*plan.forecast.advice(plan.private), *_advice_on_groups(plan)]
    if advice:
        lines += ["", *(f"  - {line}" for line in advice)]
    return "\n".join(lines)


def _what_runs(plan: Plan) -> list[tuple[str, str]]:
    settings, size = plan.settings, plan.public.size(plan.adjacency)
    units, unit = units_of(plan.public.unit), plan.public.unit.removeprefix("one ")
    rows = [
        (units, "private" if size is None else f"{size:,}"),
        ("parameters", str(settings.dim)),
        ("chains x steps", f"{settings.releases(plan.chains, None, None).chains} x {settings.steps:,}"),
        *((label.replace("records", units), text.replace("record", unit)) for label, text in settings.rows(size)),
    ]
    if plan.model.label_count is not None:
        known = "0 or 1" if plan.model.label_count == 2 else f"0 to {plan.model.label_count - 1}"
        rows.append(("labels", f"{known}; any other label contributes nothing"))
    if settings.w != 1.0:
        effective = "" if size is None else f" (as if there were {settings.w * size:,.4g} {units})"
        rows.append(("tempering weight w", f"{settings.w:.4g}{effective}"))
    return rows


def _privacy(plan: Plan) -> list[tuple[str, str]]:
    if not plan.private:
        return [("privacy", "none (private=False)")]
    neighbours = f"{plan.public.unit} {'replaced' if plan.adjacency == 'replace' else 'added or removed'}"
    delta = plan.delta if plan.delta is not None else 1e-6
    spent = plan.guarantee.epsilon(delta)
    asked = "" if plan.epsilon is None else f" of {plan.epsilon:g} asked for"
    conditional = ", if the assumptions hold" if plan.guarantee.assumptions else ""
    return [
        ("neighbours", neighbours),
        ("epsilon", f"{upper(spent, 4)} at delta = {float(delta)!r}{asked}{conditional}"),
        ("assumptions", "; ".join(plan.guarantee.assumptions) or "none: convergence does not matter"),
    ]


def _advice_on_groups(plan: Plan) -> list[str]:
    unbounded = plan.public.grouped and plan.public.max_group_size is None
    if not (plan.private and unbounded and plan.forecast.clipped_at_most > 0):
        return []
    return [
        "what a group of several records says may be clipped, which biases the posterior: declare max_group_size in",
        "Data for a clip that never acts, or give a larger clip.",
    ]
