"""What a result is good for, in one sentence: a function of the draws and of public facts, so it costs nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .prior_share import Weights, weight_of, weights_of, wider_than_without_privacy

if TYPE_CHECKING:
    from .posterior import Posterior
    from .summary import Summary

Kind = Literal["useful", "read with caution", "pulled to the prior", "do not use"]
FEWEST_DRAWS, WANTED_DRAWS = 20.0, 100.0  # that a chain is worth: below the first its draws are no posterior
MOST_RHAT, WANTED_RHAT = 1.2, 1.05
RECORDS_RULE = 0.8  # share of the precision: the prior decides little of a mean beyond it
PRIOR_RULES = 0.5  # below it the prior decides more than the records, with privacy or without
AS_WIDE = 1.05
AS_WITHOUT_PRIVACY = 0.9  # of the records' share without privacy: then it is the model's prior that pulls


@dataclass(frozen=True)
class Verdict:
    """What a result is good for; prints as one sentence.

    Attributes
    ----------
    kind
        ``"useful"``, ``"read with caution"``, ``"pulled to the prior"`` or ``"do not use"``.
    reason
        Why, with its figure.
    records
        Share of the draws' precision that the records bring, averaged over all directions; the prior has the rest.
        None if priors are neither Normal nor Flat, or draws are too few to tell.
    w
        The tempering weight of the likelihood, 1 if it is not tempered.
    """

    kind: Kind
    reason: str
    records: float | None = None
    w: float = 1.0

    @property
    def usable(self) -> bool:
        """Whether intervals and densities of these draws mean anything."""
        return self.kind != "do not use"

    def weights(self) -> str:
        """Return the tempering weight and the prior's share, for captions; empty if neither is worth a word."""
        kind = "tempered" if self.w < 1.0 else "a cold posterior"
        tempering = "" if self.w == 1.0 else f"{kind}, w = {self.w:.3g}"
        share = "" if self.records is None else f"the prior has {percent(1.0 - self.records)} of the weight"
        return "; ".join(text for text in (tempering, share) if text)

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def verdict(post: Posterior, table: Summary) -> Verdict:
    """Return what the posterior is good for; `table` is its summary.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> data = dp.Data(np.r_[np.ones(700), np.zeros(300)])
    >>> still = dp.sample(dp.BernoulliLogit(), data, dp.Barker(steps=30, scale=1e-9), progress=False, anyway=True)
    >>> still.verdict.kind
    'do not use'
    """
    w = weight_of(post)
    failure = _failure(post, table)
    if failure:
        return Verdict("do not use", failure, None, w)
    found = weights_of(post)
    records = None if found is None else found.records
    wider = wider_than_without_privacy(post) if post.private else None
    if found is not None and _pulled(found):
        return Verdict("pulled to the prior", _pull(found, wider), records, w)
    doubt = _doubt(post, table)
    if doubt:
        return Verdict("read with caution", doubt, records, w)
    return Verdict("useful", _use(post, records, wider), records, w)


def percent(share: float) -> str:
    """Return a share as text.

    Examples
    --------
    >>> percent(0.1234), percent(0.9999), percent(0.002)
    ('12 %', 'over 99 %', 'under 1 %')
    """
    if share < 0.01:
        return "under 1 %"
    return "over 99 %" if share > 0.99 else f"{100.0 * share:.0f} %"


def _failure(post: Posterior, table: Summary) -> str:
    """Return why the draws are none of a posterior, if they are not."""
    if any(values.size == 0 for values in post.draws.values()):
        return "the run was stopped before it made a draw"
    if post.plan.get("independent_draws"):
        return ""
    chain = "the chain" if next(iter(post.draws.values())).shape[0] == 1 else "a chain"
    if any(np.ptp(values, axis=1).min() == 0.0 for values in post.draws.values()):
        return f"{chain} did not move"
    ess, rhat = _worst(table)
    if math.isnan(ess):
        return "there are too few draws to tell whether the chain moved"
    if ess < FEWEST_DRAWS or rhat > MOST_RHAT:
        return f"{chain} did not mix: R-hat is {rhat:.2f}, and all draws are worth {ess:.0f} independent ones"
    return ""


def _worst(table: Summary) -> tuple[float, float]:
    return float(table.column("ess").min()), float(table.column("rhat").max())


def _doubt(post: Posterior, table: Summary) -> str:
    if post.agreement is not None and post.agreement.doubt:
        return post.agreement.doubt
    if post.fit is not None and post.fit.doubt:
        return post.fit.doubt
    told = post.plan.get("outlook")
    if isinstance(told, dict) and told.get("approximate"):
        return "intervals ignore correlations between coefficients, and are too narrow where columns are correlated"
    if post.plan.get("independent_draws"):
        return ""
    ess, rhat = _worst(table)
    if ess < WANTED_DRAWS:
        return f"all draws are worth {ess:.0f} independent ones; {WANTED_DRAWS:.0f} are wanted"
    return f"R-hat is {rhat:.2f}; {WANTED_RHAT} is wanted" if rhat > WANTED_RHAT else ""


def _pulled(found: Weights) -> bool:
    if found.records >= RECORDS_RULE or found.records < PRIOR_RULES:
        return found.records < PRIOR_RULES
    return found.without_privacy is None or found.records < AS_WITHOUT_PRIVACY * found.without_privacy


def _pull(found: Weights, wider: float | None) -> str:
    without = "" if found.without_privacy is None else f" ({percent(found.without_privacy)} without privacy)"
    undone = ""
    if wider is not None:
        undone = f"; interval() undoes the pull, {_times(wider)}as wide as without privacy"
    return f"the records had {percent(found.records)} of the weight{without}{undone}"


def _use(post: Posterior, records: float | None, wider: float | None) -> str:
    if wider is not None:
        return f"intervals about {_times(wider)}as wide as without privacy"
    count = next(iter(post.draws.values()))[:, :, 0].size
    if post.plan.get("independent_draws") and count == 1:
        return "one draw of the posterior, from which no spread and no interval follow"
    share = f"{count:,} draws" if records is None else f"the records had {percent(records)} of the weight"
    if not post.private:
        return share
    forecast = _forecast_width(post)
    if forecast is None:
        return f"{share}; no width without privacy is known to compare with"
    return f"{share}; intervals were forecast to be about {_times(forecast)}as wide as without privacy"


def _forecast_width(post: Posterior) -> float | None:
    """Return the width that the plan told for intervals that hold all noise: where looks hold nothing to compare."""
    told = post.plan.get("outlook")
    width = told.get("width") if post.looks and isinstance(told, dict) else None
    usable = isinstance(width, int | float) and not isinstance(width, bool) and 0.0 < width < math.inf
    return float(width) if usable else None  # type: ignore[arg-type]


def _times(wider: float) -> str:
    if wider <= AS_WIDE:
        return ""
    return f"{wider:.2g} times " if wider < 100 else f"{wider:,.0f} times "
