"""What a step size does to draws where U is not quadratic: exact laws of the recursion in one dimension on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit

from pydpmc.samplers.langevin.bias import BIAS_PER_SHARE, MOST_SHARE

Floats = npt.NDArray[np.float64]
Slope = Callable[[Floats], Floats]
THRESHOLD = 1.345
WEIGHTS = (3.0, 10.0, 17.0, 30.0, 100.0)  # w N
SHARES = (0.5, 0.2, 0.1, 0.02)  # of ones, or of outliers


def logistic(weight: float, share: float) -> tuple[Slope, float]:
    """Return the slope and the largest curvature of U when all records are (1, y) and the prior is N(0, 1)."""
    return lambda t: t + weight * (expit(t) - share), 1.0 + weight / 4.0


def huber(weight: float, share: float) -> tuple[Slope, float]:
    """Return the same for targets 0 and, for a share of the records, 6."""

    def slope(t: Floats) -> Floats:
        near, far = (np.clip(t - y, -THRESHOLD, THRESHOLD) for y in (0.0, 6.0))
        return np.asarray(t + weight * ((1.0 - share) * near + share * far))

    return slope, 1.0 + weight


def target(slope: Slope, cells: Floats) -> tuple[float, float]:
    """Return the mean and sd of exp(-U) on the cells."""
    height = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(cells) * (slope(cells)[1:] + slope(cells)[:-1]))])
    mass = np.exp(height.min() - height)
    mass /= mass.sum()
    mean = float(mass @ cells)
    return mean, math.sqrt(float(mass @ (cells - mean) ** 2))


def drawn(slope: Slope, h: float, cells: Floats) -> tuple[float, float]:
    """Return the mean and sd after many steps of size h and a last half step."""
    kernel = np.exp(-0.25 * (cells[None, :] - (cells - h * slope(cells))[:, None]) ** 2 / h)
    kernel /= kernel.sum(axis=1, keepdims=True)
    system = kernel.T - np.eye(len(cells))
    system[-1] = 1.0
    law = np.linalg.solve(system, np.eye(len(cells))[-1])
    half = cells - 0.5 * h * slope(cells)
    mean = float(law @ half)
    return mean, math.sqrt(float(law @ (half - mean) ** 2) + 0.5 * h)


def moved(slope: Slope, largest: float, share: float) -> tuple[float, float]:
    """Return how far hM = `share` moves the mean, in sds, and by what share it changes the sd."""
    mean, sd = target(slope, np.linspace(-12.0, 12.0, 20_001))
    cells = np.linspace(mean - 14.0 * sd - 1.0, mean + 14.0 * sd + 1.0, 301)
    mean, sd = target(slope, np.linspace(cells[0], cells[-1], 20_001))
    found, spread = drawn(slope, share / largest, cells)
    return (found - mean) / sd, spread / sd - 1.0


@pytest.mark.parametrize(
    "hM", [pytest.param(0.14, marks=pytest.mark.slow), pytest.param(0.7, marks=pytest.mark.slow), MOST_SHARE]
)
@pytest.mark.parametrize("model", [logistic, huber])
def test_a_step_moves_no_mean_and_no_sd_by_more_than_the_planner_assumes(model, hM: float) -> None:
    worst = np.abs([moved(*model(weight, share), hM) for weight in WEIGHTS for share in SHARES]).max(axis=0)
    print(
        f"{model.__name__}, hM = {hM:g}: mean {worst[0]:.3f} sd, sd {100 * worst[1]:.1f} %; {BIAS_PER_SHARE * hM:.3f}"
    )
    assert worst.max() < BIAS_PER_SHARE * hM
    assert worst[0] > 0.02 * hM  # the constant is not ten times too careful


def test_a_quadratic_is_not_widened_by_any_step() -> None:
    for hM in (0.3, 1.0, 1.9):
        mean, sd = moved(lambda t: 3.0 * t - 1.0, 3.0, hM)
        assert abs(mean) < 1e-6
        assert abs(sd) < 1e-3  # of the grid


def test_without_the_half_step_it_would_be_widened() -> None:
    slope, largest = logistic(100.0, 0.5)
    cells = np.linspace(-3.0, 3.0, 401)
    _, sd = target(slope, cells)
    h = 1.0 / largest
    whole = drawn(slope, h, cells)[1] ** 2  # v = M nearly: (1 - 1/2)^2 V + h/2
    assert math.sqrt((whole - 0.5 * h) / 0.25) > 1.3 * sd
