"""The run: look, pool, choose the next point; draw when the budget is spent."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import BudgetError
from ...posterior.agreement import FAR_OFF, Agreement
from ...posterior.looks import Look
from .clips import Predictors
from .draws import Numbers, posterior_draws
from .families import ROUNDING_OF_NORM
from .fit import look_at_fit, noise_of_fit
from .forecast import moment_of_a_column
from .look import look_of
from .mixtures import MixturePrior
from .pooling import Pooled, pool
from .reclip import better_clip, first_clip, guide
from .sensitivity import LEAST_MU
from .softmax_features import SoftmaxFeatures
from .spread import blank, spread_of_scores
from .surrogate import GaussianFeatures

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...posterior.goodness import GoodnessOfFit
    from .settings import NewtonSettings

Floats = npt.NDArray[np.float64]
NOTHING_LEFT = 1e-6  # of mu^2
LEAST_DESIGN = 1e-3
SETTLED = 0.02  # squared distance of the mean from the last look, at which the spread of counts can be seen


class NewtonRun:
    """Looks under a fixed sum of mu_k^2; every choice is a function of public facts and earlier looks."""

    def __init__(self, settings: NewtonSettings, core: Any, target: Target, chains: Chains, data: Data) -> None:
        self._settings, self._core = first_clip(settings), core
        self._family = self._settings.family
        self._draws, self._seed = chains.draws, chains.seed
        self._prior = MixturePrior.of(target.prior[: settings.coefficients])
        self._theta: Floats = np.array(chains.init[0][: settings.coefficients], dtype=np.float64)
        self._looks_of_core = self._start(target, data)
        self._surrogate: GaussianFeatures | None = None
        self._guide = None if self._family.table is None else guide(self._settings, self._prior)
        self._n: float | None = None
        self._pooled_from = 0  # looks before it had another clip
        self._share: float | None = None
        self.pooled: Pooled | None = None
        self.looks: list[Look] = []
        self.spent: list[float] = []  # mu_k^2
        self.spread: tuple[float | None, float | None] = (None, None)
        self.fit: GoodnessOfFit | None = None
        self.steps_done = 0
        self._stopped = False

    def _start(self, target: Target, data: Data) -> Any:
        """Return the run of the core."""
        return self._core.NewtonRun(
            rows=data._rows,
            columns=data.public.width,
            has_target=data.public.has_target,
            model=target.model,
            intercept=target.intercept,
            constants=self._constants(target),
            dim=self._settings.coefficients,
            seed=self._seed,
            squares=data.row_squares(),
            **({} if data._weights is None else {"weights": data._weights}),
        )

    def _constants(self, target: Target) -> tuple[float, ...]:
        return tuple(target.constants)

    @property
    def _pooling_prior(self) -> Any:
        """The prior beside which looks are pooled."""
        return self._prior

    def stop(self) -> None:
        """Leave the look under way, and take no more."""
        self._stopped = True
        self._looks_of_core.stop()

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Take so many looks; after the last, draw."""
        for _ in range(steps):
            if self._stopped or self.steps_done >= self._settings.steps:
                return
            self._look(threads, block)
            if self._stopped:
                return
            if self._left <= 0.0 or self.steps_done + 1 == self._settings.steps:
                self._finish(threads, block)
            else:
                self.steps_done += 1

    @property
    def agreement(self) -> Agreement | None:
        """How well the looks agree."""
        if self.pooled is None:
            return None
        pooled, dim = self.pooled, self._settings.coefficients
        curved = 0.0 if pooled.curved is None else pooled.curved.weight
        degrees = dim * (len(self.looks) - self._pooled_from - 1)
        reach, seen = math.sqrt(max(pooled.reach_square, 0.0)), self._surrogate
        moments = None
        if isinstance(seen, GaussianFeatures) and self._family.predictors == 1:
            moments = (seen.q.tolist(), seen.S.tolist())
        return Agreement(pooled.chi_square, degrees, reach, curved, *self.spread, moments=moments)

    @property
    def _left(self) -> float:
        """The share of mu^2 that is left."""
        left = 1.0 - math.fsum(self.spent) / self._settings.estimating_mu**2
        return left if left > max(NOTHING_LEFT, (LEAST_MU / self._settings.estimating_mu) ** 2) else 0.0

    def _look(self, threads: int, block: int) -> None:
        self._reclip()
        settings, family = self._settings, self._family
        moved = math.inf if self.pooled is None else self.pooled.moved_square
        self._share = settings.schedule.share(self._left, self._share, moved, len(self.looks))
        mu = max(settings.estimating_mu * math.sqrt(min(self._share, self._left)), LEAST_MU)
        outer = self._is_outer(self._share >= self._left or len(self.looks) == settings.steps - 1)
        bounds = settings.bounds_of(outer)
        sigma, tau = settings.noise(mu, bounds)
        self._charge(settings.price(sigma, tau, bounds))
        released = self._looks_of_core.look(
            theta=self._theta.tolist(),
            clip=bounds.gradient,
            sigma=sigma,
            curvature_clip=bounds.curvature,
            tau=tau,
            largest_square=(family.radius * ROUNDING_OF_NORM) ** 2,
            limits=family.limits,
            outer=outer,
            block_of=list(settings.blocks),
            table=None if family.table is None else (family.table.rows, family.table.first, family.table.per_unit),
            threads=threads,
            block=block,
        )
        if self._stopped:  # what the core returned is no look
            return
        scale = 1.0 if outer and settings.curvature != "outer" else family.scale
        released[settings.coefficients :] *= scale
        look = look_of(self._theta, released, settings.blocks, sigma, tau * scale)
        clip = None if family.table is None else family.limits
        self.looks.append(dataclasses.replace(look, outer=outer, clip=clip))
        self._pool()

    def _is_outer(self, last: bool) -> bool:
        """Whether the next look is at outer products of gradients."""
        if self._settings.public.max_weight is not None:
            return last
        if self._settings.curvature == "outer" or self._family.table is None or self.pooled is None or last:
            return self._settings.curvature == "outer"
        here = self.looks[self._pooled_from :]
        return bool(here) and not any(look.outer for look in here) and self.pooled.moved_square < SETTLED

    def _charge(self, mu: float) -> None:
        """Refuse a look that the rest of the budget does not pay for."""
        if not math.fsum([*self.spent, mu * mu]) <= self._settings.mu**2 * (1.0 + 1e-12):  # also if it is no number
            raise BudgetError("a look would cost more than is left of the plan's budget; this is a bug in pydpmc")
        self.spent.append(mu * mu)

    def _reclip(self) -> None:
        """Take the clip of counts that the looks speak for, if it is worth the looks with the old one."""
        before, features, looks = self._settings, self._surrogate, len(self.looks)
        if self._family.table is None or self.pooled is None or features is None or looks > before.steps - 3:
            return
        spent = math.fsum(self.spent[self._pooled_from :]) / before.estimating_mu**2
        predictors = Predictors.shown(features, self._theta, self.pooled.reach_square)
        clip = better_clip(before, predictors, features, self._left, spent)
        if clip is not None:
            self._begin(dataclasses.replace(before, clip=clip))

    def _begin(self, settings: NewtonSettings) -> None:
        """Begin looks with another clip; those before it are not pooled."""
        self._settings, self._family = settings, settings.family
        self._pooled_from, self._surrogate, self._share = len(self.looks), None, None

    def _pool(self) -> None:
        if self._surrogate is None:
            self._surrogate = self._features()
        looks = self.looks[self._pooled_from :]
        if self._settings.public.max_weight is not None:
            looks = self._weighted_looks(looks)
        elif self._family.table is not None and self._settings.curvature != "outer":
            self._look_at_spread(looks)
            looks = [blank(look) if look.outer else look for look in looks]
        self.pooled = pool(looks, self._guide or self._pooling_prior, self._surrogate, self._family.radius)
        self._theta = self.pooled.mean

    def _look_at_spread(self, looks: list[Look]) -> None:
        """Compare the spread of counts with the model's; where it is larger, so is the covariance of scores."""
        self.spread = (None, None)
        seen = [look for look in looks if look.outer]
        if not seen or self._surrogate is None:
            return
        self._surrogate.fit([look for look in looks if not look.outer])
        found, error = spread_of_scores(seen[0], self._theta, self._surrogate)
        self.spread = found, error
        self._surrogate.design = found if found - 1.0 > FAR_OFF * error else 1.0

    def _weighted_looks(self, looks: list[Look]) -> list[Look]:
        """Return the looks at curvatures, and what the one at outer products says of gradients alone.

        Its trace, over that of the gradients' covariance if all weights were 1, is the design effect: the mean of
        squared weights over the mean of weights, at most the largest weight unless the look surely shows more. Its
        entries show how the effect differs between directions (`covariance_of_scores`).
        """
        assert self._surrogate is not None
        most, last = self._settings.public.max_weight, looks[-1]
        assert most is not None
        self._surrogate.design, self._surrogate.outer = most, None
        if not last.outer:
            return looks
        self._surrogate.fit(looks[:-1])
        implied = max(float(np.trace(self._surrogate.covariance(last.theta))), 1e-300)
        effect, error = float(np.trace(last.curvature)) / implied, last.tau * math.sqrt(len(last.theta)) / implied
        if effect - most < FAR_OFF * error:
            effect = min(effect, most)
        self._surrogate.design, self._surrogate.outer = max(effect, LEAST_DESIGN * most), last
        return [*looks[:-1], blank(last)]

    def _features(self) -> GaussianFeatures:
        family, blocks, records = self._family, self._settings.blocks, self._records()
        if family.predictors > 1:
            return SoftmaxFeatures(records, family.link, family.constant, blocks, family.predictors)
        even = None if family.table is None else moment_of_a_column(self._settings)
        return GaussianFeatures(records, family.link, family.constant, blocks, even)

    def _drawn(self, pooled: Pooled, count: int, numbers: Numbers) -> Floats:
        return posterior_draws(pooled, self._prior, count, numbers)

    def _records(self) -> float:
        """Return the number of records: public, or about what the first look shows.

        An intercept's curvature counts the records. Without one the trace does, if rows have their declared length.
        """
        if self._settings.n is not None:
            return float(self._settings.n)
        if self._n is None:
            self._n = self._shown_records()
        return self._n

    def _shown_records(self) -> float:
        first, family = self.looks[0], self._family
        has_constant = family.constant is not None
        at = np.array([float(first.theta[0]) if has_constant else 0.0])
        typical = max(float(family.link.curvature(at)[0]), 1e-300)
        seen = first.curvature[0, 0] if has_constant else np.trace(first.curvature) / family.radius**2
        return max(1.0, float(seen) / typical)

    def _look_at_fit(self, threads: int, block: int) -> None:
        """Take the look at residuals by predicted value, at the estimate that all other looks gave."""
        assert self.pooled is not None
        assert self._surrogate is not None
        self._charge(noise_of_fit(self._settings)[-1])
        how = {"threads": threads, "block": block}
        self.fit = look_at_fit(self._looks_of_core, self._settings, self._family, self.pooled, self._surrogate, **how)

    def _finish(self, threads: int, block: int) -> None:
        if self._guide is not None:
            self._guide = None
            self._pool()
        if self._settings.fit:
            self._look_at_fit(threads, block)
            if self._stopped:
                return
        assert self.pooled is not None
        random = self._core.random
        key = random.key_from_os() if self._seed is None else random.key_from_seed(self._seed)
        chains, kept, dim = self._draws.shape
        drawn = self._drawn(self.pooled, chains * kept, Numbers(self._core, key))
        self._draws[:] = drawn.reshape(chains, kept, dim)
        self.steps_done = self._settings.steps  # not before there are draws: a stop may come during the look at the fit
