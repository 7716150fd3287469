"""The run: look, pool, choose the next point; draw when the budget is spent."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import BudgetError
from ...posterior.agreement import Agreement
from ...posterior.looks import Look
from .draws import Numbers, posterior_draws
from .families import ROUNDING_OF_NORM
from .look import look_of
from .mixtures import MixturePrior
from .pooling import Pooled, pool
from .sensitivity import LEAST_MU
from .softmax_features import SoftmaxFeatures
from .surrogate import GaussianFeatures

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from .settings import NewtonSettings

Floats = npt.NDArray[np.float64]
NOTHING_LEFT = 1e-6  # of mu^2
NO_CURVATURE = 1e60  # noise on a curvature that says nothing
LEAST_DESIGN = 1e-3


class NewtonRun:
    """Looks under a fixed sum of mu_k^2; every choice is a function of public facts and earlier looks."""

    def __init__(self, settings: NewtonSettings, core: Any, target: Target, chains: Chains, data: Data) -> None:
        self._settings, self._core = settings, core
        self._family = settings.family
        self._draws, self._seed = chains.draws, chains.seed
        self._prior = MixturePrior.of(target.prior)
        self._theta: Floats = np.array(chains.init[0], dtype=np.float64)
        self._looks_of_core = core.NewtonRun(
            rows=data._rows,
            columns=data.public.width,
            has_target=data.public.has_target,
            model=target.model,
            intercept=target.intercept,
            constants=tuple(target.constants),
            dim=settings.dim,
            seed=chains.seed,
            squares=data.row_squares(),
            **({} if data._weights is None else {"weights": data._weights}),
        )
        self._surrogate: GaussianFeatures | None = None
        self._share: float | None = None
        self.pooled: Pooled | None = None
        self.looks: list[Look] = []
        self.spent: list[float] = []  # mu_k^2
        self.steps_done = 0
        self._stopped = False

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
            self.steps_done += 1
            if self._left <= 0.0 or self.steps_done == self._settings.steps:
                self._finish()

    @property
    def agreement(self) -> Agreement | None:
        """How well the looks agree."""
        if self.pooled is None:
            return None
        pooled, dim = self.pooled, self._settings.dim
        curved = 0.0 if pooled.curved is None else pooled.curved.weight
        degrees = dim * (len(self.looks) - 1)
        return Agreement(pooled.chi_square, degrees, math.sqrt(max(pooled.reach_square, 0.0)), curved)

    @property
    def _left(self) -> float:
        """The share of mu^2 that is left."""
        left = 1.0 - math.fsum(self.spent) / self._settings.mu**2
        return left if left > max(NOTHING_LEFT, (LEAST_MU / self._settings.mu) ** 2) else 0.0

    def _look(self, threads: int, block: int) -> None:
        settings, family = self._settings, self._family
        moved = math.inf if self.pooled is None else self.pooled.moved_square
        self._share = settings.schedule.share(self._left, self._share, moved, len(self.looks))
        mu = max(settings.mu * math.sqrt(min(self._share, self._left)), LEAST_MU)
        last = self._share >= self._left or len(self.looks) == settings.steps - 1
        outer = settings.curvature == "outer" or (last and settings.public.max_weight is not None)
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
            threads=threads,
            block=block,
        )
        if self._stopped:  # what the core returned is no look
            return
        scale = 1.0 if outer and settings.curvature != "outer" else family.scale
        released[settings.dim :] *= scale
        look = look_of(self._theta, released, settings.blocks, sigma, tau * scale)
        self.looks.append(dataclasses.replace(look, outer=outer))
        self._pool()

    def _charge(self, mu: float) -> None:
        """Refuse a look that the rest of the budget does not pay for."""
        if not math.fsum([*self.spent, mu * mu]) <= self._settings.mu**2 * (1.0 + 1e-12):  # also if it is no number
            raise BudgetError("a look would cost more than is left of the plan's budget; this is a bug in pydpmc")
        self.spent.append(mu * mu)

    def _pool(self) -> None:
        if self._surrogate is None:
            self._surrogate = self._features()
        looks = self.looks if self._settings.public.max_weight is None else self._weighted_looks()
        self.pooled = pool(looks, self._prior, self._surrogate, self._family.radius)
        self._theta = self.pooled.mean

    def _weighted_looks(self) -> list[Look]:
        """Return the looks at curvatures, and what the one at outer products says of gradients alone.

        Its trace, over that of the gradients' covariance if all weights were 1, is the design effect: the mean of
        squared weights over the mean of weights. Its noise counts against us, up to the largest that there can be.
        """
        assert self._surrogate is not None
        most, last = self._settings.public.max_weight, self.looks[-1]
        assert most is not None
        self._surrogate.design = most
        if not last.outer:
            return self.looks
        self._surrogate.fit(self.looks[:-1])
        seen = float(np.trace(last.curvature)) + last.tau * math.sqrt(len(last.theta))
        effect = seen / max(float(np.trace(self._surrogate.covariance(last.theta))), 1e-300)
        self._surrogate.design = min(max(effect, LEAST_DESIGN * most), most)
        blank = dataclasses.replace(last, curvature=np.zeros_like(last.curvature), tau=NO_CURVATURE)
        return [*self.looks[:-1], blank]

    def _features(self) -> GaussianFeatures:
        family, blocks, records = self._family, self._settings.blocks, self._records()
        if family.predictors > 1:
            return SoftmaxFeatures(records, family.link, family.constant, blocks, family.predictors)
        return GaussianFeatures(records, family.link, family.constant, blocks)

    def _records(self) -> float:
        """Return the number of records: public, or about what the first look shows.

        An intercept's curvature counts the records. Without one the trace does, if rows have their declared length.
        """
        if self._settings.n is not None:
            return float(self._settings.n)
        first, family = self.looks[0], self._family
        has_constant = family.constant is not None
        at = np.array([float(first.theta[0]) if has_constant else 0.0])
        typical = max(float(family.link.curvature(at)[0]), 1e-300)
        seen = first.curvature[0, 0] if has_constant else np.trace(first.curvature) / family.radius**2
        return max(1.0, float(seen) / typical)

    def _finish(self) -> None:
        assert self.pooled is not None
        random = self._core.random
        key = random.key_from_os() if self._seed is None else random.key_from_seed(self._seed)
        chains, kept, dim = self._draws.shape
        drawn = posterior_draws(self.pooled, self._prior, chains * kept, Numbers(self._core, key))
        self._draws[:] = drawn.reshape(chains, kept, dim)
        self.steps_done = self._settings.steps
