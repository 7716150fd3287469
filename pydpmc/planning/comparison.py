"""Comparison: the candidates of a plan in one table, and their errors over epsilon."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, TypeVar

from .._files import replace_file
from .._optional import require
from ..checks import file_path, given, one_of, visible_html
from ..checks import usable as usable_file
from ..errors import PydpmcError, WrongType
from ..samplers import Barker
from ..samplers.base import Sampler
from ..samplers.request import Request
from .arguments import requested
from .choice import PURPOSES, Candidate, candidates, usable
from .verdict import usefulness

if TYPE_CHECKING:
    from ..data.public import Public
    from ..models import Model

Made = TypeVar("Made")
MOST_CHARACTERS = 90
HEADINGS = ("sampler", "error", "if far", "width", "draws", "seconds", "verdict")
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
UNITS = "error, and width of 90 % intervals in units of the posterior without privacy (1: as without privacy)"
IF_FAR = "if far: the error if the truth is twice as far from the prior's centre as the prior expects; it decides"
BEYOND = "also if the truth is farther from the prior's centre than the prior expects"
WHY = {
    "posterior": f"its intervals are expected to be the narrowest that cover, {BEYOND}",
    "prediction": f"its predictions are expected to be the nearest, {BEYOND}",
    "point": f"its estimates are expected to be the nearest to the truth, {BEYOND}",
}
APPROXIMATE = (
    "others would lean on the prior and miss a truth beyond it; its intervals ignore correlations between "
    "coefficients and are too narrow where columns are correlated: name Newton() for intervals that your prior implies"
)


@dataclass(frozen=True)
class Comparison:
    """Every sampler that is proven for a model, with what can be expected of it, best first.

    Attributes
    ----------
    candidates
        Sampler, outlook and, where a sampler was refused, the reason.
    purpose
        ``"posterior"``, ``"prediction"`` or ``"point"``.
    taken
        Name of the sampler that a plan takes; None if all are refused.
    """

    candidates: tuple[Candidate, ...]
    purpose: str
    request: Request = dataclasses.field(repr=False, compare=False)

    @property
    def taken(self) -> str | None:
        """The best candidate's name."""
        best = next(usable(list(self.candidates)), None)
        return None if best is None else best.name

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of each candidate that was not refused."""
        return [_cells(one) for one in usable(list(self.candidates))]

    def to_dict(self) -> dict[str, Any]:
        """Return the table and the reason as plain values, for reports."""
        return {"headings": list(HEADINGS), "rows": [list(row) for row in self.rows()], "why": self.why()}

    def why(self) -> str:
        """Return one sentence: which was taken, and why."""
        rows = list(usable(list(self.candidates)))
        if not rows:
            return "No sampler is proven for this model within this budget."
        if rows[0].outlook is None or rows[0].outlook.error is None:
            return f"{rows[0].name} was taken, the first that is proven: public facts allow no forecast."
        if len(rows) == 1:
            return f"{rows[0].name} was taken: the only one that is proven here."
        approximate = self.purpose == "posterior" and not rows[0].sampler.has_coverage
        return f"{rows[0].name} was taken: {APPROXIMATE if approximate else WHY[self.purpose]}."

    def table(self) -> str:
        """Return the table of candidates that were not refused, and which is taken."""
        rows = [HEADINGS, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADINGS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, f"({UNITS};", f"{IF_FAR})", self.why()])

    def __str__(self) -> str:
        refused = [f"  {one.name}: {first_sentence(one.refusal)}" for one in self.candidates if one.outlook is None]
        return "\n".join([self.table(), *(["", "Refused:", *refused] if refused else [])])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{cell}</th>" for cell in HEADINGS)
        body = "".join(
            "<tr>" + "".join(f"<td>{visible_html(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        note = f"<p>{visible_html(self.why())} {visible_html(UNITS)}; {visible_html(IF_FAR)}.</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"

    def over_epsilon(self, epsilons: tuple[float, ...] = EPSILONS) -> dict[str, list[float]]:
        """Return the expected error of each candidate at each epsilon; NaN where it is refused."""
        errors: dict[str, list[float]] = {one.name: [] for one in usable(list(self.candidates))}
        for epsilon in epsilons:
            found = candidates(dataclasses.replace(self.request, epsilon=epsilon), self.purpose)
            known = {one.name: one.outlook.error for one in usable(found) if one.outlook is not None}
            for name, values in errors.items():
                value = known.get(name)
                values.append(float("nan") if value is None else value)
        return errors

    def plot(self, epsilons: tuple[float, ...] = EPSILONS, ax: Any = None) -> Any:
        """Draw the expected error over epsilon, with the limits without privacy and of the prior alone."""
        pyplot = require("matplotlib.pyplot", "plots", "a plot of a comparison")
        ax = pyplot.subplots()[1] if ax is None else ax
        for name, errors in self.over_epsilon(epsilons).items():
            ax.plot(epsilons, errors, marker="o", label=name)
        ax.axhline(1.0, color="grey", linestyle="--", label="without privacy")
        best = next(usable(list(self.candidates)), None)
        if best is not None and best.outlook is not None and best.outlook.prior_error is not None:
            ax.axhline(best.outlook.prior_error, color="grey", linestyle=":", label="the prior alone")
        ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="error / sd without privacy")
        ax.legend()
        return ax

    def explore(
        self,
        path: str | Path,
        *,
        epsilons: Sequence[float] | None = None,
        deltas: Sequence[float] | None = None,
        records: Sequence[int] | None = None,
        title: str | None = None,
        told: Callable[[int, int], None] | None = None,
    ) -> None:
        """Write one HTML page with sliders for epsilon, delta and the number of records; it costs no privacy.

        Every setting is planned beforehand, which takes some seconds; the page loads nothing from elsewhere.

        Parameters
        ----------
        path
            The file to write.
        epsilons, deltas, records
            Values of the sliders, usual ones by default; the comparison's own are always among them.
        title
            Heading of the page.
        told
            Called with the number of settings that are done, and of all.
        """
        from .explore.grid import axes_of, cells
        from .explore.page import render

        if title is not None and not isinstance(title, str):
            raise WrongType(f"title must be a text, not {given(title)}")
        file = file_path(path, "path")
        axes = axes_of(self.request, epsilons, deltas, records)
        found = cells(self.request, self.purpose, axes, told or (lambda done, of: None))
        page = render(self.request, self.purpose, axes, found, title).encode()
        with usable_file(file, "path"):
            replace_file(file, lambda new: new.writelines([page]))


def first_sentence(text: str) -> str:
    """Return the beginning of a refusal, for a table."""
    return shorten(re.split(r"; |: it needs |\n", text)[0], MOST_CHARACTERS, placeholder=" ...")


def _cells(one: Candidate) -> tuple[str, ...]:
    outlook = one.outlook
    assert outlook is not None
    verdict = str(usefulness(outlook.to_dict()))
    draws = "-" if outlook.effective_draws is None else f"{outlook.effective_draws:,.0f}"
    figures = (_number(value) for value in (outlook.error, outlook.far_error, outlook.width))
    return (one.name, *figures, draws, _seconds(outlook.seconds), verdict)


def _seconds(value: float | None) -> str:
    return "-" if value is None else "<1" if value < 1.0 else f"{value:,.0f}"


def _number(value: float | None) -> str:
    return "-" if value is None or value == float("inf") else f"{value:.3g}"


def compare(
    model: Model,
    public: Public,
    *,
    epsilon: float,
    delta: float,
    adjacency: str = "replace",
    chains: int = 1,
    purpose: str = "posterior",
) -> Comparison:
    """Compare every sampler that is proven for the model, from public facts alone: it costs no privacy.

    Parameters
    ----------
    model, public, epsilon, delta, adjacency, chains
        As for ``plan``.
    purpose
        What the result is for: ``"posterior"`` (intervals with their coverage), ``"prediction"`` or ``"point"``.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=100_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> table = dp.compare(dp.LogisticRegression(), public, epsilon=1.0, delta=1e-6)
    >>> table.taken
    'Newton'
    """
    one_of(purpose, "purpose", PURPOSES)
    request, _ = requested(
        model, public, None, epsilon=epsilon, delta=delta, adjacency=adjacency, chains=chains, private=True
    )
    return compared(request, purpose)


def compared(request: Request, purpose: str) -> Comparison:
    """Return the candidates of a request."""
    return Comparison(tuple(candidates(request, purpose)), purpose, request)


def best_that_fits(plan_by: Callable[[Sampler], Made], table: Comparison | None) -> Made:
    """Return the plan by the best candidate that is not refused; the random walk's refusal if all are.

    Without a budget to plan for only a random walk has settings of its own to price.
    """
    for one in usable([] if table is None else list(table.candidates)):
        try:
            return plan_by(one.sampler)
        except PydpmcError:
            continue
    return plan_by(Barker())
