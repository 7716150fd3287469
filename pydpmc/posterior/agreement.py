"""How the looks of a Newton run agree with each other and with the model: public, because the looks are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import number, whole

SUSPICIOUS = 1e-3  # a p-value below it is worth a sentence


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
    """

    chi_square: float
    degrees: int
    predictor_sd: float
    curved: float

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
        if self.p_value < SUSPICIOUS:
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
        )
