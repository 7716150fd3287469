"""Weights of Gibbs posteriors: ours, compared with those of Minami et al. (2016)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from pydpmc import accounting as acc

UNIT = {"lipschitz": 1.0, "strong_convexity": 1.0}


def gdp_delta(mu: float, epsilon: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize(
    ("budget", "ours", "theorem7", "corollary8"),
    [((0.1, 1e-3), "0.0287", "0.0134", "0.0130"), ((1.0, 1e-5), "0.1340", "0.1020", "0.1020")],
)
def test_published_weights(budget, ours, theorem7, corollary8):
    assert f"{acc.gibbs_weight(*budget, **UNIT):.4f}" == ours
    assert f"{acc.minami2016_weight(*budget, **UNIT):.4f}" == theorem7
    assert f"{acc.minami2016_weight(*budget, **UNIT, variant='corollary8'):.4f}" == corollary8


def test_published_weights_of_the_gaussian_mean():
    n = 7000
    assert f"{acc.gaussian_mean_weight(0.1, 1e-3, n) / n:.3g}" == "0.000825"
    theirs = acc.minami2016_gaussian_mean_weight(0.1, 1e-3, n) / n
    assert math.floor(theirs * 1e6) == 179  # printed as "below 1.79e-4 n"
    assert (
        acc.minami2016_gaussian_mean_weight(0.1, 1e-3, 5600)
        > 1.0
        > acc.minami2016_gaussian_mean_weight(0.1, 1e-3, 5500)
    )


@pytest.mark.parametrize("budget", [(0.1, 1e-3), (1.0, 1e-5), (5.0, 1e-9)])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_weight_spends_its_budget_and_no_more(budget, adjacency):
    epsilon, delta = budget
    constants = {"lipschitz": 0.7, "strong_convexity": 3.0, "adjacency": adjacency}
    w = acc.gibbs_weight(epsilon, delta, **constants)
    mu = acc.gibbs_mu(w, **constants)
    assert gdp_delta(mu, epsilon) <= delta * (1 + 1e-9)
    assert gdp_delta(mu * 1.001, epsilon) > delta


@pytest.mark.parametrize("precision", [0.0, 2.0, 1e6])
def test_the_gaussian_mean_solves_its_own_formula(precision):
    n, radius = 300, 2.0
    w = acc.gaussian_mean_weight(0.5, 1e-6, n, radius=radius, precision=precision)
    mu = 2 * radius * w / math.sqrt(n * w + precision)
    assert gdp_delta(mu, 0.5) <= 1e-6 * (1 + 1e-9)
    assert gdp_delta(mu * 1.001, 0.5) > 1e-6


def test_theorem_7_gives_back_its_delta():
    epsilon, delta = 0.3, 1e-4
    w = acc.minami2016_weight(epsilon, delta, lipschitz=2.0, strong_convexity=5.0)
    rate = 2.0 * 2.0**2 * w**2 / 5.0  # 2 L^2 w^2 / m
    assert math.exp(-((epsilon - rate) ** 2) / (4 * rate)) == pytest.approx(delta, rel=1e-9)


def test_our_weight_is_larger_than_the_papers_everywhere():
    for epsilon in np.geomspace(0.01, 10, 7):
        for delta in np.geomspace(1e-12, 1e-3, 5):
            theirs = acc.minami2016_weight(epsilon, delta, **UNIT)
            if epsilon <= 1.0:
                assert acc.minami2016_weight(epsilon, delta, **UNIT, variant="corollary8") <= theirs * (1 + 1e-12)
            assert theirs < acc.gibbs_weight(epsilon, delta, **UNIT)
    with pytest.raises(ValueError, match="epsilon must be at most 1 for corollary 8"):
        acc.minami2016_weight(2.0, 1e-6, **UNIT, variant="corollary8")


def test_theorem_21_by_hand_and_its_refusals():
    gamma, d, m, big_m = 0.1, 2, 1.0, 1.0
    horizon = 2 * math.log(10)
    x = big_m * d * horizon / gamma**2
    step = gamma**2 * x / (big_m**2 * horizon * d * (1 + x) / 2)
    found = acc.minami2016_steps(gamma, dim=d, strong_convexity=m, smoothness=big_m)
    assert found.step_size == pytest.approx(step, rel=1e-12)
    assert found.steps == math.ceil(horizon / found.step_size)
    for options in ({"gamma": 0.5}, {"gamma": 0.0}, {"dim": 1}, {"smoothness": 0.5}):
        arguments = {"gamma": gamma, "dim": d, "strong_convexity": m, "smoothness": big_m} | options
        with pytest.raises(ValueError, match=r"gamma|dim"):
            acc.minami2016_steps(arguments.pop("gamma"), **arguments)


def test_an_unknown_adjacency_is_refused():
    with pytest.raises(ValueError, match="adjacency"):
        acc.gibbs_mu(0.1, **UNIT, adjacency="both")
