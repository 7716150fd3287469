"""Propositions 5 to 7 of Li et al. (2019): how the mean squared error of SGLD's averages grows with steps and budget.

The target is a normal law of precision P, so SGLD is the autoregression e' = (1 - h P) e + sqrt(2 h) xi with
e = theta - mean, and all moments have closed forms. The compiled sampler is compared with them first.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar
from scipy.special import lambertw

import pydpmc as dp

N = 40
PRECISION = N + 1.0  # of a mean of N records of variance 1 with the prior N(0, 1)


def error_of_variance(h, steps, precision=1.0):
    """Return the mean squared error of the average of e^2 over `steps` steps, started in equilibrium."""
    forgets = (1.0 - h * precision) ** 2  # the correlation of e^2 over one step
    v = 2.0 * h / (1.0 - forgets)
    lags = forgets / (1.0 - forgets) - forgets * (1.0 - forgets**steps) / (steps * (1.0 - forgets) ** 2)
    return (v - 1.0 / precision) ** 2 + 2.0 * v * v / steps * (1.0 + 2.0 * lags)


def chains(h, steps, count, n=N, **options):
    """Return (theta - mean)^2 of compiled chains; the first fifth is left out."""
    x = np.random.default_rng(5).normal(size=(n, 1))
    data = dp.Data(x, row_norm=9.0)
    sampler = dp.SGLD(steps=steps, step_size=h, clip=1e3, **options)
    options = {"private": False, "chains": count, "warmup": 0, "draws": steps, "seed": 2, "progress": False}
    post = dp.sample(dp.GaussianMean(sigma=1.0), data, sampler, **options)
    kept = np.asarray(post.draws["theta"])[:, steps // 5 :, 0]
    return (kept - x.sum() / (n + 1.0)) ** 2


@pytest.mark.filterwarnings("ignore::pydpmc.errors.ConvergenceWarning")
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_compiled_chains_have_the_error_of_the_closed_form(share):
    h, steps, count = share / PRECISION, 1000, 400
    averages = chains(h, steps, count, sampling="full").mean(axis=1)
    found = float(np.mean((averages - 1.0 / PRECISION) ** 2))
    exact = error_of_variance(h, steps * 4 // 5, PRECISION)
    assert found == pytest.approx(exact, rel=6.0 * math.sqrt(2.0 / count))  # skewed: wider than a normal law's


def test_at_a_fixed_step_the_error_falls_as_one_over_time_to_a_floor_of_the_squared_step():
    """Proposition 6: 1/(T eta) + eta^2."""
    for h in (0.01, 0.02):
        early = [error_of_variance(h, steps) for steps in (10_000, 20_000)]
        assert early[0] / early[1] == pytest.approx(2.0, rel=0.1)
    floors = [error_of_variance(h, 1e9) for h in (0.02, 0.04)]
    assert floors[1] / floors[0] == pytest.approx(4.0, rel=0.1)


def test_the_best_step_falls_as_the_cube_root_and_the_error_as_its_square():
    """Proposition 6: eta of order T^-1/3 and an error of order T^-2/3."""
    best = [
        minimize_scalar(lambda h, t=steps: error_of_variance(h, t), bounds=(1e-4, 0.9), method="bounded")
        for steps in (10_000, 80_000, 640_000)
    ]
    for short, long in pairwise(best):
        assert short.x / long.x == pytest.approx(2.0, rel=0.06)
        assert short.fun / long.fun == pytest.approx(4.0, rel=0.06)


@pytest.mark.filterwarnings("ignore::pydpmc.errors.ConvergenceWarning")
def test_small_batches_leave_a_bias_that_more_steps_do_not_remove():
    """The constant C is called independent of the batch, but the variance is 1 + h V / 2 times as large."""
    h, batch = 0.1 / PRECISION, 8
    x = np.random.default_rng(5).normal(size=N)
    batch_noise = N * (N / batch - 1.0) * x.var(ddof=1)  # of the scaled gradient, batches without replacement
    inflated = (1.0 + h * batch_noise / 2.0) / (1.0 - h * PRECISION / 2.0)
    assert inflated > 1.15
    for steps in (2000, 8000):
        found = chains(h, steps, 100, sampling="without_replacement", batch_size=batch)
        assert float(found.mean()) * PRECISION == pytest.approx(inflated, rel=0.04)


def weighted_error(steps, precision, start):
    """Return the mean squared error of sum(h_t e_t) / sum(h_t), by recursion over the moments of e and of the sum."""
    mean = start
    variance = both = total = mean_of_sum = 0.0
    for h in steps:
        a = 1.0 - h * precision
        mean_of_sum += h * mean
        total += 2.0 * h * both + h * h * variance
        both = a * (both + h * variance)
        mean, variance = a * mean, a * a * variance + 2.0 * h
    return (mean_of_sum**2 + total) / float(np.sum(steps)) ** 2


def schedule(first, steps):
    return first * np.arange(1.0, steps + 1.0) ** (-1.0 / 3.0)


def test_within_a_budget_more_steps_leave_a_floor_and_without_one_they_do_not():
    """Proposition 5: privacy pays for the time sum(h_t), so 1/sum(h_t) does not vanish as T grows."""
    n, curvature = 50_000, 0.25  # of one record
    options = {"batch_size": 500, "decay": 1.0 / 3.0, "adjacency": "add_remove"}
    private, free, times = [], [], []
    for steps in (4000, 16_000, 64_000):
        first = dp.max_step_size(0.1, 1e-5, n, steps, 1.0, **options) / n
        times.append(float(schedule(first, steps).sum()))
        private.append(weighted_error(schedule(first, steps), n * curvature, 0.1))
        free.append(weighted_error(schedule(0.1 / n, steps), n * curvature, 0.1))
    assert max(times) < 1.1 * min(times)
    assert max(private) < 1.1 * min(private)
    for short, long in pairwise(free):
        assert short / long > 4.0 ** (2.0 / 3.0)  # the start is forgotten, then 1/time


def test_constants_and_exponents_of_proposition_5():
    """With eta_t = e t^-1/3 T^-2/3 the terms are 4/(3T), 2/(3e), 4 e^2/T^2; printed: 2/(3T), 1/(3e), 2 e^2 T^-2/3."""
    e, steps = 0.7, 1_000_000
    eta = e * np.arange(1.0, steps + 1.0) ** (-1.0 / 3.0) * steps ** (-2.0 / 3.0)
    time, squares = float(eta.sum()), float((eta**2).sum())
    assert squares / time**2 * steps == pytest.approx(4.0 / 3.0, rel=0.02)
    assert e / time == pytest.approx(2.0 / 3.0, rel=0.02)
    assert squares**2 / time**2 * steps**2 / e**2 == pytest.approx(4.0, rel=0.02)


def test_proposition_7_needs_another_lambert_function():
    """T = A u^5 e^(4u), u = log(1/omega), gives u = 5/4 W(4/5 (T/A)^1/5); printed is (5/4 W(4T/(5A)))^1/5."""
    printed, right = [], []
    for ratio in (1e6, 1e12, 1e24):
        u = brentq(lambda u, r=ratio: 5.0 * math.log(u) + 4.0 * u - math.log(r), 1e-6, 100.0)
        assert u == pytest.approx(1.25 * float(lambertw(0.8 * ratio**0.2).real), rel=1e-9)
        printed.append((1.25 * float(lambertw(0.8 * ratio).real)) ** 0.2)
        right.append(u)
    assert right[2] / right[1] > 1.8
    assert printed[2] / printed[1] < 1.2
    assert right[2] > 4.0 * printed[2]


@pytest.mark.filterwarnings("ignore::pydpmc.errors.ConvergenceWarning")
def test_the_excess_risk_of_the_last_draw_neither_grows_with_steps_nor_stays_as_records_come():
    """Proposition 7 bounds it by a term that grows with T and does not fall with N; the risk itself is 1/N."""
    for n in (N, 4 * N):
        h = 0.1 / (n + 1.0)
        variance = 1.0 / ((n + 1.0) * (1.0 - h * (n + 1.0) / 2.0))
        for steps in (100, 400):
            late = chains(h, steps, 1000, n, sampling="full")[:, -1]
            assert float(late.mean()) == pytest.approx(variance, rel=4.0 * math.sqrt(2.0 / 1000))
