"""What a rehearsal found, beside the forecast: text, HTML and a plot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from ..checks import visible_html
from ..samplers.outlook import Outlook

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rehearsal:
    """What happened when a plan ran on made-up records, beside its forecast.

    Attributes
    ----------
    coverage
        Share of true parameters within their 90 % intervals.
    error, error_to_open
        Root mean square error of posterior means against the truth, and against the posterior without privacy, in
        standard deviations of the latter. The coefficients of a softmax count less their mean over classes.
    width
        Width of 90 % intervals over their width without privacy (the median).
    prediction_error
        Root mean square error of predicted means of records over that without privacy; None if there is no target.
    rhat, effective_draws
        The largest R-hat and the fewest effective draws of a typical run; None where draws are independent.
    seconds
        Of a typical run.
    truths, estimates
        True values and posterior means, shape (runs, parameters).
    forecast
        The plan's outlook.
    """

    runs: int
    coverage: float
    error: float
    error_to_open: float
    width: float
    prediction_error: float | None
    rhat: float | None
    effective_draws: float | None
    seconds: float
    truths: Floats
    estimates: Floats
    forecast: Outlook

    def rows(self) -> list[tuple[str, str, str]]:
        """Return label, what happened, and the forecast."""
        seen = self.forecast
        rows = [
            ("coverage of 90 % intervals", f"{100 * self.coverage:.0f} %", _percent(seen.coverage)),
            ("error against the truth", f"{self.error:.3g}", _figure(seen.error)),
            ("error against no privacy", f"{self.error_to_open:.3g}", "-"),
            ("width against no privacy", f"{self.width:.3g}", _figure(seen.width)),
        ]
        if self.prediction_error is not None:
            predicted = _figure(seen.prediction_error)
            rows.append(("predictions against no privacy", f"{self.prediction_error:.3g}", predicted))
        if self.effective_draws is not None:
            rows.append(("effective draws", f"{self.effective_draws:.0f}", _figure(seen.effective_draws)))
            rows.append(("R-hat", "-" if self.rhat is None else f"{self.rhat:.3f}", "-"))
        return [*rows, ("seconds", f"{self.seconds:.2g}", _figure(seen.seconds))]

    def __str__(self) -> str:
        lines = [f"Rehearsal of {self.runs} runs on made-up records (void: nothing was charged)", ""]
        lines.append(f"  {'':<31}{'happened':>12}{'forecast':>12}")
        lines += [f"  {label:<31}{happened:>12}{forecast:>12}" for label, happened, forecast in self.rows()]
        return "\n".join([*lines, "", "Errors are in standard deviations of the posterior without privacy."])

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{visible_html(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        head = "<tr><th></th><th>happened</th><th>forecast</th></tr>"
        note = f"<p>{self.runs} runs on made-up records; void, nothing was charged.</p>"
        return f"<table><thead>{head}</thead><tbody>{cells}</tbody></table>{note}"

    def plot(self, ax: Any = None) -> Any:
        """Draw private estimates against the truth, with the line on which both agree."""
        pyplot = require("matplotlib.pyplot", "plots", "a plot of a rehearsal")
        ax = pyplot.subplots()[1] if ax is None else ax
        ax.scatter(self.truths.ravel(), self.estimates.ravel(), s=12)
        low, high = float(self.truths.min()), float(self.truths.max())
        ax.plot([low, high], [low, high], color="grey", linestyle="--", label="estimate = truth")
        ax.set(xlabel="truth", ylabel="private estimate", title=f"{self.runs} rehearsals")
        ax.legend()
        return ax


def _figure(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
