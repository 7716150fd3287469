"""A prior that is any public density, beside the normal likelihood of pooled looks. Nothing here sees a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...models.own.model import OwnModel
from .draws import Numbers, root_of
from .pooling import Pooled

if TYPE_CHECKING:
    from ..._core import Target

Floats = npt.NDArray[np.float64]
STEP = 1e-4  # of the differences of slopes
LEAST_PRECISION = 1e-4
CHAINS, BURN_IN, THIN = 64, 150, 6
WANTED = 0.6  # share of accepted moves


class PublicPrior:
    """The log density that the core has, with its slopes; around a point it is taken for a normal one."""

    is_normal = False

    def __init__(self, target: Target) -> None:
        self._target = target

    @classmethod
    def of(cls, target: Target, model: OwnModel) -> PublicPrior | None:
        """Return the prior of a model; None if it is a mixture of normals, coordinate by coordinate."""
        on_log_scale = target.prior[:, 4].any()
        return cls(target) if model.public_prior is not None or on_log_scale else None

    def local(self, m: Floats, variances: Floats | float) -> tuple[Floats, Floats]:
        """Return the precision of each coordinate around m, and the pull of the prior there."""
        _, slopes = self._target.log_prior(m.tolist())
        here, precision = np.asarray(slopes), np.empty(len(m))
        for j in range(len(m)):
            beside = m.copy()
            beside[j] += STEP
            precision[j] = (here[j] - self._target.log_prior(beside.tolist())[1][j]) / STEP
        return np.maximum(np.nan_to_num(precision), LEAST_PRECISION), np.nan_to_num(here)

    def draws(self, pooled: Pooled, count: int, numbers: Numbers) -> Floats:
        """Return draws of the posterior, shape (count, dim): many chains of Langevin steps with an accept test."""
        root, dim = root_of(pooled.covariance), len(pooled.mean)
        chains = min(CHAINS, count)
        theta = pooled.mean + numbers.normals(chains, dim) @ root.T
        now, pull = self._density(pooled, theta)
        step, kept = 1.0 / dim ** (1.0 / 6.0), []
        for turn in range(BURN_IN + THIN * -(-count // chains)):
            drift = 0.5 * step**2 * (pull @ root) @ root.T
            noise = numbers.normals(chains, dim)
            other = theta + drift + step * noise @ root.T
            then, back = self._density(pooled, other)
            returned = noise + 0.5 * step * (pull + back) @ root
            ratio = then - now + 0.5 * ((noise**2).sum(axis=1) - (returned**2).sum(axis=1))
            accepted = np.log(numbers.uniforms(chains)) < ratio
            theta = np.where(accepted[:, None], other, theta)
            pull, now = np.where(accepted[:, None], back, pull), np.where(accepted, then, now)
            if turn < BURN_IN:
                step = float(np.clip(step * np.exp(0.1 * (accepted.mean() - WANTED)), 1e-3, 2.0))
            elif (turn - BURN_IN) % THIN == THIN - 1:
                kept.append(theta)
        return np.concatenate(kept)[:count]

    def _density(self, pooled: Pooled, theta: Floats) -> tuple[Floats, Floats]:
        """Return the log density of each row, and its slopes."""
        priors = [self._target.log_prior(row.tolist()) for row in theta]
        along = theta @ pooled.precision
        value = np.array([v for v, _ in priors]) + ((pooled.shift - 0.5 * along) * theta).sum(axis=1)
        slopes = np.array([s for _, s in priors]) + pooled.shift - along
        return np.where(np.isfinite(value), value, -np.inf), np.nan_to_num(slopes)
