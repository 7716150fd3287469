"""The methods of Wang et al. (2015) as printed: the one-posterior-sample estimator, and the hybrid with SGNHT."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit

Floats = npt.NDArray[np.float64]
STEPS = 600
ACCEPTANCE = 0.57  # at which the algorithm is most efficient


def ops_weight(epsilon: float, radius: float) -> float:
    """Return rho = min(1, epsilon/(4B)) of algorithm 1; |log p| <= B = log(1 + e^radius) on the ball of that radius."""
    return min(1.0, epsilon / (4.0 * math.log1p(math.exp(radius))))


def ops_draw(x: Floats, y: Floats, weight: float, scale: float, radius: float, rng: np.random.Generator) -> Floats:
    """Return a draw of (likelihood times N(0, scale^2))^weight on the ball |theta| <= radius.

    Metropolis-adjusted Langevin, preconditioned by the largest curvature in each principal direction, its step adapted
    in the first half. Stands for the exact draw that algorithm 1 asks for.
    """
    values, vectors = np.linalg.eigh(x.T @ x)
    root = vectors / np.sqrt(weight * (0.25 * np.maximum(values, 0.0) + 1.0 / scale**2))

    def state(z: Floats) -> tuple[float, Floats]:
        theta = root @ z
        if theta @ theta > radius**2:
            return -math.inf, np.zeros_like(z)
        eta = x @ theta
        log_density = y @ eta - np.logaddexp(0.0, eta).sum() - theta @ theta / (2 * scale**2)
        return weight * float(log_density), weight * (root.T @ (x.T @ (y - expit(eta)) - theta / scale**2))

    z, step = np.zeros(x.shape[1]), 0.5 / x.shape[1] ** (1 / 3)
    now = state(z)
    for t in range(STEPS):
        proposal = z + step * now[1] + math.sqrt(2 * step) * rng.normal(size=len(z))
        then = state(proposal)
        forth, back = proposal - z - step * now[1], z - proposal - step * then[1]
        log_ratio = then[0] - now[0] + (forth @ forth - back @ back) / (4 * step)
        accepted = math.log(rng.random()) < log_ratio
        if accepted:
            z, now = proposal, then
        if t < STEPS // 2:
            step *= math.exp(0.1 * (accepted - ACCEPTANCE))
    return np.asarray(root @ z)


def hybrid_sgnht(
    x: Floats, y: Floats, start: Floats, epsilon: float, delta: float, scale: float, rng: np.random.Generator
) -> Floats:
    """Return the mean of the second half of DP-SGNHT (eq. 5) from `start`: batch and passes sqrt N, noise as printed.

    `epsilon` is what the start has left. The friction is 0.1 and eta the largest for which no noise needs to be added:
    2 a/eta = 128 N T L^2/(tau epsilon^2) log(2.5 N T/(tau delta)) log(2/delta).
    """
    n, dim = x.shape
    batch = math.isqrt(n)
    steps = n  # N T/tau with T = tau = sqrt N
    friction = 0.1
    needed = 128.0 * steps / epsilon**2 * math.log(2.5 * steps / delta) * math.log(2.0 / delta)
    eta = 2.0 * friction / needed
    theta, speed, drag = start.copy(), math.sqrt(eta) * rng.normal(size=dim), friction
    mean = np.zeros(dim)
    for t in range(steps):
        rows = rng.integers(0, n, batch)
        slope = theta / scale**2 + n / batch * (x[rows].T @ (expit(x[rows] @ theta) - y[rows]))
        speed = speed - drag * speed - eta * slope + math.sqrt(2 * friction * eta) * rng.normal(size=dim)
        theta = theta + speed
        drag += speed @ speed / dim - eta
        if t >= steps // 2:
            mean += theta / (steps - steps // 2)
    return mean
