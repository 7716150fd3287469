"""What draws from a tempered posterior are worth, from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PosteriorSampleForecast:
    """How far the mean of the draws is from the truth, in units of what the data allow.

    A draw at weight w has 1 + 1/w times the variance of the maximum-likelihood estimate (Wang et al. 2015,
    proposition 9).
    """

    draws: int
    w: float
    clamped: bool

    @property
    def relative_variance(self) -> float:
        """Variance of the mean of the draws over that of the maximum-likelihood estimate."""
        return 1.0 + 1.0 / (self.draws * self.w)

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the plan's page."""
        who = "the draw" if self.draws == 1 else f"the mean of {self.draws} draws"
        worth = f"about {self.relative_variance:,.3g} times that of the best estimate, the pull of the prior apart"
        return [("variance", f"of {who}: {worth}")]

    def advice(self, private: bool) -> list[str]:
        """Return what would help."""
        if self.clamped and private:
            return ["the clamp biases the draws wherever it acts; a Lipschitz model with a Normal prior needs none."]
        return []
