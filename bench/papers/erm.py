"""The peers in figure 2 of Wang et al. (2015), in plain numpy and scipy: logistic regression, |x| <= 1, labels 0 and 1.

Neighbours differ by one replaced record. `penalty` is the coefficient of |theta|^2/2 in the *sum* of losses. Where a
method has a constant that its authors leave to the user, the experiment picks it by test accuracy, in their favour.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from pydpmc import accounting as acc
from pydpmc.accounting.events.gaussian import largest_mu

Floats = npt.NDArray[np.float64]
CURVATURE = 0.25  # of the logistic loss
STEPS, RATE, LEARNING_RATE = 1000, 0.1, 5.0  # of DP-SGD; not tuned


def minimiser(x: Floats, y: Floats, penalty: float, linear: Floats | None = None) -> Floats:
    """Return the minimum of sum of losses + penalty/2 |theta|^2 + linear . theta, by damped Newton steps."""
    slope = np.zeros(x.shape[1]) if linear is None else linear

    def value(theta: Floats) -> float:
        eta = x @ theta
        return float(np.logaddexp(0.0, eta).sum() - y @ eta + penalty / 2 * theta @ theta + slope @ theta)

    theta = np.zeros(x.shape[1])
    for _ in range(100):
        p = expit(x @ theta)
        gradient = x.T @ (p - y) + penalty * theta + slope
        hessian = (x.T * (p * (1.0 - p))) @ x + penalty * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        decrease, length, now = float(gradient @ step), 1.0, value(theta)
        if decrease < 1e-9:
            break
        while value(theta - length * step) > now - 0.25 * length * decrease and length > 1e-6:
            length /= 2.0
        theta = theta - length * step
    return theta


def output_perturbation(
    x: Floats, y: Floats, epsilon: float, delta: float, penalty: float, rng: np.random.Generator
) -> Floats:
    """Return the minimiser plus Gaussian noise; its L2 sensitivity is 2/penalty (strong convexity, slopes up to 1)."""
    noise = 2.0 / penalty / largest_mu(epsilon, delta)
    return minimiser(x, y, penalty) + noise * rng.normal(size=x.shape[1])


def objective_perturbation_pure(
    x: Floats, y: Floats, epsilon: float, penalty: float, rng: np.random.Generator
) -> Floats:
    """Algorithm 2 of Chaudhuri, Monteleoni, Sarwate 2011: epsilon-DP. Their Lambda is penalty/n."""
    left = epsilon - math.log1p(2 * CURVATURE / penalty + (CURVATURE / penalty) ** 2)
    extra = 0.0
    if left <= 0:
        extra = max(0.0, CURVATURE / math.expm1(epsilon / 4) - penalty)
        left = epsilon / 2
    direction = rng.normal(size=x.shape[1])
    noise = direction / np.linalg.norm(direction) * rng.gamma(x.shape[1], 2.0 / left)
    return minimiser(x, y, penalty + extra, noise)


def objective_perturbation(
    x: Floats, y: Floats, epsilon: float, delta: float, penalty: float, rng: np.random.Generator
) -> Floats:
    """Algorithm 1 of Kifer, Smith, Thakurta 2012 with Gaussian noise: (epsilon, delta)-DP, as in Wang et al. (2015)."""
    least = 2.0 * CURVATURE / epsilon
    sd = math.sqrt(8.0 * math.log(2.0 / delta) + 4.0 * epsilon) / epsilon
    return minimiser(x, y, max(penalty, least), sd * rng.normal(size=x.shape[1]))


@cache
def least_noise(epsilon: float, delta: float, adjacency: str) -> float:
    """Return the least noise multiplier with which DP-SGD fits the budget, by our accountant."""
    low, high = 0.3, 1e4
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        steps = [(acc.Gaussian(middle).poisson(RATE), STEPS)]
        fits = acc.compose(steps, adjacency=adjacency).epsilon(delta) <= epsilon
        low, high = (low, middle) if fits else (middle, high)
    return high


def dp_sgd(x: Floats, y: Floats, epsilon: float, delta: float, adjacency: str, rng: np.random.Generator) -> Floats:
    """Return the mean of the second half of DP-SGD's steps: Poisson batches, gradients of norm at most 1."""
    noise, n = least_noise(epsilon, delta, adjacency), len(y)
    theta, mean = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for t in range(STEPS):
        batch = rng.random(n) < RATE
        slope = x[batch].T @ (expit(x[batch] @ theta) - y[batch]) + noise * rng.normal(size=len(theta))
        theta = theta - LEARNING_RATE * slope / (RATE * n)
        if t >= STEPS // 2:
            mean += theta / (STEPS - STEPS // 2)
    return mean
