"""How the outcomes differ from what the model says, by predicted value: the result of Newton's look at the fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import number

POOR = 1e-3  # p-value below which the model is in doubt


@dataclass(frozen=True)
class GoodnessOfFit:
    """Noised sums of residuals, grouped by predicted value, beside what the model and the noise allow.

    Attributes
    ----------
    theta
        The public point at which residuals were taken.
    edges
        Of the groups, in units of the linear predictor.
    residuals
        The released sums of residuals (of scores, clipped as in all looks), one per group.
    squares
        The released sums of their squares.
    sigma, tau
        Standard deviations of the noise on the two.
    covariance
        Of `residuals` if the model is right: sampling, estimation of theta and noise.
    statistic
        Sum of squares of the standardised residuals; chi^2 with one degree of freedom a group if the model is right.
    """

    theta: list[float]
    edges: list[float]
    residuals: list[float]
    squares: list[float]
    sigma: float
    tau: float
    covariance: list[list[float]]
    statistic: float

    @property
    def degrees(self) -> int:
        """Degrees of freedom of the statistic."""
        return len(self.residuals)

    @property
    def p_value(self) -> float:
        """The chance of residuals as large, if the model is right."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.statistic))

    @property
    def z(self) -> list[float]:
        """Residuals over their standard deviations."""
        return [r / math.sqrt(v) for r, v in zip(self.residuals, np.diag(self.covariance), strict=True)]

    @property
    def doubt(self) -> str:
        """Why the model is in doubt; empty if residuals do not speak against it."""
        if self.p_value >= POOR:
            return ""
        return f"outcomes differ from what the model predicts (p = {self.p_value:.2g}): see post.fit by predicted value"

    def __str__(self) -> str:
        ends = ["-inf", *(f"{edge:.3g}" for edge in self.edges), "inf"]
        lines = [f"chi^2 {self.statistic:.1f} on {self.degrees} degrees of freedom, p = {self.p_value:.2g}"]
        lines.append("linear predictor         residuals   over their sd")
        rows = zip(ends, ends[1:], self.residuals, self.z, strict=False)
        lines += [f"{f'{low} to {high}':<22}{r:>12.1f}{z:>16.2f}" for low, high, r, z in rows]
        return "\n".join(lines)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> GoodnessOfFit:
        """Return the inverse of ``vars``."""
        names = ("theta", "edges", "residuals", "squares")
        theta, edges, residuals, squares = ([number(x, name) for x in saved[name]] for name in names)
        sigma, tau, statistic = (number(saved[name], name) for name in ("sigma", "tau", "statistic"))
        covariance = [[number(x, "covariance") for x in row] for row in saved["covariance"]]
        return cls(theta, edges, residuals, squares, sigma, tau, covariance, statistic)
