"""The run: look, pool, choose the next point; draw when the budget is spent."""

from __future__ import annotations

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
from .surrogate import GaussianFeatures

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from .settings import NewtonSettings

Floats = npt.NDArray[np.float64]
NOTHING_LEFT = 1e-6  # of mu^2


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
        bounds = settings.bounds
        sigma, tau = bounds.noise(mu, settings.adjacency, settings.dim, settings.curvature_share)
        self._charge(bounds.mu(sigma, tau, settings.adjacency, settings.dim))
        released = self._looks_of_core.look(
            theta=self._theta.tolist(),
            clip=bounds.gradient,
            sigma=sigma,
            curvature_clip=bounds.curvature,
            tau=tau,
            largest_square=(family.radius * ROUNDING_OF_NORM) ** 2,
            limits=family.limits,
            outer=settings.curvature == "outer",
            block_of=list(settings.blocks),
            threads=threads,
            block=block,
        )
        if self._stopped:  # what the core returned is no look
            return
        released[settings.dim :] *= family.scale
        self.looks.append(look_of(self._theta, released, settings.blocks, sigma, tau * family.scale))
        self._pool()

    def _charge(self, mu: float) -> None:
        """Refuse a look that the rest of the budget does not pay for."""
        if not math.fsum([*self.spent, mu * mu]) <= self._settings.mu**2 * (1.0 + 1e-12):  # also if it is no number
            raise BudgetError("a look would cost more than is left of the plan's budget; this is a bug in pydpmc")
        self.spent.append(mu * mu)

    def _pool(self) -> None:
        if self._surrogate is None:
            family = self._family
            self._surrogate = GaussianFeatures(self._records(), family.link, family.constant, self._settings.blocks)
        self.pooled = pool(self.looks, self._prior, self._surrogate, self._family.radius)
        self._theta = self.pooled.mean

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
