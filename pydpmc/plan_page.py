"""The page that ``print(plan)`` shows: what will run, what it costs, and what to expect of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .accounting.figures import upper

if TYPE_CHECKING:
    from .plan import Plan

WIDTH = 22


def page(plan: Plan) -> str:
    """Return the plan as a page of text."""
    sections = (*_what_runs(plan), *_privacy(plan), *plan.forecast.rows())
    lines = [f"Plan: {type(plan.model).__name__} by {plan.settings.describe()['sampler']}", ""]
    lines += [f"  {label:<{WIDTH}}{text}" for label, text in sections]
    advice = plan.forecast.advice(plan.private)
    if advice:
        lines += ["", *(f"  - {line}" for line in advice)]
    return "\n".join(lines)


def _what_runs(plan: Plan) -> list[tuple[str, str]]:
    settings, size = plan.settings, plan.public.size(plan.adjacency)
    rows = [
        ("records", "private" if size is None else f"{size:,}"),
        ("parameters", str(settings.dim)),
        ("chains x steps", f"{plan.chains} x {settings.steps:,}"),
        *settings.rows(size),
    ]
    if settings.w != 1.0:
        effective = "" if size is None else f" (as if there were {settings.w * size:,.4g} records)"
        rows.append(("tempering weight w", f"{settings.w:.4g}{effective}"))
    return rows


def _privacy(plan: Plan) -> list[tuple[str, str]]:
    if not plan.private:
        return [("privacy", "none (private=False)")]
    neighbours = "one record replaced" if plan.adjacency == "replace" else "one record added or removed"
    delta = plan.delta if plan.delta is not None else 1e-6
    spent = plan.guarantee.epsilon(delta)
    asked = "" if plan.epsilon is None else f" of {plan.epsilon:g} asked for"
    return [
        ("neighbours", neighbours),
        ("epsilon", f"{upper(spent, 4)} at delta = {float(delta)!r}{asked}"),
        ("assumptions", "; ".join(plan.guarantee.assumptions) or "none: convergence does not matter"),
    ]
