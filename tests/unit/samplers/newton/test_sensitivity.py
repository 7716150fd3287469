"""The price of a look against brute force: no two records are further apart than charged, and the worst attain it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.samplers.newton.families import family_of
from pydpmc.samplers.newton.sensitivity import COIN_FREE, LINEAR_FREE, LOGISTIC_FREE, NOT_FREE, POISSON_FREE, Bounds

COSINES = np.linspace(-1.0, 1.0, 41)
LENGTHS = np.array([0.0, 0.3, 0.6, 0.8, 0.95, 1.0])


def logistic():
    s = np.linspace(0.0, 1.0, 161)
    return s, s * (1 - s), Bounds(1.0, 0.25, LOGISTIC_FREE)


def poisson():
    """Counts up to 1 (in units of their bound), means up to 1/2; beyond it the curvature is zero."""
    mean = np.linspace(0.0, 0.5, 61)
    r = np.concatenate([mean, 1.0 - mean, [0.5]])
    return r, np.concatenate([mean, mean, [0.0]]), Bounds(1.0, 0.5, POISSON_FREE)


def linear():
    return np.linspace(0.0, 1.3, 41), np.full(41, 0.7), Bounds(1.3, 0.7, LINEAR_FREE)


def huber():
    r = np.linspace(0.0, 1.345, 41)
    return np.append(r, 1.345), np.append(np.ones(41), 0.0), Bounds(1.345, 1.0, NOT_FREE)


def outer():
    r = np.linspace(0.0, 1.0, 81)
    return r, r**2, Bounds(1.0, 1.0, LINEAR_FREE)


FAMILIES = {f.__name__: f for f in (logistic, poisson, linear, huber, outer)}


def worst(r, h, sigma, tau, adjacency):
    """The largest distance of neighbours over a grid of residuals, lengths of rows and angles."""
    a = (r[:, None] * LENGTHS).ravel() / sigma
    b = (h[:, None] * LENGTHS**2).ravel() / tau
    if adjacency == "add_remove":
        return math.sqrt((a**2 + b**2).max())
    best = 0.0
    for c in COSINES:
        gradient = a[:, None] ** 2 + a**2 + 2 * a[:, None] * a * c
        best = max(best, (gradient + b[:, None] ** 2 + b**2 - 2 * b[:, None] * b * c**2).max())
    return math.sqrt(best)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_no_pair_of_records_is_further_apart_than_charged(name, adjacency):
    r, h, bounds = FAMILIES[name]()
    for tau in (0.05, 0.1, 0.2, 0.201, 0.21, 0.3, 0.301, 0.4, 0.6, 1.0, 2.0, 5.0):
        assert worst(r, h, 1.0, tau, adjacency) <= bounds.moved(1.0, tau, adjacency) * (1 + 1e-12)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_planned_noise_is_charged_its_mu_and_the_worst_pair_attains_it(name, adjacency):
    r, h, bounds = FAMILIES[name]()
    for mu in (0.01, 0.3, 2.0):
        sigma, tau = bounds.noise(mu, adjacency, 10, 0.1)
        assert bounds.mu(sigma, tau, adjacency, 10) <= mu
        assert bounds.mu(sigma, tau, adjacency, 10) > 0.999 * mu
        assert 0.995 * mu < worst(r, h, sigma, tau, adjacency) <= mu


@pytest.mark.parametrize(("free", "name"), [(LOGISTIC_FREE, "logistic"), (POISSON_FREE, "poisson")])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_tenth_less_noise_on_the_curvature_than_free_is_not_free(free, name, adjacency):
    r, h, bounds = FAMILIES[name]()
    tau = bounds.curvature / bounds.gradient / math.sqrt(free[adjacency])
    assert bounds.moved(1.0, tau * (1 + 1e-9), adjacency) == (2.0 if adjacency == "replace" else 1.0) * bounds.gradient
    alone = (2.0 if adjacency == "replace" else 1.0) * bounds.gradient
    assert worst(r, h, 1.0, 0.9 * tau, adjacency) > alone
    assert bounds.moved(1.0, 0.9 * tau, adjacency) > alone


def test_the_constants_of_lemma_2_and_5():
    s = np.linspace(1e-6, 1 - 1e-6, 2_000_001)
    assert (
        16 * LOGISTIC_FREE["add_remove"] <= ((1 + s) / (s**2 * (1 - s))).min() < 16 * LOGISTIC_FREE["add_remove"] + 2e-3
    )
    k = 16 * LOGISTIC_FREE["replace"]
    assert k <= ((3 + s) / (s**2 * (1 - s))).min() < k + 2e-2
    assert (1.5 * s**2 + k * s**2 * (1 - s) ** 2).max() < 1.98
    k = 4 * POISSON_FREE["replace"]
    b = np.minimum(0.5, 1 - s)
    assert (1.5 * s**2 + k * b**2).max() <= 2.0 + 1e-5
    assert ((1 + s) ** 2 + k * b**2).max() <= 4.0


def test_a_coin_is_worth_one_gradient_under_both_adjacencies():
    bounds = Bounds(1.0, 0.25, COIN_FREE, apart=1.0)
    p = np.linspace(0, 1, 101)
    for adjacency in ("replace", "add_remove"):
        sigma, tau = bounds.noise(0.5, adjacency, 1, 0.1)
        records = [(1 - p, p * (1 - p)), (-p, p * (1 - p)), (0 * p, 0 * p)]  # 1, 0, and one that is not finite
        apart = [np.hypot((a - c) / sigma, (b - d) / tau).max() for a, b in records for c, d in records]
        assert 0.49 < max(apart) <= 0.5


def test_rounding_is_charged_and_grows_with_the_number_of_parameters():
    bounds = Bounds(1.0, 0.25, LOGISTIC_FREE)
    small, large = (bounds.rounding(10.0, 2.1, dim) for dim in (2, 1000))
    assert 0 < small < 1e-6 < large < 1e-5


def test_bounds_follow_the_declared_facts():
    public = dp.Public(n=9, columns=("a", "b"), has_target=True, row_norm=2.0, y_bounds=(0.0, 12.0))
    found = family_of(dp.LogisticRegression(intercept=True), public, 1.0)
    assert found.radius == pytest.approx(math.sqrt(5.0))
    assert (found.bounds.gradient, found.bounds.curvature) == pytest.approx((math.sqrt(5.0), 1.25))
    counts = family_of(dp.PoissonRegression(), public, 1.0)
    assert (counts.bounds.gradient, counts.bounds.curvature) == (24.0, 24.0)
    assert counts.limits == (12.0, math.log(6.0))
    line = family_of(dp.LinearRegression(sigma=0.5), public, 1.5)
    assert (line.bounds.gradient, line.bounds.curvature) == (6.0, 16.0)
    assert line.limits == (0.75, 0.0)
