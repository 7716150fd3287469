"""How the likelihood of the looks bends over the width of the posterior, where that matters.

The pooled looks are normal in the gradient, and the gradient is a curved function of theta: it saturates where most
probabilities are 0 or 1, so that the posterior is skew. `Curved` holds the log-ratio of that posterior to its normal
approximation, and draws of the approximation are moved by it (preconditioned Crank-Nicolson steps).

A wide prior makes the posterior of weakly known coefficients lean towards large ones, of which there are more. That is
right for truths of the prior's size, and misleads where the prior is only meant to be wide. So the log-ratio counts in
proportion to how much of the prior's size the coefficients show (`weight`): not at all below a fifth of it, in full
from 0.35 on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .surrogate import NODES, WEIGHTS, GaussianFeatures

Floats = npt.NDArray[np.float64]
SEEN = (0.2, 0.35)  # mean square of the coefficients, over the prior's variances, at which the weight is 0 and 1
FLAT_ENOUGH = 1e-3  # variance of the predictor below which the curve does not show
MOST_CHAINS, FEWEST_CHAINS, PER_CHAIN = 20_000, 500, 8
BURN_IN, THIN = 48, 6
ACCEPTED = (0.25, 0.5)
WIDER = 0.5  # than the normal approximation, over sqrt(dim), are the proposals: tails of the posterior may be longer


class Random(Protocol):
    """Standard normals and uniforms."""

    def normals(self, *shape: int) -> Floats:
        """Return standard normals."""

    def uniforms(self, *shape: int) -> Floats:
        """Return uniforms in (0, 1)."""


@dataclass(frozen=True, eq=False)
class Curved:
    """The posterior of theta = mean + root z over its normal approximation N(0, 1) in z.

    Attributes
    ----------
    measured
        The released gradients, each plus the expected gradient's part that belongs to its point, pooled.
    misfit
        What the surrogate misses of the curvature.
    whitening
        Inverse root of the covariance of the pooled gradient.
    prior_mean, prior_precision
        Of the normal prior.
    weight
        Power to which the ratio is taken.
    """

    surrogate: GaussianFeatures
    mean: Floats
    root: Floats
    measured: Floats
    misfit: Floats
    whitening: Floats
    prior_mean: Floats
    prior_precision: Floats
    weight: float

    def log_ratio(self, z: Floats) -> Floats:
        """Return the log-ratio at each row of z, up to a constant."""
        theta = self.mean + z @ self.root.T
        gap = (self.measured - self._gradient(theta) - theta @ self.misfit) @ self.whitening.T
        prior = (theta - self.prior_mean) ** 2 @ self.prior_precision
        return np.asarray(0.5 * self.weight * ((z**2).sum(axis=1) - (gap**2).sum(axis=1) - prior))

    def _log_ratio_to_wider(self, z: Floats, wider: float) -> Floats:
        """Return the log-ratio at wider z to N(0, 1) in z."""
        return self.log_ratio(wider * z) + 0.5 * (1.0 - wider**2) * np.asarray((z**2).sum(axis=1))

    def draws(self, count: int, random: Random) -> Floats:
        """Return draws of theta: many short chains that start from the normal approximation."""
        chains = min(max(count // PER_CHAIN, min(count, FEWEST_CHAINS)), MOST_CHAINS)
        dim = len(self.mean)
        wider = 1.0 + WIDER / math.sqrt(dim)
        z = random.normals(chains, dim)
        now, rho, kept = self._log_ratio_to_wider(z, wider), 0.5, []
        for step in range(BURN_IN + THIN * -(-count // chains)):
            other = rho * z + np.sqrt(1.0 - rho * rho) * random.normals(*z.shape)
            then = self._log_ratio_to_wider(other, wider)
            accepted = np.log(random.uniforms(chains)) < then - now
            z, now = np.where(accepted[:, None], other, z), np.where(accepted, then, now)
            if step < BURN_IN:
                rho = _adapted(rho, float(accepted.mean()))
            elif (step - BURN_IN) % THIN == THIN - 1:
                kept.append(z)
        return np.asarray(self.mean + wider * np.concatenate(kept)[:count] @ self.root.T)

    def _gradient(self, theta: Floats) -> Floats:
        """Return n E m(x . theta) x of Gaussian features, for each row of theta."""
        features, primitive = self.surrogate, self.surrogate.link.primitive
        assert primitive is not None
        along = theta @ features.S
        sd = np.sqrt(np.maximum((theta * along).sum(axis=1), 1e-4))
        values = primitive((theta @ features.q)[:, None] + sd[:, None] * NODES)
        mean, slope = values @ WEIGHTS, values @ (WEIGHTS * NODES) / sd
        return np.asarray(features.n * (mean[:, None] * features.q + slope[:, None] * along))


def _adapted(rho: float, accepted: float) -> float:
    if accepted < ACCEPTED[0]:
        return min(0.98, rho + 0.3 * (1.0 - rho))
    return max(0.0, rho - 0.3 * (1.0 - rho)) if accepted > ACCEPTED[1] else rho


def weight_of(square: Floats, prior_precision: Floats, has_constant: bool) -> float:
    """Return the weight of the curve: how much of the prior's size the coefficients (not the intercept) show."""
    shown = (square * prior_precision)[1 if has_constant and len(square) > 1 else 0 :]
    low, high = SEEN
    return min(1.0, max(0.0, (float(shown.mean()) - low) / (high - low)))
