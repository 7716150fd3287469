"""Variational inference by noised gradients (Jälkö, Dikmen, Honkela 2017)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...checks import positive, whole
from ...errors import BudgetError, InvalidArgument
from ..base import Release, all_at_once
from ..directions import Directions, directions
from ..outlook import FAR, LEAST_COVERAGE, Outlook, of_errors, run_costs
from ..request import clip_of_unit
from .adam import AveragedSteps, averaged_steps
from .base import Cyclical, GradientSampler, as_schedule
from .choose import MOST_RECORDS, UNCLIPPED_HEADROOM, UNCLIPPED_MOST, bound_on_gradient, refuse_unsupported
from .settings import GradientSettings

if TYPE_CHECKING:
    from ..request import Request

Floats = npt.NDArray[np.float64]
STEPS, RATE = 1000, 0.1  # by default: enough steps for Adam, on a tenth of the records each
FIRST, LAST = 0.1, 0.005  # step sizes at both ends, in units of `reach`
REACHES = (1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.03)  # of the prior's standard deviation: the best by forecast is taken
MOST_LOST = 1.15  # over the least forecast error, if the truth is drawn from the prior
LARGEST_REACH = 1.0  # where public facts allow no forecast, or the prior is flat
LEAST_NOISE, LEAST_SHARE = 0.3, 1e-9
AVERAGED = 7.0 / 16.0  # the running mean of T steps has the variance of a plain mean of this share of them
DRAWS = 4000
WIDE = 1e6  # standard deviation of q at most where the prior is flat
MOST_TRUTH, LEAST_PRECISION = 1e12, 1e-12


@dataclass(frozen=True)
class DPVI(GradientSampler):
    """Fit q = N(m, diag s^2) to the posterior by noised gradients of the evidence lower bound, and draw from q.

    A step reads the records at theta = m + s xi with a public xi, so the noised gradient of one SGLD step gives both
    gradients of the bound. The steps are those of Adam, and draws come from a running mean of m and log s, widened by
    the variance of that mean. A diagonal q ignores correlations, so intervals are too narrow where columns are
    correlated: `Newton` and the chains do not have this fault. Claim: every step is covered, as in SGLD. Proof:
    docs/privacy/dpvi.md.

    Parameters
    ----------
    steps
        Steps of Adam; 1000 by default.
    step_size
        How far m moves in a step, a number or a schedule; falls from 0.1 to 0.005 by default, in units of the prior's
        standard deviation or of a part of it: that with the least forecast error for truths that lie twice as far from
        the prior's centre as the prior expects. Shorter steps leave directions that noise hides at their start.
    noise_multiplier
        Standard deviation of the noise on the sum of clipped gradients, over `clip`; chosen from the budget by default.
    draws
        Independent draws from q; any number has the same price.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, dp.DPVI(), epsilon=1.0, delta=1e-6)
    >>> 0.99 < plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    core_name: ClassVar[str] = "dpvi"
    has_coverage: ClassVar[bool] = False
    supports_groups: ClassVar[bool] = True
    noise_multiplier: float | None = None
    draws: int = DRAWS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise_multiplier is not None:
            positive(self.noise_multiplier, "noise_multiplier")
        object.__setattr__(self, "draws", whole(self.draws, "draws"))

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> DPVI:
        """Return the sampler without tempering, which would buy nothing: the noise does not depend on it."""
        return cls()

    def choose(self, request: Request) -> VariationalSettings:
        """Choose the noise that the budget pays for; all else is fixed by public facts."""
        refuse_unsupported(request)
        settings = self._with_noise(request, self._draft(request))
        ways = directions(request.model, request.public, request.n)
        if self.step_size is not None or ways is None or ways.prior.min() <= 0.0:
            return settings
        far, widest = dataclasses.replace(ways, far=FAR), float(np.median(settings.widest))

        found = [settings.reaching(widest * share) for share in REACHES]
        near = [one.outlook(ways, request.chains) for one in found]
        most = MOST_LOST * min(one.error or math.inf for one in near)

        def rank(k: int) -> tuple[bool, bool, float]:
            covers = (near[k].coverage or 0.0) >= LEAST_COVERAGE
            beyond = found[k].outlook(far, request.chains).error or math.inf
            return not covers, (near[k].error or math.inf) > most, beyond

        return found[min(range(len(found)), key=rank)]

    def _with_noise(self, request: Request, settings: VariationalSettings) -> VariationalSettings:
        """Return the settings with the least noise that the budget pays for; step sizes do not change its price."""
        if self.noise_multiplier is not None or not request.private:
            return settings
        if request.epsilon is None:
            raise InvalidArgument("noise_multiplier must be set in the sampler when no epsilon is given")
        try:
            return request.largest(
                lambda share: dataclasses.replace(settings, noise_multiplier=LEAST_NOISE / share),
                (LEAST_SHARE, 1.0),
                integer=False,
            )
        except BudgetError:
            raise BudgetError(
                f"steps: epsilon = {request.epsilon:g} cannot pay for {settings.steps} steps at any noise; lower steps"
            ) from None

    def _draft(self, request: Request) -> VariationalSettings:
        model, public, n = request.model, request.public, request.n
        precision = model.prior_precision(public)
        widest = np.where(precision > 0.0, 1.0 / np.sqrt(np.where(precision > 0.0, precision, 1.0)), WIDE)
        reach = min(LARGEST_REACH, float(np.median(widest)))
        sampling, batch = self._batch(request)
        clip, noise = self._clip_and_noise(request)
        ways = directions(model, public, n)
        guess = 0.1 * reach if ways is None else math.sqrt(float(ways.open_variance.mean()))
        return VariationalSettings(
            sampler=self.core_sampler,
            steps=STEPS if self.steps is None else whole(self.steps, "steps"),
            dim=request.dim,
            schedule=falling(reach) if self.step_size is None else as_schedule(self.step_size),
            friction=0.0,
            friction_of_noise=1.0,
            clip=clip,
            w=request.w,
            n=n,
            sampling=sampling,
            rate=1.0 if sampling == "full" or n is None else batch / n,
            batch_size=batch,
            room=MOST_RECORDS if request.private and request.adjacency == "add_remove" else public.n,
            noise_multiplier=noise,
            reach=reach,
            start_s=tuple(np.minimum(widest, guess).tolist()),
            widest=tuple(widest.tolist()),
            draws=self.draws,
        )

    def _batch(self, request: Request) -> tuple[str, int]:
        if self.sampling == "full" or request.n is None:
            return "full", 0
        batch = self.batch_size if self.batch_size is not None else math.ceil(RATE * request.n)
        return (self.sampling or "poisson", batch) if batch < request.n else ("full", 0)

    def _clip_and_noise(self, request: Request) -> tuple[float, float]:
        if request.private:
            return bound_on_gradient(request), self.noise_multiplier or LEAST_NOISE
        model, public = request.model, request.public
        typical = self.clip or clip_of_unit(model, public) or model.typical_lipschitz(public) or 1.0
        return 4.0 * typical, self.noise_multiplier or 1.0 / min(UNCLIPPED_MOST, UNCLIPPED_HEADROOM / max(public.n, 1))


def falling(reach: float) -> Cyclical:
    """Return the default step sizes."""
    return Cyclical(FIRST * reach, LAST * reach, 1)


@dataclass(frozen=True)
class VariationalSettings(GradientSettings):
    """A fully specified run of DPVI."""

    noise_multiplier: float = 1.0
    reach: float = 1.0  # a length of theta: the unit of step sizes
    start_s: tuple[float, ...] = ()
    widest: tuple[float, ...] = ()
    draws: int = DRAWS

    def reaching(self, reach: float) -> VariationalSettings:
        """Return the same run with step sizes for another length of theta."""
        return dataclasses.replace(self, schedule=falling(reach), reach=reach)

    @property
    def noise(self) -> Floats:
        """The standard deviation of the noise on the clipped sum of gradients, for every step."""
        return np.full(self.steps, self.noise_multiplier * self.clip)

    @property
    def core_parameters(self) -> dict[str, list[float]]:
        """The parameters of the step by their names in the core."""
        return {"reach": [self.reach], "start_s": list(self.start_s), "widest": list(self.widest)}

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which draws are released: draws from q after the last step."""
        return all_at_once(self.steps, chains, self.draws, draws, warmup)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected: the law q, and the running mean of Adam's steps."""
        seen, end = self._end(ways)
        learned = (1.0 - end.left) * self.w * ways.information / seen
        error = (1.0 - learned) ** 2 * np.minimum(ways.truth, MOST_TRUTH) + end.variance
        error += learned**2 / np.maximum(ways.information, LEAST_PRECISION)
        wide = self._variance_of_q(seen, end.square)
        told = 1.0 / np.maximum(ways.prior, 1.0 / WIDE**2)
        width = wide + np.minimum(wide**2 * end.square / (AVERAGED * self.steps), told)
        share = float((learned**2).mean())
        costs = run_costs(ways, self.steps * chains * self.rate, self.draws)
        known = {"effective_draws": float(self.draws), "records_share": share, "approximate": True}
        return of_errors(ways, error, width, w=self.w, **known, **costs)

    def _end(self, ways: Directions) -> tuple[Floats, AveragedSteps]:
        """Return the curvature of the target, and where the steps end, along each direction."""
        seen = self.w * ways.information + ways.prior
        sampled = self.rate * (1.0 - self.rate) * ways.information  # variance of a batch's sum
        noise = (self.w / self.rate) ** 2 * (sampled + float(self.noise[0]) ** 2) + seen  # and of theta around m
        share = self.w * ways.information / seen
        start = share**2 * np.minimum(ways.truth, MOST_TRUTH) + share / seen
        return seen, averaged_steps(self.step_sizes, seen, start, noise)

    def _variance_of_q(self, seen: Floats, square: float) -> float:
        """Return s^2, which goes from its public start to the inverse of a column's curvature unless noise hides it."""
        start, end = float(np.mean(np.square(self.start_s))), 1.0 / float(seen.mean())
        steps = float(self.step_sizes.sum()) / self.reach
        learned = -math.expm1(-2.0 * steps / max(1.0, start * square))
        return math.exp((1.0 - learned) * math.log(start) + learned * math.log(end))

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return super().describe() | {"noise_multiplier": self.noise_multiplier, "draws": self.draws}

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        fitted = "normal with independent coefficients, widened by the noise of the fit"
        return [*super().rows(size), ("approximation", fitted)]
