"""The page that ``print(plan)`` shows: what will run, what it costs, and what to expect of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..accounting.statement import units_of
from ..rounding import upper
from ..samplers.outlook import ENOUGH_EFFECTIVE, LEAST_EFFECTIVE, Outlook
from .helps import helps

if TYPE_CHECKING:
    from .plan import Plan

WIDTH = 22


def page(plan: Plan) -> str:
    """Return the plan as a page of text."""
    sections = (*_what_runs(plan), *_privacy(plan), *plan.forecast.rows(), *_outlook(plan))
    lines = [f"Plan: {type(plan.model).__name__} by {plan.settings.describe()['sampler']}", ""]
    lines += [f"  {label:<{WIDTH}}{text}" for label, text in sections]
    advice = [*plan.forecast.advice(plan.private), *_advice_on_groups(plan)]
    if advice:
        lines += ["", *(f"  - {line}" for line in advice)]
    if plan.comparison is not None:
        lines += ["", *(f"  {line}".rstrip() for line in plan.comparison.table().splitlines())]
    better = helps(plan)
    if better:
        lines += ["", "  What would help most:", *(f"  - {line}" for line in better)]
    return "\n".join([*lines, "", f"Verdict: {plan.verdict}."])


def _range(outlook: Outlook) -> str:
    """Return the width, to what it would be if rows filled their bounds."""
    assert outlook.width is not None
    other = outlook.even_width
    if other is None or not math.isfinite(other) or f"{other:.2g}" == f"{outlook.width:.2g}":
        return f"{outlook.width:.3g}"
    return f"{outlook.width:.3g} ({other:.3g} if rows filled their bounds)"


def _mixes(effective_draws: float | None) -> str:
    if effective_draws is None:
        return "unknown: a forecast needs declared bounds and a public number of records (public_n)"
    answer = "yes" if effective_draws >= ENOUGH_EFFECTIVE else "barely" if effective_draws >= LEAST_EFFECTIVE else "no"
    return f"{answer}: about {effective_draws:,.2g} effective draws"


def _outlook(plan: Plan) -> list[tuple[str, str]]:
    outlook, rows = plan.outlook, []
    if outlook.error is not None and plan.private:
        endless = math.isinf(outlook.width or 0.0)
        width = "none: too few draws" if endless else f"{_range(outlook)} times as wide as without privacy"
        rows += [
            ("error, about", f"{outlook.error:.3g} (without privacy 1, the prior alone {outlook.prior_error:.3g})"),
            ("90 % intervals, about", width),
        ]
        if outlook.assumption:
            rows.append(("assumed", outlook.assumption))
    if outlook.is_chain:
        rows.append(("can it mix?", _mixes(outlook.effective_draws)))
    if outlook.seconds is not None and outlook.memory is not None:
        rows.append(("on one core, about", f"{outlook.seconds:,.2g} s, {outlook.memory / 2**20:,.2g} MiB"))
    return rows


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
