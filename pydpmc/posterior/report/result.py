"""The sections on the result: intervals where they follow from the draws, the draws themselves, how the chains went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import given
from ...errors import PydpmcError, WrongType
from ..tables import cell
from ..units import unit_sentence
from . import charts
from .markup import figures, paragraphs, section, table
from .words import sentence

if TYPE_CHECKING:
    from ..inference import Intervals
    from ..posterior import Posterior
    from ..summary import Summary
    from ..verdict import Verdict

LEVEL = 0.9
FEWEST_EFFECTIVE, MOST_RHAT = 100.0, 1.05


def sections(post: Posterior, found: Verdict) -> list[str]:
    """Return the sections on the posterior and on its diagnostics."""
    rows = post.summary()
    return [section("The posterior", _posterior(post, found, rows)), section("Diagnostics", _diagnostics(post, rows))]


def rehearsed(found: Any) -> str:
    """Return what happened when the plan ran on made-up records: a sentence, a picture and a table."""
    if not all(hasattr(found, name) for name in ("truths", "estimates", "rows", "runs", "coverage", "error")):
        raise WrongType(f"rehearsal must be what plan.rehearse() returned, not {given(found)}")
    text = (
        f"The same plan ran {found.runs} times on made-up records whose true values are known: {found.coverage:.0%} of "
        f"its 90 % intervals contained the truth, and its estimates missed it by {found.error:.2g} times the standard "
        "error without privacy. A dot is a parameter; on the line the private estimate is the truth."
    )
    rows = table(("", "happened", "forecast"), found.rows(), numbers=True)
    picture = figures([charts.rehearsal(found.truths, found.estimates)])
    return section("What it can be trusted for", paragraphs([text]) + picture + rows)


def _posterior(post: Posterior, found: Verdict, rows: Summary) -> str:
    if not found.usable:
        why = "No interval and no density is shown, because they would mean nothing"
        return paragraphs([f"Do not use these draws: {found.reason}. {why}."]) + _draws(rows, ("mean",))
    intervals, refusal = _intervals(post)
    tempered = f" ({found.weights()})" if found.weights() else ""
    if intervals is None:
        text = [
            f"No confidence interval follows from these draws: {refusal}.",
            f"The table shows mean, standard deviation and quantiles of the draws{tempered}; they are no interval for "
            "the true values.",
        ]
        body = paragraphs(text)
    else:
        cells = [
            (name, *(cell(c, row[c], 3) for c in ("estimate", "se", "low", "high")))
            for name, row in intervals.rows.items()
        ]
        head = ("parameter", "estimate", "error", "5 %", "95 %")
        body = paragraphs([f"{LEVEL:.0%} confidence intervals, which cover the truth so often if the model is right:"])
        body += table(head, cells, numbers=True) + paragraphs([f"The draws themselves{tempered}:"])
    body += _draws(rows, ("mean", "sd", "5%", "95%"))
    unit = unit_sentence(post)
    body += paragraphs([f"{unit}."]) if unit else ""
    body += _counted("intervals", charts.MOST_INTERVALS, len(rows))
    body += figures([charts.forest(post, intervals)], wide=True)
    body += '<p class="soft">Posterior (filled, or a mark for each draw) and prior (dashed)'
    body += f"{tempered}:</p>" + _counted("densities", charts.MOST_DENSITIES, len(rows))
    return body + figures(charts.densities(post))


def _intervals(post: Posterior) -> tuple[Intervals | None, str]:
    """Return the intervals, or why there are none."""
    try:
        return post.interval(LEVEL), ""
    except (PydpmcError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return None, str(error) if isinstance(error, PydpmcError) else "its plan does not say what they need"


def _draws(rows: Summary, columns: tuple[str, ...]) -> str:
    cells = [(name, *(cell(c, row[c], 3) for c in columns)) for name, row in rows.rows.items()]
    return table(("parameter", *columns), cells, numbers=True)


def _counted(what: str, most: int, count: int) -> str:
    if count <= most:
        return ""
    return f'<p class="soft">The {what} of the first {most} of {count} parameters:</p>'


def _diagnostics(post: Posterior, rows: Summary) -> str:
    if not all(values.size for values in post.draws.values()):
        return "<p>The run was stopped before it made a draw.</p>"
    if post.plan.get("independent_draws"):
        return _independent(post)
    rhat, ess = rows.column("rhat"), rows.column("ess")
    rhat, ess = rhat[np.isfinite(rhat)], ess[np.isfinite(ess)]
    if rhat.size == 0 or ess.size == 0:
        return "<p>There are too few draws for R-hat and effective sample size.</p>"
    agree = "the chains agree with each other and with themselves"
    doubt = "effective draws are few or chains disagree: see the verdict above; the guarantee holds anyway"
    facts = [("largest R-hat", f"{rhat.max():.3f}"), ("least effective sample size", f"{ess.min():.0f}")]
    facts += [(f"acceptance of chain {k + 1}", f"{rate:.3f}") for k, rate in enumerate(post.acceptance)]
    text = [sentence(agree if rhat.max() < MOST_RHAT and ess.min() > FEWEST_EFFECTIVE else doubt)]
    text += ["The run was stopped by hand; all planned steps are charged."] if post.interrupted else []
    body = paragraphs(text) + table((), facts) + _draws(rows, ("ess", "rhat"))
    return body + _counted("traces", charts.MOST_DENSITIES, len(rows)) + figures(charts.traces(post))


def _independent(post: Posterior) -> str:
    chains, draws = next(iter(post.draws.values())).shape[:2]
    several = f"These are {chains * draws:,} independent draws, each made on its own"
    what = "This is one draw, made on its own" if chains * draws == 1 else several
    return (
        f"<p>{what}: no chain was released whose parts could be compared, and every draw counts in full. The guarantee "
        "does not depend on it.</p>"
    )
