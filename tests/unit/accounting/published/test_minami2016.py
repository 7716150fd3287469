"""Minami et al. (2016): theorem 10, theorem 16 with example 17, and the PAC-Bayes bounds, checked by quadrature."""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from pydpmc import accounting as acc
from pydpmc.errors import InvalidArgument

BUDGET = (0.5, 1e-3)


def gdp_delta(mu, epsilon):
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def normalised(log_density):
    weight = np.exp(log_density - log_density.max())
    return weight / weight.sum()


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("precision", [0.0, 3.0])
def test_a_draw_on_a_ball_never_costs_more_than_its_weight_allows(adjacency, precision):
    """The loss |theta - x|^2 / 2 on [-1, 1] has L = 2 and m = 1: exact profiles of the worst neighbours."""
    n, grid = 40, np.linspace(-1.0, 1.0, 20_001)
    constants = {"lipschitz": 2.0, "strong_convexity": 1.0, "precision": precision, "adjacency": adjacency}
    w = acc.strongly_convex_weight(*BUDGET, n, **constants)
    epsilons = (0.02, 0.1, BUDGET[0])
    worst = dict.fromkeys(epsilons, 0.0)
    for centre in (-0.5, 0.0, 0.9):
        others = np.full(n - 1 if adjacency == "replace" else n, centre)
        tables = [np.append(others, x) for x in (-1.0, 1.0)] + ([] if adjacency == "replace" else [others])
        laws = [normalised(-w * ((grid[:, None] - x) ** 2).sum(axis=1) / 2 - precision * grid**2 / 2) for x in tables]
        pairs = [(p, q) for p in laws for q in laws if adjacency == "replace" or (p is laws[-1]) != (q is laws[-1])]
        for epsilon in epsilons:
            found = (float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) for p, q in pairs)
            worst[epsilon] = max(worst[epsilon], *found)
    s = 2.0 if adjacency == "replace" else 1.0
    mu = s * 2.0 * w / math.sqrt(n * w + precision)
    assert worst[epsilons[0]] > 0.0
    assert all(delta <= gdp_delta(mu, epsilon) for epsilon, delta in worst.items())


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_a_penalised_logistic_loss_on_a_ball_costs_what_theorem_10_charges(adjacency):
    """The loss log(1 + exp(-z theta)) + m theta^2 / 2, |z| <= 1, on [-2, 2]: L = 1 + 2 m. It is no Gaussian mean."""
    n, m, grid = 30, 0.5, np.linspace(-2.0, 2.0, 20_001)
    constants = {"lipschitz": 1.0 + 2.0 * m, "strong_convexity": m, "adjacency": adjacency}
    w = acc.strongly_convex_weight(*BUDGET, n, **constants)
    if adjacency == "replace":
        theirs = acc.minami2016_strongly_convex_weight(*BUDGET, n, lipschitz=1.0 + 2.0 * m, strong_convexity=m)
        assert theirs < w
    mu = (2.0 if adjacency == "replace" else 1.0) * constants["lipschitz"] * math.sqrt(w / (n * m))

    def law(features):
        losses = np.logaddexp(0.0, -np.outer(grid, features)).sum(axis=1) + len(features) * m * grid**2 / 2
        return normalised(-w * losses)

    worst = 0.0
    for centre in (-1.0, 0.2, 1.0):
        others = np.full(n - 1 if adjacency == "replace" else n, centre)
        changed = [law(np.append(others, z)) for z in (-1.0, 1.0)]
        pairs = [changed] if adjacency == "replace" else [[law(others), one] for one in changed]
        for p, q in [pair for pq in pairs for pair in (pq, pq[::-1])]:
            for epsilon in (0.02, 0.1, BUDGET[0]):
                delta = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
                assert delta <= gdp_delta(mu, epsilon)
                worst = max(worst, delta)
    assert worst > 0.0


@pytest.mark.parametrize("precision", [0.0, 2.0, 1e6])
def test_the_weight_spends_its_budget_and_no_more(precision):
    n, lipschitz, m = 300, 2.0, 0.3
    w = acc.strongly_convex_weight(*BUDGET, n, lipschitz=lipschitz, strong_convexity=m, precision=precision)
    mu = 2 * lipschitz * w / math.sqrt(n * w * m + precision)
    assert gdp_delta(mu, BUDGET[0]) <= BUDGET[1] * (1 + 1e-9)
    assert gdp_delta(mu * 1.001, BUDGET[0]) > BUDGET[1]


def test_theorem_10_gives_back_its_delta_and_is_below_our_weight():
    (epsilon, delta), n, ball = BUDGET, 500, {"lipschitz": 2.0, "strong_convexity": 0.7}
    w = acc.minami2016_strongly_convex_weight(epsilon, delta, n, **ball)
    rate = 2.0 * ball["lipschitz"] ** 2 * w / (n * ball["strong_convexity"])
    assert math.exp(-((epsilon - rate) ** 2) / (4 * rate)) == pytest.approx(delta, rel=1e-9)
    assert w < acc.strongly_convex_weight(epsilon, delta, n, **ball)


def test_the_figures_of_example_17():
    theirs = acc.minami2016_weight(0.1, 1e-3, lipschitz=1.0, strong_convexity=1.0, variant="corollary8")
    assert 0.012 < theirs < 0.0131  # printed as 0.012
    assert math.floor(acc.minami2016_inflation(0.012)) == 83  # "at least 83 times"
    ours = acc.gibbs_weight(0.1, 1e-3, lipschitz=1.0, strong_convexity=1.0)
    assert acc.minami2016_inflation(ours) < 35


def test_the_gibbs_posterior_of_a_coin_tends_to_the_law_of_theorem_16():
    w, theta0 = 0.3, 0.8
    information = expit(theta0) * expit(-theta0)
    errors = []
    for n in (100, 1000, 10_000):
        grid = np.linspace(theta0 - 40 / math.sqrt(n), theta0 + 40 / math.sqrt(n), 40_001)
        ones = n * expit(theta0)
        law = normalised(w * (ones * grid - n * np.logaddexp(0.0, grid)) - grid**2 / 2)
        centre = (law * grid).sum()
        variance = n * (law * (grid - centre) ** 2).sum()
        errors.append(abs(variance / (acc.minami2016_inflation(w) / information) - 1.0))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01


def test_the_condition_of_example_19_is_the_smaller_of_privacy_and_assumption():
    """Printed: beta <= sqrt(k n)/r min(epsilon / (2 sqrt(1 + 2 log 1/delta)), 2 sqrt n) for the prior N(0, I / (k n)).

    The first is corollary 8 for a factor of the *sum* of losses, the second the interval of f for one of the mean,
    whose end is printed as 2 sqrt(k n)/r in the text before.
    """
    (epsilon, delta), n, k, radius = (0.1, 1e-3), 400, 0.3, 2.0
    root = math.sqrt(k * n) / radius
    weight = acc.minami2016_weight(epsilon, delta, lipschitz=radius, strong_convexity=k * n, variant="corollary8")
    assert root * epsilon / (2 * math.sqrt(1 - 2 * math.log(delta))) == pytest.approx(weight)
    end = root * 2 * math.sqrt(n)
    prior = {"radius": radius, "precision": k * n}
    assert math.isfinite(acc.hinge_hoeffding(0.999 * end, n, **prior))
    with pytest.raises(InvalidArgument, match="beta must be below"):
        acc.hinge_hoeffding(end, n, **prior)
    beta = weight * n  # what multiplies the mean loss at this weight
    assert acc.hinge_hoeffding(beta, n, **prior) == pytest.approx(
        beta**2 / (4 * n) - math.log(1 - (radius * beta) ** 2 / (4 * k * n**2)) / 2
    )


def hinge(theta, y):
    return np.maximum(0.0, 1.0 - y * theta)


def divergence(law, prior):
    return float((law * np.log(np.maximum(law, 1e-300) / prior)).sum())


def test_pac_bayes_bounds_of_the_hinge_loss_hold_as_often_as_they_say():
    """The feature is 1 and labels are 1 with probability 0.8, so all risks are finite sums."""
    rng, n, precision, beta, alpha = np.random.default_rng(3), 60, 1.0, 6.0, 0.1
    grid = np.linspace(-8.0, 8.0, 4001)
    prior = normalised(-precision * grid**2 / 2)
    f = acc.hinge_hoeffding(beta, n, radius=1.0, precision=precision)
    risk = 0.8 * hinge(grid, 1.0) + 0.2 * hinge(grid, -1.0)
    laws = [normalised(np.log(prior) - b * risk) for b in (0.5, 1.0, 3.0, 6.0, 12.0)]
    options = {"beta": beta, "alpha": alpha}
    oracle = min(acc.pac_bayes_oracle(float(law @ risk), divergence(law, prior), f, **options) for law in laws)
    broken = oracle_broken = 0
    for _ in range(300):
        right = rng.binomial(n, 0.8) / n
        empirical = right * hinge(grid, 1.0) + (1 - right) * hinge(grid, -1.0)
        gibbs = normalised(np.log(prior) - beta * empirical)
        bound = acc.pac_bayes_bound(float(gibbs @ empirical), divergence(gibbs, prior), f, **options)
        broken += float(gibbs @ risk) > bound
        oracle_broken += float(gibbs @ risk) > oracle
        assert bound < 2.0  # below the risk of theta = 0 plus one: it says something
    assert broken <= alpha * 300
    assert oracle_broken <= 2 * alpha * 300


def test_the_hoeffding_term_bounds_the_moment_that_it_stands_for():
    """(C.5), by quadrature over the prior and the binomial law of the labels."""
    n, precision, beta = 40, 2.0, 5.0
    grid = np.linspace(-6.0, 6.0, 2001)
    prior = normalised(-precision * grid**2 / 2)
    right = np.arange(n + 1)
    log_chance = np.array([math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in right])
    chance = np.exp(log_chance + right * math.log(0.7) + (n - right) * math.log(0.3))
    risk = 0.7 * hinge(grid, 1.0) + 0.3 * hinge(grid, -1.0)
    empirical = right[:, None] / n * hinge(grid, 1.0) + (1 - right[:, None] / n) * hinge(grid, -1.0)
    f = acc.hinge_hoeffding(beta, n, radius=1.0, precision=precision)
    for sign in (1.0, -1.0):
        moment = float(chance @ np.exp(sign * beta * (risk - empirical)) @ prior)
        assert 1.0 < moment <= math.exp(f)
    with pytest.raises(InvalidArgument, match="beta must be below"):
        acc.hinge_hoeffding(100.0, 100, radius=1.0, precision=1.0)
