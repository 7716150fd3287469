"""The posterior of regression coefficients given X'X and X'y with Gaussian noise of known variance.

With M = X'X + E and v = X'y + e released, v - M beta = X'(y - X beta) + e - E beta has mean zero and covariance
Omega = sigma^2 X'X + s_xy^2 I + (s_xx^2 / 2)(|beta|^2 I + beta beta'). So v is a Gaussian observation of M beta. X'X
and beta in Omega are replaced by estimates; the rest is conjugate (docs/privacy/conjugate.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
ROUNDS, SETTLED = 50, 1e-12


@dataclass(frozen=True)
class NoisedMoments:
    """X'X and X'y with noise; off the diagonal of X'X the noise is smaller by the factor sqrt(2)."""

    xx: Floats
    xy: Floats
    xx_noise: float
    xy_noise: float


def posterior(
    moments: NoisedMoments, sigma: float, w: float, prior_mean: Floats, prior_precision: Floats
) -> tuple[Floats, Floats]:
    """Return the posterior's mean and a root R of its covariance R R'."""
    own = sigma**2 * _nonnegative(moments.xx)
    beta = prior_mean
    for _ in range(ROUNDS):
        precision, weighted = _likelihood(moments, own + _noise(moments, beta))
        total = w * precision + np.diag(prior_precision)
        last, beta = beta, _solve(total, w * weighted + prior_precision * prior_mean)
        if np.abs(beta - last).max() <= SETTLED * np.abs(beta).max():
            break
    values, vectors = np.linalg.eigh((total + total.T) / 2.0)
    return beta, vectors / np.sqrt(np.maximum(values, _least(values)))


def _noise(moments: NoisedMoments, beta: Floats) -> Floats:
    shape = (beta @ beta) * np.eye(len(beta)) + np.outer(beta, beta)
    return moments.xy_noise**2 * np.eye(len(beta)) + moments.xx_noise**2 / 2.0 * shape


def _likelihood(moments: NoisedMoments, omega: Floats) -> tuple[Floats, Floats]:
    """Return M Omega^-1 M and M Omega^-1 v."""
    solved = np.linalg.solve(omega, np.column_stack([moments.xx, moments.xy]))
    both = moments.xx @ solved
    return both[:, :-1], both[:, -1]


def _nonnegative(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _solve(matrix: Floats, right: Floats) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    return np.asarray(vectors @ ((vectors.T @ right) / np.maximum(values, _least(values))))


def _least(values: Floats) -> float:
    """Return the smallest usable precision; under a flat prior, noise can leave a direction undetermined."""
    return float(max(values.max() * 1e-14, np.finfo(float).tiny))
