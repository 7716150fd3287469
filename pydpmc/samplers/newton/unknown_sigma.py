"""Linear regression whose sigma is unknown: some looks release outer products of clipped residuals, which show it.

The clipped residual has mean zero at the true coefficients whatever sigma is, so that a wrong sigma costs width and no
bias. What sigma may be given the looks is computed on a grid; coefficients are drawn given a few values of it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np

from ...models.priors import Laplace, Normal, StudentT
from .clips import Clip
from .draws import Numbers, posterior_draws
from .families import family_of, largest_sigma
from .links import clipped_moments
from .pooling import Pooled, pool
from .reclip import best_residual
from .run import Floats, NewtonRun
from .spread import blank
from .surrogate import GaussianFeatures

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...posterior.looks import Look
    from .settings import NewtonSettings

SMALLEST, GRID = 1e-4, 400  # of sigma over the largest that y_bounds allow
NODES = 5  # values of sigma for which coefficients are drawn
FINER, REACH = 3, 8.0  # times that the grid is narrowed, to so many standard deviations of log sigma
LEAST_OWN = 1e-6  # relative error of a look without noise
CAUTIOUS = 1.3  # times the estimate of sigma, for a clip
CHANGED = 1.25  # a clip that differs by less stays


class UnknownSigmaRun(NewtonRun):
    """As its base; `grid` and `weights` are what the looks say of sigma."""

    def __init__(self, settings: NewtonSettings, core: object, target: Target, chains: Chains, data: Data) -> None:
        super().__init__(settings, core, target, chains, data)
        largest = largest_sigma(settings.public)
        self._sigma_prior = np.asarray(target.prior[settings.coefficients])
        self.grid: Floats = largest * np.geomspace(SMALLEST, 1.0, GRID)
        self.weights: Floats = self._prior_of_sigma()

    def _constants(self, target: Target) -> tuple[float, ...]:
        return (1.0, 0.0)  # the core leaves residuals as they are

    def _prior_of_sigma(self) -> Floats:
        """Return the prior on the grid of log sigma: a density of sigma > 0, times sigma."""
        kind, loc, scale, df = self._sigma_prior[:4]
        z = (self.grid - loc) / scale
        log_density = {
            Normal.code: -(z**2) / 2.0,
            Laplace.code: -np.abs(z),
            StudentT.code: -(df + 1.0) / 2.0 * np.log1p(z**2 / df),
        }.get(int(kind), np.zeros_like(z))
        weights = np.exp(log_density - log_density.max()) * self.grid
        return np.asarray(weights / weights.sum())

    def _is_outer(self, last: bool) -> bool:
        """The second look of each clip, and the last of all."""
        here = self.looks[self._pooled_from :]
        return bool(here) and (last or not any(look.outer for look in here))

    @property
    def _sigma(self) -> float:
        return float(np.exp(self.weights @ np.log(self.grid)))

    def _reclip(self) -> None:
        """Take the clip that the looks speak for, once they have shown sigma, if it is far from the present one."""
        settings, here = self._settings, self.looks[self._pooled_from :]
        if not any(look.outer for look in here) or len(self.looks) > settings.steps - 3 or self._surrogate is None:
            return
        upper = min(CAUTIOUS * self._sigma, largest_sigma(settings.public))
        records = self._surrogate.n * float(np.trace(self._surrogate.Q)) / settings.coefficients
        best = best_residual(max(records, 1.0), settings.moved_per_unit, settings.estimating_mu * math.sqrt(self._left))
        assert settings.clip.sigma is not None
        now, then = settings.clip.residual * settings.clip.sigma, best * upper
        if not 1.0 / CHANGED < then / now < CHANGED and self._left > 0.5:
            self._begin(dataclasses.replace(settings, clip=Clip(best, sigma=upper)))

    def _pool(self) -> None:
        self._surrogate, self.pooled = self._pooled_at(self._sigma)
        if self.looks[-1].outer:
            self._look_at_sigma()
            self._surrogate, self.pooled = self._pooled_at(self._sigma)
        self._theta = self.pooled.mean

    def _pooled_at(self, sigma: float) -> tuple[GaussianFeatures, Pooled]:
        """Return the posterior of the coefficients if sigma were known."""
        limit, settings = self._family.limits[0], self._settings
        family = family_of(settings.model, settings.public, Clip(limit / sigma, sigma=sigma))
        looks = [self._seen(look, family.scale) for look in self.looks[self._pooled_from :]]
        features = GaussianFeatures(self._records(), family.link, family.constant, settings.blocks)
        return features, pool(looks, self._guide or self._prior, features, family.radius)

    def _seen(self, look: Look, share: float) -> Look:
        """Return the look with the curvature of residuals that are not clipped, or with none."""
        if look.outer:
            return blank(look)
        change = share / self._family.scale  # the run has multiplied by the latter
        return dataclasses.replace(look, curvature=change * look.curvature, tau=change * look.tau)

    def _look_at_sigma(self) -> None:
        """Weigh a grid of sigma by the looks, and narrow it to where sigma may be."""
        largest = largest_sigma(self._settings.public)
        low, high = math.log(SMALLEST * largest), math.log(largest)
        for _ in range(FINER):
            logs = np.linspace(low, high, GRID)
            self.grid = np.exp(logs)
            self._weigh()
            middle = float(self.weights @ logs)
            reach = REACH * max(math.sqrt(float(self.weights @ (logs - middle) ** 2)), float(logs[1] - logs[0]))
            low, high = max(low, middle - reach), min(high, middle + reach)

    def _weigh(self) -> None:
        """Weigh the grid by the traces of outer products, over that of x x': mean squares of clipped residuals."""
        features, pooled = self._surrogate, self.pooled
        assert features is not None
        assert pooled is not None
        limit, size, dim = self._family.limits[0], float(np.trace(features.Q)), self._settings.coefficients
        log_weights = np.log(np.maximum(self._prior_of_sigma(), 1e-300))
        shared = features.sd**2 * dim / size**2 + 3.0 / features.n  # of the records, which all looks see alike
        crossed, squares = np.zeros(GRID), np.zeros(GRID)
        for look in self.looks[self._pooled_from :]:
            if not look.outer:
                continue
            off = pooled.mean - look.theta
            apart = float(off @ features.Q @ off)  # the mean square of what the look's point missed
            spread = np.sqrt(self.grid**2 + apart)
            square = np.array([s * s * clipped_moments(limit / s)[1] for s in spread])
            noise = (look.tau * math.sqrt(dim) / features.n / size) ** 2
            own = noise + (0.25 * apart) ** 2 + (LEAST_OWN * square) ** 2
            miss = float(np.trace(look.curvature)) / features.n / size - square
            log_weights = log_weights - miss**2 / (2.0 * own) - np.log(own) / 2.0
            crossed, squares = crossed + square * miss / own, squares + square**2 / own
        together = 1.0 + shared * squares
        log_weights = log_weights + shared * crossed**2 / (2.0 * together) - np.log(together) / 2.0
        weights = np.exp(log_weights - log_weights.max())
        self.weights = np.asarray(weights / weights.sum())

    def _finish(self, threads: int, block: int) -> None:
        self._guide = None
        self._pool()
        random = self._core.random
        key = random.key_from_os() if self._seed is None else random.key_from_seed(self._seed)
        chains, kept, dim = self._draws.shape
        numbers, count = Numbers(self._core, key), chains * kept
        shares = np.sort(numbers.uniforms(count))
        ends = np.log(self.grid) + 0.5 * math.log(self.grid[1] / self.grid[0])  # a weight is that of its whole cell
        logs = np.interp(shares, np.cumsum(self.weights), ends)
        drawn = []
        for part in np.array_split(logs, min(NODES, count)):
            pooled = self._pooled_at(float(np.exp(part.mean())))[1]
            drawn.append(np.column_stack([posterior_draws(pooled, self._prior, len(part), numbers), part]))
        order = np.argsort(numbers.uniforms(count))
        self._draws[:] = np.concatenate(drawn)[order].reshape(chains, kept, dim)
        self.steps_done = self._settings.steps
