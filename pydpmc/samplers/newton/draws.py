"""Draws from the posterior given the looks. The random numbers protect nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .mixtures import MixturePrior
from .pooling import Pooled

Floats = npt.NDArray[np.float64]
CHAINS, BURN_IN = 200, 50  # of the Gibbs sampler of mixtures: each of few steps, so that draws are nearly independent


class Numbers:
    """Random numbers of the core, step by step."""

    def __init__(self, core: Any, key: bytes) -> None:
        self._random, self._key, self._step = core.random, key, 0

    def normals(self, *shape: int) -> Floats:
        """Return standard normals."""
        stream = self._random.Stream(self._key, self._random.purposes["diffusion"], 0, self._step)
        self._step += 1
        return np.asarray(self._random.fill_normal(stream, int(np.prod(shape)))).reshape(shape)

    def uniforms(self, *shape: int) -> Floats:
        """Return uniforms in (0, 1)."""
        from scipy.special import ndtr

        return np.asarray(np.clip(ndtr(self.normals(*shape)), 2.0**-53, 1.0 - 2.0**-53))


def posterior_draws(pooled: Pooled, prior: MixturePrior, count: int, numbers: Numbers) -> Floats:
    """Return draws, shape (count, dim)."""
    dim = len(pooled.mean)
    if pooled.curved is not None:
        return pooled.curved.draws(count, numbers)
    root = root_of(pooled.covariance)
    if prior.is_normal:
        return np.asarray(pooled.mean + numbers.normals(count, dim) @ root.T)
    chains = min(count, CHAINS)
    theta = pooled.mean + numbers.normals(chains, dim) @ root.T
    out = []
    for step in range(BURN_IN + -(-count // chains)):
        theta = _gibbs(pooled, prior, theta, numbers)
        if step >= BURN_IN:
            out.append(theta)
    return np.concatenate(out)[:count]


def root_of(covariance: Floats) -> Floats:
    """Return a root of a covariance, which roundings may have left with eigenvalues below zero."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2.0)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _gibbs(pooled: Pooled, prior: MixturePrior, theta: Floats, numbers: Numbers) -> Floats:
    """Draw the precisions of the mixture given theta, then theta given them."""
    shape = theta.shape
    scale = prior.draw_precision(theta - prior.mean, numbers.normals(*shape), numbers.uniforms(*shape))
    precision = pooled.precision + scale[:, :, None] * np.eye(shape[1])
    root = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, (pooled.shift + scale * prior.mean)[:, :, None])
    noise = np.linalg.solve(np.swapaxes(root, 1, 2), numbers.normals(*shape)[:, :, None])
    return np.asarray((mean + noise)[:, :, 0])
