"""Logistic regression if the columns were public and only labels private: one noised gradient, and the exact posterior.

All that the columns say (every curvature, at every theta) is known without noise, and the whole budget pays for one
gradient at theta = 0, that is for sum x y, which is sufficient for theta. Looks at gradients and curvatures show less,
so the mean of this posterior is what a prior allows at a budget.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

Floats = npt.NDArray[np.float64]
ROUNDS, HALVINGS = 60, 12
CHAINS, STEPS, BURN_IN, KEPT = 16, 300, 100, 0.6  # of preconditioned Crank-Nicolson steps around the mode


def posterior_mean(x: Floats, y: Floats, sigma: float, scale: float, rng: np.random.Generator) -> Floats:
    """Return the mean of theta given the gradient with noise `sigma`, under the prior Normal(scale)."""
    released = x.T @ (y - 0.5) + sigma * rng.normal(size=x.shape[1])
    theta, covariance, whitening = _mode(x, released, sigma, scale)
    root = np.linalg.cholesky(covariance)

    def log_ratio(z: Floats) -> Floats:
        """Return the log density at mean + root z over the standard normal one of z."""
        at = theta + z @ root.T
        gap = (released - (expit(x @ at.T) - 0.5).T @ x) @ whitening.T
        return np.asarray(((z**2).sum(axis=1) - (gap**2).sum(axis=1) - (at**2).sum(axis=1) / scale**2) / 2.0)

    z = rng.normal(size=(CHAINS, len(theta)))
    now, total = log_ratio(z), np.zeros(len(theta))
    for step in range(STEPS):
        other = KEPT * z + np.sqrt(1.0 - KEPT**2) * rng.normal(size=z.shape)
        then = log_ratio(other)
        accepted = np.log(rng.random(CHAINS)) < then - now
        z, now = np.where(accepted[:, None], other, z), np.where(accepted, then, now)
        total += z.mean(axis=0) if step >= BURN_IN else 0.0
    return np.asarray(theta + root @ (total / (STEPS - BURN_IN)))


def _mode(x: Floats, released: Floats, sigma: float, scale: float) -> tuple[Floats, Floats, Floats]:
    """Return the mode by damped Gauss-Newton steps, the covariance there, and the whitening of the gradient."""
    eye = np.eye(x.shape[1])
    theta = np.zeros(len(eye))
    for _ in range(ROUNDS):
        p = expit(x @ theta)
        curvature = (x.T * (p * (1.0 - p))) @ x
        spread = curvature + sigma**2 * eye  # of the gradient: labels and noise
        weighed = np.linalg.solve(spread, curvature)
        covariance = np.linalg.inv(curvature @ weighed + eye / scale**2)

        def loss(at: Floats, spread: Floats = spread) -> float:
            gap = released - x.T @ (expit(x @ at) - 0.5)
            return float(gap @ np.linalg.solve(spread, gap) + at @ at / scale**2)

        step = covariance @ (weighed.T @ (released - x.T @ (p - 0.5)) - theta / scale**2)
        size = next((0.5**k for k in range(HALVINGS) if loss(theta + 0.5**k * step) <= loss(theta)), 0.0)
        theta = theta + size * step
        if size * np.abs(step).max() < 1e-3 * (1.0 + np.abs(theta).max()):
            break
    return theta, covariance, np.linalg.inv(np.linalg.cholesky(spread))
