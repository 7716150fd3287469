"""The table of a posterior for a paper, in markdown or LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ..checks import one_of, visible, whole
from ..errors import InvalidArgument
from ..rounding import upper
from .facts import delta_of
from .frames import AsFrames, Rows
from .summary import COLUMNS
from .units import unit_sentence

if TYPE_CHECKING:
    from .posterior import Posterior
    from .verdict import Verdict

DEFAULT_COLUMNS = ("mean", "sd", "5%", "95%", "ess", "rhat")
_LATEX = {"\\": r"\textbackslash{}", **{c: f"\\{c}" for c in "&%$#_{}"}, "~": r"\textasciitilde{}", "^": r"\^{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}"}


class Table(str, AsFrames):
    """A table as text, which keeps its numbers: ``to_pandas``, ``to_polars``."""

    def __new__(cls, text: str, rows: Rows) -> Table:
        """Return the text with its rows."""
        made = super().__new__(cls, text)
        made.rows = rows
        return made


def table(
    post: Posterior,
    format: Literal["markdown", "latex"] = "markdown",
    *,
    columns: Sequence[str] = DEFAULT_COLUMNS,
    digits: int = 3,
    units: Literal["encoded", "natural"] = "encoded",
) -> Table:
    """Return the summary as a table with the guarantee as its caption."""
    unknown = [name for name in columns if name not in COLUMNS]
    if unknown:
        raise InvalidArgument(f"columns must be some of {', '.join(COLUMNS)}, not {unknown[0]!r}")
    one_of(format, "format", ("markdown", "latex"))
    whole(digits, "digits")
    found = post.summary(units)
    rows = [[visible(name), *(cell(c, row[c], digits) for c in columns)] for name, row in found.rows.items()]
    text = caption(post, found.verdict)
    unit = "Coefficients are per unit of the table" if units == "natural" else unit_sentence(post)
    text += f" {visible(unit)}." if unit else ""
    printed = (_markdown if format == "markdown" else _latex)(["parameter", *columns], rows, text)
    return Table(printed, {name: {c: row[c] for c in columns} for name, row in found.rows.items()})


def caption(post: Posterior, verdict: Verdict | None = None) -> str:
    """Return what was fitted, how, under which guarantee, and what it is good for."""
    how = visible(f"{post.plan.get('model')} by {post.plan.get('sampler')}")
    good_for = "" if verdict is None else f" {str(verdict)[0].upper()}{str(verdict)[1:]}."
    weights = "" if verdict is None else verdict.weights()
    how += f" ({weights})" if weights else ""
    if not post.private:
        return f"Posterior of {how}. Without any privacy guarantee: {visible(str(post.guarantee.void))}.{good_for}"
    delta = delta_of(post)
    epsilon = upper(post.guarantee.epsilon(delta), 4)
    promise = f"({epsilon}, {delta:g})-differentially private for {visible(post.guarantee.unit)}"
    return f"Posterior of {how}, {promise}.{good_for}"


def cell(column: str, value: float, digits: int) -> str:
    """Return a number as the table shows it."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if column == "ess" else f"{value:.2f}" if column == "rhat" else f"{value:.{digits}g}"


def _markdown(head: list[str], rows: list[list[str]], text: str) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(_in_markdown(c) for c in cells) + " |"

    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([line(head), rule, *map(line, rows), "", text])


def _in_markdown(text: str) -> str:
    """Return a cell that is neither two cells nor HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", r"\|")


def _latex(head: list[str], rows: list[list[str]], text: str) -> str:
    def line(cells: list[str]) -> str:
        return " & ".join(_escaped(c) for c in cells) + r" \\"

    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(text)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\hline",
            line(head),
            r"\hline",
            *map(line, rows),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text)
