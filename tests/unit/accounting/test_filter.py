"""The privacy filter: what it lets through is within the budget however it was chosen."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from pydpmc import accounting as acc
from pydpmc.accounting.events.gaussian import gdp_delta
from pydpmc.accounting.filter import PrivacyFilter
from pydpmc.accounting.filter_cover import cover
from pydpmc.errors import BudgetError

RELEASES = {
    "bits": acc.compose([(acc.AcceptBit(shift=0.02), 600)]),
    "few bits": acc.compose([(acc.AcceptBit(shift=0.3), 3)]),
    "poisson": acc.compose([(acc.Gaussian(1.0).poisson(0.01), 300)], "add_remove"),
    "without replacement": acc.compose([(acc.Gaussian(4.0).without_replacement(100, 10_000), 500)]),
    "pure": acc.compose([(acc.PureDP(0.4), 1)]),
    "mixed": acc.compose([(acc.AcceptBit(shift=0.02), 200), (acc.Gaussian(30.0), 3)]),
}


@pytest.mark.parametrize("name", RELEASES)
def test_the_cover_lies_above_the_profile_everywhere(name, rng):
    release, beside = RELEASES[name], 1e-7
    mu = cover(release, beside)
    losses = np.concatenate([[0.0], rng.uniform(0, 1.3 * release.epsilon(beside), 25)])
    above = gdp_delta(mu, losses) + beside
    assert all(release.delta(float(loss)) <= bound for loss, bound in zip(losses, above, strict=True))
    assert 0 < mu < 2


def test_the_cover_is_tight_where_the_answer_is_known():
    assert cover(acc.compose([(acc.Gaussian(10.0), 9)]), 1e-7) == pytest.approx(0.6, rel=1e-9)
    bits = cover(acc.compose([(acc.AcceptBit(shift=0.01), 2500)]), 1e-8)
    assert 0.25 <= bits < 0.25 * 1.015
    half = acc.compose([(acc.PureDP(0.5), 1)])  # the centre of its profile alone decides
    assert cover(half, 1e-9) == pytest.approx(2 * ndtri(expit(0.5)), rel=2e-3)


def test_a_void_release_has_no_cover():
    assert cover(acc.Guarantee(events=(), void="a reason"), 1e-6) == math.inf


def randomised_response(epsilon, loss):
    """The profile of PureDP(epsilon), exactly."""
    return max(0.0, (math.exp(epsilon) - math.exp(loss)) / (1 + math.exp(epsilon)))


def test_composing_chosen_parameters_is_no_filter_and_ours_refuses_the_counterexample():
    """The analyst takes what is cheap for the first answer; either choice, made in advance, is within the budget."""
    epsilon, delta, one = 1.0, 1e-3, 0.1
    high = expit(one)  # probability of the first answer that speaks against the record
    sharp = brentq(lambda x: high * randomised_response(x, epsilon - one) - 0.98 * delta, 0.9, 1.1)
    rare = acc.PoissonGaussian(noise_multiplier=0.05, rate=0.98 * delta)  # reveals the record, rarely
    fixed_sharp = high * randomised_response(sharp, epsilon - one) + (1 - high) * randomised_response(sharp, 1.1)
    fixed_rare = acc.compose([(acc.PureDP(one), 1), (rare, 1)], "add_remove").delta(epsilon)
    assert max(fixed_sharp, fixed_rare) <= delta
    assert high * randomised_response(sharp, epsilon - one) + (1 - high) * rare.rate * 0.999 > 1.4 * delta

    budget = PrivacyFilter(epsilon, delta)
    budget = budget.after(budget.charge(acc.compose([(acc.PureDP(one), 1)], "add_remove")))
    refused = 0
    for second in (acc.PureDP(sharp), rare):
        try:
            budget.charge(acc.compose([(second, 1)], "add_remove"))
        except BudgetError:
            refused += 1
    assert refused >= 1


def test_what_is_let_through_costs_no_more_than_the_budget_composed(rng):
    same = [release for release in RELEASES.values() if release.adjacency == "replace"]
    budget, through = PrivacyFilter(1.2, 1e-5), []
    for index in rng.integers(0, len(same), 8):
        try:
            budget = budget.after(budget.charge(same[index]))
            through.append(same[index])
        except BudgetError:
            continue
    assert len(through) >= 2
    assert acc.combine(through).epsilon(1e-5) <= 1.2


def runs_let_through(budget, run, most=100):
    for count in range(most):
        try:
            budget = budget.after(budget.charge(run))
        except BudgetError as error:
            return count, str(error)
    return most, ""


def test_little_is_lost_against_parameters_that_are_fixed_in_advance():
    steps = acc.Gaussian(4.0).poisson(0.05)
    count, _ = runs_let_through(PrivacyFilter(2.0, 1e-5), acc.compose([(steps, 200)], "add_remove"))
    fixed = acc.calibrate(
        lambda runs: [(steps, 200 * runs)], epsilon=2.0, delta=1e-5, adjacency="add_remove", bracket=(1, 100)
    )
    assert 0.75 * fixed <= count <= fixed


def test_one_run_may_take_the_whole_budget_and_then_nothing_is_left():
    run = acc.compose([(acc.AcceptBit(shift=0.02), 600)])
    budget = PrivacyFilter(run.epsilon(1e-6), 1e-6)
    assert budget.remaining == budget.epsilon
    after = budget.after(budget.charge(run))
    assert after.remaining == 0.0
    with pytest.raises(BudgetError, match="remains epsilon = 0"):
        after.charge(acc.compose([(acc.Gaussian(1e6), 1)]))
    with pytest.raises(BudgetError):
        PrivacyFilter(run.epsilon(1e-6) * (1 - 1e-9), 1e-6).charge(run)


def test_pure_releases_add_up_to_the_whole_epsilon():
    third = acc.compose([(acc.PureDP(1.0), 1)])
    budget = PrivacyFilter(3.0, 1e-9)
    for _ in range(3):
        budget = budget.after(budget.charge(third))
    with pytest.raises(BudgetError):
        budget.charge(acc.compose([(acc.PureDP(0.01), 1)]))


def test_precision_of_random_numbers_has_a_purse_of_its_own():
    run = acc.compose([(acc.Gaussian(1000.0), 1)], total_variation=1e-10)
    count, refusal = runs_let_through(PrivacyFilter(1.0, 1e-6), run)
    assert count == 26  # of these, one percent of delta over 1 + e pays for
    assert "random numbers" in refusal


def test_remaining_is_what_a_gaussian_release_may_still_cost():
    budget = PrivacyFilter(2.0, 1e-6)
    budget = budget.after(budget.charge(acc.compose([(acc.Gaussian(10.0), 1)])))
    left = acc.calibrate(
        lambda mu: [(acc.GDP(mu), 1)], epsilon=budget.remaining, delta=1e-6, bracket=(1e-3, 5.0), integer=False
    )
    budget.charge(acc.compose([(acc.GDP(left * (1 - 1e-6)), 1)]))
    with pytest.raises(BudgetError):
        budget.charge(acc.compose([(acc.GDP(left * 1.001), 1)]))
