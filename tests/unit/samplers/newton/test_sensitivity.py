"""The price of a look against brute force: no two records are further apart than charged, and the worst attain it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import pydpmc as dp
from pydpmc.samplers.newton.families import family_of
from pydpmc.samplers.newton.sensitivity import (
    COIN_FREE,
    LINEAR_FREE,
    LOGISTIC_FREE,
    NOT_FREE,
    POISSON_FREE,
    PROBIT_FREE,
    Bounds,
)

LENGTHS = np.array([0.3, 0.6, 0.8, 0.95, 1.0])


def logistic():
    s = np.linspace(0.0, 1.0, 161)
    return s, s * (1 - s), Bounds(1.0, 0.25, LOGISTIC_FREE)


def poisson():
    """Counts up to 1 (in units of their bound), means up to 1/2; beyond it the curvature is zero."""
    mean = np.linspace(0.0, 0.5, 61)
    r = np.concatenate([mean, 1.0 - mean, [0.5]])
    return r, np.concatenate([mean, mean, [0.0]]), Bounds(1.0, 0.5, POISSON_FREE)


def probit():
    s = np.linspace(1e-9, 1.0 - 1e-9, 161)
    h = np.exp(-(ndtri(s) ** 2) / 2) / math.sqrt(2 * math.pi)
    return np.append(s, 1.0), np.append(h, 0.0), Bounds(1.0, 1 / math.sqrt(2 * math.pi), PROBIT_FREE)


def negative_binomial(dispersion):
    """Counts 0 to 10, the bounds from the declared facts, gradients and curvatures from the model's formulas."""
    public = dp.Public(n=9, columns=("a",), has_target=True, row_norm=1.0, y_bounds=(0.0, 10.0))
    found = family_of(dp.NegativeBinomialRegression(dispersion=dispersion), public, 1.0)
    most, top = found.limits
    mean = np.exp(np.append(np.linspace(-9.0, min(top, 25.0), 60), [0.0]))
    weight = 1 / (1 + dispersion * mean)
    r = np.concatenate([np.abs(y - mean) * weight for y in (0.0, 3.0, 10.0)] + [[most]])
    return r, np.append(np.tile(mean * weight, 3), 0.0), found.bounds


def negative_binomial_limited():
    return negative_binomial(0.15)  # 1/dispersion is 0.67 of the largest count: means are limited


def negative_binomial_unlimited():
    return negative_binomial(2.0)


def linear():
    return np.linspace(0.0, 1.3, 41), np.full(41, 0.7), Bounds(1.3, 0.7, LINEAR_FREE)


def huber():
    r = np.linspace(0.0, 1.345, 41)
    return np.append(r, 1.345), np.append(np.ones(41), 0.0), Bounds(1.345, 1.0, NOT_FREE)


def outer():
    r = np.linspace(0.0, 1.0, 81)
    return r, r**2, Bounds(1.0, 1.0, LINEAR_FREE)


FAMILIES = {
    f.__name__: f
    for f in (logistic, probit, poisson, negative_binomial_limited, negative_binomial_unlimited, linear, huber, outer)
}


def worst(r, h, sigma, tau, adjacency):
    """The largest distance of neighbours over a grid of residuals and lengths of rows, at the worst angle.

    With c the cosine of the angle, the squared distance is alone + 2 c (a a' - b b' c), which is concave in c.
    """
    a = (r[:, None] * LENGTHS).ravel() / sigma
    b = (h[:, None] * LENGTHS**2).ravel() / tau
    alone = a**2 + b**2
    if adjacency == "add_remove":
        return math.sqrt(alone.max())
    best = 0.0
    for k in range(len(a)):  # with itself and those after it
        gradients, curvatures = a[k] * a[k:], b[k] * b[k:]
        c = np.where(gradients < 2 * curvatures, gradients / np.maximum(2 * curvatures, 1e-300), 1.0)
        best = max(best, (alone[k] + alone[k:] + 2 * c * (gradients - curvatures * c)).max())
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


@pytest.mark.parametrize(
    "name", ["logistic", "probit", "poisson", "negative_binomial_limited", "negative_binomial_unlimited"]
)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_twentieth_less_noise_on_the_curvature_than_free_is_not_free(name, adjacency):
    r, h, bounds = FAMILIES[name]()
    tau = bounds.curvature / bounds.gradient / math.sqrt(bounds.free[adjacency])
    assert bounds.moved(1.0, tau * (1 + 1e-9), adjacency) == (2.0 if adjacency == "replace" else 1.0) * bounds.gradient
    alone = (2.0 if adjacency == "replace" else 1.0) * bounds.gradient
    assert worst(r, h, 1.0, 0.95 * tau, adjacency) > alone
    assert bounds.moved(1.0, 0.95 * tau, adjacency) > alone


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


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_weighted_records_are_no_further_apart_than_charged_and_the_heaviest_attain_it(name, adjacency):
    r, h, bounds = FAMILIES[name]()
    heavy = bounds.weighted(2.5)
    if name == "outer":  # the product of weighted gradients
        heavy = Bounds(2.5 * bounds.gradient, (2.5 * bounds.gradient) ** 2, LINEAR_FREE)
    weights = 2.5 * np.array([0.02, 0.2, 0.5, 0.8, 1.0])
    some = np.linspace(0, len(r) - 1, 50).astype(int)  # with the ends
    r, h = r[some], h[some]
    if name == "probit":  # and the residuals at which the curvature binds
        r = np.append(r, [0.6702, 0.7047])
        h = np.append(h, np.exp(-(ndtri(r[-2:]) ** 2) / 2) / math.sqrt(2 * math.pi))
    power = 2 if name == "outer" else 1
    every = (weights[:, None] * r).ravel(), (weights[:, None] ** power * h).ravel()
    sigma, tau = heavy.noise(0.3, adjacency, 10, 0.1)
    assert 0.99 * 0.3 < worst(*every, sigma, tau, adjacency) <= 0.3


def test_the_proof_of_lemma_7():
    """F is convex between -z0 and z0 and positive at its minimum; outside it is concave, and not negative at ends."""
    for k, top in ((4.2, lambda a: 1 - a**2), (9.18, lambda a: 4 - (1 + a) ** 2)):

        def slack(z, k=k, top=top):
            return top(ndtr(z)) - k * np.exp(-z * z) / (2 * math.pi)

        edge = math.sqrt((k - 1) / k)
        assert slack(-edge) > 0
        assert slack(edge) > 0
        z = np.linspace(-edge, edge, 2_000_001)
        at = slack(z).argmin()
        assert 0 < at < 2_000_000
        step = ndtr(z[at + 1]) - ndtr(z[at - 1])  # the tangent at a minimum on the grid is no lower than this
        assert slack(z[at]) > step * (2 * k + 4)
    a = np.linspace(1e-9, 1 - 1e-9, 200_001)
    assert (1.5 * a**2 + 9.18 * np.exp(-(ndtri(a) ** 2)) / (2 * math.pi)).max() < 1.92
    assert 2 * math.pi * PROBIT_FREE["add_remove"] == pytest.approx(4.2)
    assert 2 * math.pi * PROBIT_FREE["replace"] == pytest.approx(9.18)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_no_two_records_of_a_softmax_are_further_apart_than_charged(adjacency, classes, rng):
    """Residuals e_y - p (x) x, and x x': random records, and the worst pairs: opposite residuals, rows at an angle."""
    bounds = family_of(
        dp.SoftmaxRegression(classes=classes), dp.Public(n=9, columns=("a", "b"), has_target=True, row_norm=1.0), 1.0
    ).bounds
    free = bounds.curvature / bounds.gradient / math.sqrt(0.5)
    for tau, exceeded in ((free * (1 + 1e-9), False), (0.95 * free, True), (0.3 * free, True)):
        charged, found = bounds.moved(1.0, tau, adjacency), 0.0
        for trial in range(3000):
            records = []
            for y, angle in ((0, 0.0), (1, rng.uniform(0, math.pi) * rng.random() ** 2)):
                p = rng.dirichlet(np.full(classes, 0.3)) if trial % 2 else np.eye(classes)[1 - y]
                x = np.array([math.cos(angle), math.sin(angle)]) * (1.0 if trial % 2 == 0 else rng.random() ** 0.2)
                records.append((np.outer(np.eye(classes)[y] - p, x), np.outer(x, x) / tau))
            (g, h), (g2, h2) = records
            if adjacency == "add_remove":
                g2, h2 = 0.0 * g, 0.0 * h
            found = max(found, math.sqrt(((g - g2) ** 2).sum() + ((h - h2) ** 2).sum()))
        assert found <= charged * (1 + 1e-12)
        if adjacency == "replace":
            assert (found > 2.0 * bounds.gradient * (1 + 1e-4)) == exceeded
        else:
            assert found == pytest.approx(charged, rel=1e-9)


def test_a_coin_is_worth_one_gradient_under_both_adjacencies():
    bounds = Bounds(1.0, 0.25, COIN_FREE, apart=1.0)
    assert bounds.weighted(3.0) == Bounds(3.0, 0.75, COIN_FREE, apart=2.0)
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
