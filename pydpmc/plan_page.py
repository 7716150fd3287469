"""The page that ``print(plan)`` shows: what will run, what it costs, and what to expect of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .accounting.figures import upper
from .accounting.statement import units_of
from .samplers.forecast import ENOUGH_DRAWS, SOME_DRAWS, Forecast
from .samplers.gradient_forecast import GradientForecast
from .samplers.gradient_settings import GradientSettings
from .samplers.settings import Settings
from .samplers.walk import Walk

if TYPE_CHECKING:
    from .plan import Plan

WIDTH = 22


def page(plan: Plan) -> str:
    """Return the plan as a page of text."""
    lines = [f"Plan: {type(plan.model).__name__} by {_method(plan)}", ""]
    lines += [f"  {label:<{WIDTH}}{text}" for label, text in (*_what_runs(plan), *_privacy(plan), *_outlook(plan))]
    advice = _advice(plan)
    if advice:
        lines += ["", *(f"  - {line}" for line in advice)]
    return "\n".join(lines)


def _method(plan: Plan) -> str:
    return plan.settings.sampler.upper() if isinstance(plan.settings, GradientSettings) else "Barker's test"


def _what_runs(plan: Plan) -> list[tuple[str, str]]:
    settings, size = plan.settings, plan.public.size(plan.adjacency)
    units = units_of(plan.public.unit)
    rows = [
        (units, "private" if size is None else f"{size:,}"),
        ("parameters", str(settings.dim)),
        ("chains x steps", f"{plan.chains} x {settings.steps:,}"),
    ]
    if isinstance(settings, GradientSettings):
        rows += settings.rows(units)
    else:
        rows += _barker_rows(plan, settings, size)
    if settings.w != 1.0:
        effective = "" if size is None else f" (as if there were {settings.w * size:,.4g} {units})"
        rows.append(("tempering weight w", f"{settings.w:.4g}{effective}"))
    return rows


def _barker_rows(plan: Plan, settings: Settings, size: int | None) -> list[tuple[str, str]]:
    batch = f"{settings.batch_size:,} of {size:,}" if settings.batch_size else "all, in the exact test"
    unit = plan.public.unit.removeprefix("one ")
    rows = [
        (f"{unit}s per step", batch),
        ("proposal", _proposal(settings.walk)),
        ("clip", f"{settings.clip:.4g} per {unit} and step{_clip_meaning(plan)}"),
    ]
    if settings.batch_size:
        error = settings_error(settings)
        rows.append(("minibatch test", f"C = {settings.c:g}, v_max = {settings.v_max:.3g}, log-odds error {error:.1e}"))
    return rows


def settings_error(settings: Settings) -> float:
    """Return the largest error of the minibatch test in the log-odds of acceptance."""
    from .accounting.correction import correction

    return float(correction(settings.c).odds_error)


def _proposal(walk: Walk) -> str:
    shape = walk.kind.replace("_", " ")
    size = f"{walk.scale:.4g}" if isinstance(walk.scale, float) else f"a given {_shape_of(walk)}"
    return f"{shape}, {'radius' if walk.kind in ('ball', 'sphere') else 'scale'} {size}"


def _shape_of(walk: Walk) -> str:
    return "covariance" if walk.factor().ndim == 2 else "vector"


def _clip_meaning(plan: Plan) -> str:
    if plan.forecast.clipped_at_most == 0.0:
        return " (never reached: Lipschitz bound)"
    return " (may act, and then biases the posterior)" if plan.private else ""


def _privacy(plan: Plan) -> list[tuple[str, str]]:
    if not plan.private:
        return [("privacy", "none (private=False)")]
    neighbours = f"{plan.public.unit} {'replaced' if plan.adjacency == 'replace' else 'added or removed'}"
    delta = plan.delta if plan.delta is not None else 1e-6
    spent = plan.guarantee.epsilon(delta)
    asked = "" if plan.epsilon is None else f" of {plan.epsilon:g} asked for"
    return [
        ("neighbours", neighbours),
        ("epsilon", f"{upper(spent, 4)} at delta = {float(delta)!r}{asked}"),
        ("assumptions", "; ".join(plan.guarantee.assumptions) or "none: convergence does not matter"),
    ]


def _outlook(plan: Plan) -> list[tuple[str, str]]:
    f = plan.forecast
    if isinstance(f, GradientForecast):
        return f.rows()
    rows = [("a chain can travel", f"{f.travel:.3g} per coefficient by diffusion, {f.climb:.3g} uphill")]
    if f.posterior_sd is not None:
        rows.append(("posterior sd, about", f"{f.posterior_sd:.3g} (rows of the declared length, every way alike)"))
    if f.effective_draws is not None:
        rows.append(("effective draws", f"at best about {f.effective_draws:,.0f}"))
    rows.append(("ratios clipped", "none" if f.clipped_at_most == 0.0 else "unknown, at most all"))
    rows.append(("can it mix?", _verdict(f)))
    return rows


def _verdict(f: Forecast) -> str:
    if f.effective_draws is None:
        return "unknown: a forecast needs declared bounds and a public number of records (public_n)"
    if f.mixes:
        return "yes, unless some direction is much wider than the others: check R-hat and ess"
    if f.effective_draws >= ENOUGH_DRAWS:
        return "yes, from a start nearer to the posterior than the prior's centre"
    return "barely: few effective draws" if f.effective_draws >= SOME_DRAWS else "no: too few effective draws"


def _advice_on_groups(plan: Plan) -> list[str]:
    unbounded = plan.public.grouped and plan.public.max_group_size is None
    if not (plan.private and unbounded and plan.forecast.clipped_at_most > 0):
        return []
    return [
        "what a group of several records says may be clipped, which biases the posterior: declare max_group_size in",
        "Data for a clip that never acts, or give a larger clip.",
    ]


def _advice(plan: Plan) -> list[str]:
    f = plan.forecast
    if isinstance(f, GradientForecast):
        return f.advice(plan.private) + _advice_on_groups(plan)
    advice = _advice_on_groups(plan)
    size = plan.public.size(plan.adjacency)
    if plan.private and f.effective_draws is not None and f.effective_draws < ENOUGH_DRAWS and size is not None:
        short = ENOUGH_DRAWS / max(f.effective_draws, 1e-12)
        advice.append(f"{ENOUGH_DRAWS:.0f} effective draws would need about {size * short:,.2g} records,")
        advice.append(
            f"or w = {plan.settings.w / short:.2g} (n0 = {plan.settings.w * size / short:,.3g}), which widens the "
            f"posterior {math.sqrt(short):.2g} times,"
        )
        advice.append("or fewer coefficients, fewer chains, a larger epsilon.")
    if plan.private and f.mixes is False and f.start_distance is not None and f.climb < f.start_distance:
        advice.append("a start nearer to the posterior (init=, from public knowledge) would save steps.")
    if size is None:
        advice.append("declare public_n in Data (a public, rough number of records) for a plan that fits the data.")
    if plan.private and f.clipped_at_most > 0 and not plan.public.grouped:
        advice.append("a shorter proposal, or a larger clip, clips less; a Lipschitz model is never clipped.")
    return advice
