"""The table of a posterior: one row per scalar parameter."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import visible, visible_html
from ..diagnostics import ess, rhat
from ..errors import ConvergenceWarning
from .frames import AsFrames

if TYPE_CHECKING:
    from .posterior import Posterior
    from .verdict import Verdict

Floats = npt.NDArray[np.float64]
LARGEST_RHAT, ENOUGH_DRAWS = 1.05, 100.0
MOST_JUDGED = 1000  # parameters whose convergence is looked at
COLUMNS = ("mean", "sd", "5%", "50%", "95%", "ess", "rhat")


@dataclass(frozen=True)
class Summary(AsFrames):
    """Rows by parameter name, each a mapping from column to number; prints as a table."""

    rows: Mapping[str, Mapping[str, float]]
    note: str = ""  # printed below the table
    verdict: Verdict | None = None

    def __getitem__(self, name: str) -> Mapping[str, float]:
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Floats:
        """Return one column as an array, in the order of the rows."""
        return np.array([row[name] for row in self.rows.values()])

    def __str__(self) -> str:
        width = max([9, *(len(visible(name)) for name in self.rows)])
        lines = [" " * width + "".join(f"{c:>11}" for c in COLUMNS)]
        for name, row in self.rows.items():
            lines.append(f"{visible(name):<{width}}" + "".join(f"{_cell(c, row[c]):>11}" for c in COLUMNS))
        return "\n".join([*lines, self.note] if self.note else lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{visible_html(c)}</th>" for c in COLUMNS)
        body = "".join(
            f"<tr><th>{visible_html(name)}</th>" + "".join(f"<td>{_cell(c, row[c])}</td>" for c in COLUMNS) + "</tr>"
            for name, row in self.rows.items()
        )
        notes = "".join(f"<p>{visible_html(line)}</p>" for line in self.note.splitlines())
        return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def summarise(draws: Mapping[str, Floats], labels: Mapping[str, tuple[str, ...]], independent: bool = False) -> Summary:
    """Return the summary of draws of shape (chain, draw, size) by parameter name.

    Independent draws are worth their number, and there is nothing for R-hat to compare.
    """
    return Summary({name: _row(values, independent) for name, values in scalar_draws(draws, labels).items()})


def scalar_draws(draws: Mapping[str, Floats], labels: Mapping[str, tuple[str, ...]]) -> dict[str, Floats]:
    """Return the draws of every scalar parameter, of shape (chain, draw), by its name in tables and plots."""
    scalars = {}
    for name, values in draws.items():
        for j, row_name in enumerate(row_names(name, values.shape[2], labels)):
            scalars[row_name] = values[:, :, j]
    return scalars


def row_names(name: str, size: int, labels: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the name of each entry of a parameter."""
    entries = labels.get(name)
    if size == 1 and not entries:
        return (name,)
    return tuple(f"{name}[{entry}]" for entry in entries or range(size))


def _row(values: Floats, independent: bool) -> dict[str, float]:
    if values.shape[1] == 0:
        return dict.fromkeys(COLUMNS, float("nan"))
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    numbers = (values.mean(), values.std(ddof=1) if values.size > 1 else 0.0, low, middle, high)
    mixing = (float(values.size), math.nan) if independent else (ess(values), rhat(values))
    return dict(zip(COLUMNS, (*map(float, numbers), *mixing), strict=True))


def _cell(column: str, value: float) -> str:
    if not np.isfinite(value):
        return "-"
    return f"{value:.0f}" if column == "ess" else f"{value:.3f}" if column == "rhat" else f"{value:.4g}"


def warn_of_convergence(post: Posterior) -> None:
    """Warn once of draws that have not converged."""
    doubt = doubt_of(post)
    if doubt is not None:
        warnings.warn(doubt, ConvergenceWarning, stacklevel=4)


def doubt_of(post: Posterior) -> str | None:
    """Return why draws are in doubt, or the model where ``Newton`` looked; None if nothing speaks against them."""
    if post.agreement is not None and post.agreement.doubt:
        return post.agreement.doubt
    if post.fit is not None and post.fit.doubt:
        return post.fit.doubt
    if post.plan.get("independent_draws") or post.interrupted:
        return None
    size = sum(values.shape[2] for values in post.draws.values())
    apart = -(-size // MOST_JUDGED)  # of a network's weights, every so manyth is judged
    table = summarise({name: values[:, :, ::apart] for name, values in post.draws.items()}, {}, independent=False)
    rhat, ess = (table.column(name) for name in ("rhat", "ess"))
    worst, fewest = _largest(rhat), -_largest(-ess)
    if not (worst > LARGEST_RHAT or fewest < ENOUGH_DRAWS):
        return None
    return (
        f"the draws have not converged: R-hat is up to {worst:.3g} (1.05 at most), and a parameter has {fewest:.0f} "
        "effective draws (100 at least); their intervals are not to be trusted"
    )


def _largest(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else float("nan")
