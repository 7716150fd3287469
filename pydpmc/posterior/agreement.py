"""How the looks of a Newton run agree with each other and with the model: public, because the looks are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import number, whole

SUSPICIOUS, WRONG = 1e-3, 1e-6  # a p-value below the first is worth a sentence, below the second a warning
FAR_OFF = 4.0  # standard errors of the spread of residuals
MOST_CUT, SURE = 0.12, 2.0  # mean square of clipped gradients over that of the clip, and standard errors beyond it
LEAST_SHOWN = 2.0  # standard deviations of the noise
MOST_MOVED = 4.0  # standard deviations of the posterior


@dataclass(frozen=True)
class Agreement:
    """The free check of a Newton run: the looks measure one posterior from several points.

    Attributes
    ----------
    chi_square
        The disagreement of the looks per degree of freedom; about 1, or less, if their noise explains it.
    degrees
        Degrees of freedom; 0 after a single look, which cannot disagree.
    predictor_sd
        Posterior standard deviation of a typical record's linear predictor: well below 1 the posterior is nearly
        normal.
    curved
        How much of the skewness that the model implies the draws carry, 0 to 1; 0 where it does not show.
    spread, spread_error
        Mean square of the records' scores over what the model implies (above 1: counts that spread more than the model
        says), and its standard error; None for models whose looks do not show it.
    moments
        What the looks show of the columns (with an intercept's first): their mean and covariance, for rehearsals at the
        estimate. None for a softmax.
    cut, cut_error
        For outer products of gradients of models of your own: the mean square of the records' clipped gradients over
        the clip's square, and its standard error. No larger share of the records can have been clipped; if it is
        large, many may have been, and the posterior is biased. None where the number of records is private.
    shown
        For models of your own: the least curvature of a parameter of the likelihood over the standard deviation of its
        noise. Where it is small, the clip or the budget hides what the records say of the parameter.
    moved
        For Hessians of models of your own: how far the posterior's mean is from the last look, in standard deviations
        of the posterior, for the parameter that is farthest. Where it is large, the looks have not settled.
    """

    chi_square: float
    degrees: int
    predictor_sd: float
    curved: float
    spread: float | None = None
    spread_error: float | None = None
    moments: tuple[list[float], list[list[float]]] | None = None
    cut: float | None = None
    cut_error: float | None = None
    shown: float | None = None
    moved: float | None = None

    @property
    def doubt(self) -> str:
        """Why the model is in doubt; empty if the looks do not speak against it."""
        if self.cut is not None and self.cut_error is not None and self.cut - SURE * self.cut_error > MOST_CUT:
            return (
                f"the clip may bias the posterior: the mean square of the clipped gradients is {self.cut:.2g} of the "
                f"clip's, above {MOST_CUT}, so that many may have been cut off; take a larger "
                "clip, or state a lipschitz that no gradient exceeds"
            )
        if self.p_value < WRONG:
            return (
                f"the looks disagree (chi^2 of {self.chi_square:.2g} per degree of freedom): intervals were widened, "
                "but the model may be wrong, or the number of records misjudged where public_n is not declared"
            )
        if self.moved is not None and self.moved > MOST_MOVED:
            return (
                f"the looks have not settled: the posterior lies {self.moved:.2g} of its standard deviations from the "
                "last of them. Where a log-likelihood is not concave, Hessians without their negative parts overstate "
                'the curvature and steps are too short; take curvature="outer"'
            )
        if self.shown is not None and self.shown < LEAST_SHOWN:
            return (
                f"what the looks show of a parameter is {max(self.shown, 0.0):.2g} times their noise, below "
                f"{LEAST_SHOWN:g}: its interval may be too short; take a smaller clip, more budget or more records"
            )
        if self.spread is None or self.spread_error is None or abs(self.spread - 1.0) < FAR_OFF * self.spread_error:
            return ""
        remedy = "NegativeBinomialRegression has a larger spread" if self.spread > 1.0 else "look for a better model"
        return f"outcomes spread {self.spread:.2g} times as much as the model says (variances); {remedy}"

    @property
    def p_value(self) -> float:
        """The chance of looks that disagree as much, if the model and the noise explain them."""
        from scipy.special import chdtrc

        return 1.0 if self.degrees == 0 else float(chdtrc(self.degrees, self.chi_square * self.degrees))

    def __str__(self) -> str:
        freedom = f"per degree of freedom ({self.degrees}), p = {self.p_value:.2g}"
        lines = [
            f"disagreement of the looks  {self.chi_square:.2f} {freedom}",
            f"sd of a linear predictor   {self.predictor_sd:.3g}",
        ]
        if self.spread is not None:
            lines.append(f"spread over the model's     {self.spread:.2f} ± {self.spread_error:.2f}")
        if self.cut is not None:
            lines.append(f"clipped gradients          {self.cut:.2g} ± {self.cut_error:.1g} of the clip (squares)")
        if self.doubt:
            lines.append(f"{self.doubt[0].upper()}{self.doubt[1:]}.")
        elif self.p_value < SUSPICIOUS:
            lines.append("The looks disagree: intervals were widened, but the model may be wrong.")
        return "\n".join(lines)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Agreement:
        """Return the inverse of ``vars``."""
        return cls(
            number(saved["chi_square"], "chi_square"),
            whole(saved["degrees"], "degrees", least=0),
            number(saved["predictor_sd"], "predictor_sd"),
            number(saved["curved"], "curved"),
            spread=_optional(saved, "spread"),
            spread_error=_optional(saved, "spread_error"),
            moments=None if saved.get("moments") is None else _moments(saved["moments"]),
            cut=_optional(saved, "cut"),
            cut_error=_optional(saved, "cut_error"),
            shown=_optional(saved, "shown"),
            moved=_optional(saved, "moved"),
        )


def _optional(saved: Mapping[str, Any], name: str) -> float | None:
    return None if saved.get(name) is None else number(saved[name], name)


def _moments(saved: Any) -> tuple[list[float], list[list[float]]]:
    mean, covariance = saved
    entries = [[number(x, "moments") for x in row] for row in covariance]
    return [number(x, "moments") for x in mean], entries
