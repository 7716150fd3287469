"""Outlook: what every sampler's run can be expected to give, in one currency, from public facts alone.

Errors and widths are in units of the standard deviation of the posterior without privacy, for a coefficient whose truth
is a draw from the prior. Without privacy the error is 1 and so is the width. A prior is often a convention and the
truth beyond it, so samplers are compared by their errors for truths that are `FAR` times as far from its centre.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.public import Public
from ..models import Model
from .base import WARMUP_SHARE, RunSettings
from .directions import Directions, directions

Floats = npt.NDArray[np.float64]
LEVEL = 0.9
Z = 1.6448536269514722  # of a 90 % interval
FEWEST_FOR_INTERVAL = 10  # independent draws
LEAST_EFFECTIVE, ENOUGH_EFFECTIVE = 20.0, 100.0
NO_BETTER_THAN_PRIOR = 0.97  # of the prior's own error
POOR_WIDTH = 3.0
FAR = 2.0  # standard deviations of the prior
NOT_MUCH = 1.2  # what may be lost, if the truth is drawn from the prior, to lose less where it is not
LEAST_COVERAGE = 0.87  # forecast, of 90 % intervals that an approximation gives
NANOSECONDS, PER_RECORD, SECONDS = 2.5, 8.0, 0.05  # per coordinate, record and pass on one core; and once
OPEN = 1.02  # as wide as without privacy
FOUND = 0.75  # of a diffusion's effective draws, by the estimate from its chain: measured in rehearsals


@dataclass(frozen=True)
class Outlook:
    """What can be expected of a run. None where public facts do not say.

    Attributes
    ----------
    error
        Root mean square error of the posterior mean of a coefficient against the truth.
    prior_error
        The same of the prior's centre: a run above it is worse than no run.
    width
        Width of a 90 % interval over its width without privacy.
    coverage
        Share of truths that such an interval covers.
    prediction_error
        As `error`, for the linear predictor of a typical record.
    far_error, far_prediction_error
        Both errors if the truth is twice as far from the prior's centre as the prior expects.
    effective_draws
        Effective draws of all chains together, or the number of independent draws.
    is_chain
        Whether draws are the states of a chain.
    seconds, memory
        Of the run on one core, and of records and draws in bytes.
    records_share
        Share of the posterior's precision that comes from the records.
    even_width
        The width if rows had their declared norm and filled all directions alike.
    assumption
        What was assumed of the records.
    approximate
        Whether the draws ignore correlations between coefficients, so that intervals may be too narrow.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=10**6, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> outlook = dp.plan(dp.LogisticRegression(), public, epsilon=1.0, delta=1e-6).outlook
    >>> outlook.width < 1.5, outlook.is_chain, outlook.hopeless
    (True, False, None)
    """

    error: float | None = None
    prior_error: float | None = None
    width: float | None = None
    coverage: float | None = None
    prediction_error: float | None = None
    effective_draws: float | None = None
    is_chain: bool = False
    seconds: float | None = None
    memory: float | None = None
    records_share: float | None = None
    w: float = 1.0
    even_width: float | None = None
    assumption: str = ""
    far_error: float | None = None
    far_prediction_error: float | None = None
    approximate: bool = False

    @property
    def reach(self) -> float:
        """The larger of width and error: an interval that is too narrow for its error is no better."""
        return math.inf if self.error is None or self.width is None else max(self.width, self.error)

    def score(self, purpose: str, far: bool = True) -> float:
        """Return what a sampler is chosen by: smaller is better. `far`: for a truth that is beyond the prior."""
        if self.error is None or self.width is None or self.prediction_error is None:
            return math.inf
        error, predicted = self.error, self.prediction_error
        if far:
            error, predicted = self.far_error or error, self.far_prediction_error or predicted
        if purpose == "posterior":
            return max(self.width, error)
        return predicted if purpose == "prediction" else error

    @property
    def hopeless(self) -> str | None:
        """Why a run would waste its budget; None if it would not, or if nothing is known."""
        if self.is_chain and self.effective_draws is not None and self.effective_draws < LEAST_EFFECTIVE:
            return (
                f"about {max(self.effective_draws, 1.0):.2g} effective draws are expected ({LEAST_EFFECTIVE:g} needed)"
            )
        if self.error is None or self.prior_error is None or not math.isfinite(self.prior_error):
            return None
        if self.no_better_than_prior and self.prior_error > OPEN:
            return (
                f"the expected error, {self.error:.3g} standard deviations of the posterior without privacy, is no "
                f"smaller than that of the prior alone, {self.prior_error:.3g}"
            )
        return None

    @property
    def no_better_than_prior(self) -> bool:
        """Whether the error is that of the prior alone, also where the truth is farther than the prior expects."""
        errors = ((1.0, self.error), (FAR, self.far_error))
        known = [(far, error) for far, error in errors if error is not None]
        return self.prior_error is not None and all(
            error > NO_BETTER_THAN_PRIOR * far * self.prior_error for far, error in known
        )

    @property
    def poor(self) -> str | None:
        """Why a run may disappoint; None if nothing speaks for it."""
        if self.is_chain and self.effective_draws is not None and self.effective_draws < ENOUGH_EFFECTIVE:
            return f"about {self.effective_draws:.2g} effective draws are expected"
        if self.width == math.inf and self.error is not None:
            return f"an interval needs {FEWEST_FOR_INTERVAL} draws, and {self.effective_draws or 1.0:.0f} are planned"
        if self.reach > POOR_WIDTH and self.width is not None and self.error is not None:
            return f"90 % intervals are expected to be about {self.reach:.2g} times as wide as without privacy"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, None for one that is infinite."""
        plain = dataclasses.asdict(self)
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in plain.items()}


def of_errors(ways: Directions, error: Floats, width: Floats, **facts: Any) -> Outlook:
    """Return the outlook of a run whose squared errors and interval variances are given by direction."""
    base = ways.open_variance
    open_total = float(base.sum())
    prior = np.where(ways.prior > 0.0, 1.0 / np.where(ways.prior > 0.0, ways.prior, 1.0), np.inf)
    misses, reaches = float(error.sum()), float(width.sum())
    by_prior = float((ways.prior * np.minimum(width, prior)).mean()) if math.isfinite(float(prior.sum())) else 0.0
    known = {
        "coverage": math.erf(Z * math.sqrt(reaches / misses) / math.sqrt(2.0)),
        "records_share": min(1.0, max(0.0, 1.0 - by_prior)),
    }
    return Outlook(
        error=math.sqrt(misses / open_total),
        prior_error=math.sqrt(float(prior.sum()) / open_total),
        width=math.sqrt(reaches / open_total),
        prediction_error=math.sqrt(float((ways.moments * error).sum() / (ways.moments * base).sum())),
        assumption=ways.assumption,
        **(known | facts),
    )


def of_calibrated(ways: Directions, precision: Floats, **facts: Any) -> Outlook:
    """Return the outlook of draws from a posterior that accounts for all noise: intervals are as wide as errors."""
    farther = (ways.far**2 - 1.0) * ways.prior / precision**2
    return of_errors(ways, 1.0 / precision + farther, 1.0 / precision, coverage=LEVEL, w=1.0, **facts)


def of_tempered(ways: Directions, w: float, draws: int, **facts: Any) -> Outlook:
    """Return the outlook of independent draws from the posterior with the likelihood to the power w.

    The interval is the narrower of that of the draws and of ``Posterior.interval``, which undoes the prior's pull.
    """
    from scipy.special import stdtrit

    seen = w * ways.information + ways.prior
    error = (ways.far**2 * ways.prior + w**2 * ways.information) / seen**2 + 1.0 / (draws * seen)
    student = float("inf") if draws < FEWEST_FOR_INTERVAL else (float(stdtrit(draws - 1, 0.95)) / Z) ** 2
    told = np.maximum(w * ways.information, 1e-300)
    confident = 1.0 / np.maximum(ways.information, 1e-300) + seen / (draws * told**2)
    credible = (1.0 + 1.0 / draws) / seen
    width = student * (confident if confident.sum() < credible.sum() else credible)
    share = float((w * ways.information / seen).mean())
    return of_errors(
        ways, error, width, w=w, effective_draws=float(draws), records_share=share, coverage=LEVEL, **facts
    )


def of_chain(ways: Directions, w: float, time: float, chains: int, heat: float = 1.0, **facts: Any) -> Outlook:
    """Return the outlook of chains that diffuse for `time` each towards the tempered posterior.

    Along each direction a chain is an Ornstein-Uhlenbeck process that forgets its start at the rate of the posterior's
    precision. `heat` multiplies the variance of the target.
    """
    rate = w * ways.information + ways.prior
    start = ways.start
    if start is None:
        start = np.where(ways.prior > 0.0, ways.truth, 1.0 / rate)
    kept, skipped = (1.0 - WARMUP_SHARE) * time * rate, WARMUP_SHARE * time * rate
    kept = np.maximum(kept, 1e-9)
    felt = np.exp(-skipped) * -np.expm1(-kept) / kept
    own = np.where(kept < 1e-3, 1.0 - kept / 3.0, 2.0 * (kept + np.expm1(-kept)) / kept**2)
    tempered = (ways.far**2 * ways.prior + w**2 * ways.information) / rate**2
    variance = heat / rate
    error = tempered + own / chains * variance + felt**2 * start
    width = np.maximum(variance * (1.0 - own), 1e-12 * variance)
    told = FOUND * float(chains * (1.0 - WARMUP_SHARE) * time * variance.sum() / (2.0 * (variance / rate).sum()))
    share = float((w * ways.information / rate).mean())
    return of_errors(ways, error, width, w=w, is_chain=True, effective_draws=told, records_share=share, **facts)


def run_costs(ways: Directions, passes: float, draws: float, per_record: float | None = None) -> dict[str, float]:
    """Return seconds and memory of so many passes over all records, and of so many draws."""
    work = ways.dim if per_record is None else per_record
    width = ways.public.width + ways.public.has_target
    seconds = SECONDS + passes * ways.n * (work + PER_RECORD) * NANOSECONDS * 1e-9
    return {"seconds": seconds, "memory": 8.0 * (ways.n * width + draws * ways.dim)}


def outlook_of(
    settings: RunSettings, model: Model, public: Public, size: int | None, chains: int, init: Any = None
) -> Outlook:
    """Return what can be expected of settings; an empty outlook where public facts do not say."""
    draws = settings.releases(chains, None, None)
    is_chain = not draws.hidden
    typical, even = (directions(model, public, size, even) for even in (False, True))
    if typical is None or even is None or not hasattr(settings, "outlook"):
        return Outlook(is_chain=is_chain, w=settings.w)
    if init == "prior" and typical.prior.min() > 0.0:
        typical, even = (dataclasses.replace(ways, start=2.0 / ways.prior) for ways in (typical, even))
    elif init is not None and init != "prior":
        typical, even = (dataclasses.replace(ways, start=ways.open_variance) for ways in (typical, even))
    found, far = (settings.outlook(dataclasses.replace(typical, far=times), chains) for times in (1.0, FAR))
    return dataclasses.replace(
        found,
        is_chain=is_chain,
        even_width=settings.outlook(even, chains).width,
        far_error=far.error,
        far_prediction_error=far.prediction_error,
    )
