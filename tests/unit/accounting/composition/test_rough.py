"""Rough prices only guide a search: how large their errors are, and that no guarantee rests on them."""

import math

import pytest

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.accounting import calibration
from pydpmc.accounting.composition.bounds import rough_epsilon, rough_variance
from pydpmc.accounting.composition.grid import loss_scale, loss_scales
from pydpmc.accounting.composition.uses import bucketed, coarsened

LEVELS = [(acc.Gaussian(2.0 * 1.01**k).poisson(0.02), 5 + k) for k in range(200)]
USES = {
    "bits": [(acc.AcceptBit(0.005), 3000)],
    "bits beside a Gaussian": [(acc.AcceptBit(0.01), 2000), (acc.GDP(0.2), 1)],
    "few wide bits": [(acc.AcceptBit(0.4), 10)],
    "one draw": [(acc.BoundedRange(0.5), 1)],
    "bits too many for the induction": [(acc.AcceptBit(0.002), 10**6)],
    "minibatch": [(acc.MinibatchAcceptBit(b=100, n=10**5, v_max=0.3), 10**4)],
    "poisson": [(acc.Gaussian(1.0).poisson(0.01), 1000)],
    "levels": LEVELS,
    "without replacement": [(acc.Gaussian(3.0 * 1.02**k).without_replacement(10, 1000), 10) for k in range(100)],
    "mixed": [(acc.GDP(0.3), 1), (acc.Gaussian(2.0).poisson(0.01), 500), (acc.PureDP(0.01), 3)],
}


@pytest.mark.parametrize("name", USES)
def test_rough_prices_are_near_the_full_ones(name):
    given = acc.compose(USES[name])
    assert rough_epsilon(given.events, "replace", 1e-6) == pytest.approx(given.epsilon(1e-6), rel=0.05)


def test_a_rough_variance_is_near_that_of_all_levels():
    exact = sum(n * loss_scale(event, "replace")[0] for event, n in LEVELS)
    assert rough_variance(tuple(LEVELS), "replace") == pytest.approx(exact, rel=0.05)


def test_scales_between_levels_are_near_their_own():
    events = [event for event, _ in LEVELS] + [acc.PureDP(0.1)]
    own = [loss_scale(event, "replace") for event in events]
    for found, expected in zip(loss_scales(events, "replace").tolist(), own, strict=True):
        assert found == pytest.approx(expected, rel=0.03)


def test_few_levels_hold_all_uses_and_only_buckets_never_cost_less():
    few = coarsened(LEVELS, 10)
    assert len(few) < 20
    assert sum(n for _, n in few) == sum(n for _, n in LEVELS)
    exact = math.fsum(n / event.noise_multiplier**2 for event, n in LEVELS)
    assert math.fsum(n / event.noise_multiplier**2 for event, n in few) == pytest.approx(exact, rel=0.02)
    assert math.fsum(n / event.noise_multiplier**2 for event, n in bucketed(LEVELS)) >= exact


@pytest.mark.parametrize("wrong", [0.7, 5.0, math.inf])
def test_misled_searches_still_end_within_the_budget(wrong, monkeypatch):
    monkeypatch.setattr(calibration, "rough_epsilon", lambda uses, adjacency, delta: wrong)
    event = acc.Gaussian(2.0).poisson(0.01)
    steps = acc.calibrate(lambda steps: [(event, int(steps))], epsilon=1.0, delta=1e-6)
    assert (
        acc.compose([(event, int(steps))]).epsilon(1e-6) <= 1.0 < acc.compose([(event, int(steps) + 1)]).epsilon(1e-6)
    )


def test_a_search_comes_back_from_where_all_costs_are_infinite():
    found = acc.calibrate(
        lambda share: [(acc.Gaussian(share**-0.5).poisson(0.02), 200)],
        epsilon=10.0,
        delta=1e-6,
        adjacency="add_remove",
        bracket=(1e-12, 1e6),
        integer=False,
        unspent=1e-3,
    )
    cost = acc.compose([(acc.Gaussian(found**-0.5).poisson(0.02), 200)], "add_remove").epsilon(1e-6)
    assert 9.98 <= cost <= 10.0


def test_a_huge_gaussian_beside_other_events_costs_infinity():
    given = acc.compose([(acc.GDP(1e6), 1), (acc.Gaussian(2.0).poisson(0.01), 10)])
    assert given.epsilon(1e-6) == math.inf
    assert given.delta(1.0) == 1.0
    assert rough_epsilon(given.events, "replace", 1e-6) == math.inf


def test_random_numbers_that_use_up_delta_leave_no_epsilon():
    given = acc.compose([(acc.Gaussian(0.5).poisson(0.1), 200)], total_variation=1e-10)
    assert acc.compose(given.events).epsilon(1e-6) > 12.0
    assert given.epsilon(1e-6) == math.inf


def test_draws_are_planned_beside_an_earlier_release_that_is_not_gaussian():
    earlier = [acc.compose([(acc.Gaussian(3.0).poisson(0.01), 100)])]
    public = dp.Public(n=10_000, columns=("a", "b"), has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0))
    model = dp.LinearRegression(sigma=1.0)
    plan = dp.plan(model, public, dp.ConjugateSample(), epsilon=1.0, delta=1e-6, earlier=earlier)
    assert 0.9999 < plan.guarantee.epsilon(1e-6) <= 1.0


def test_a_search_goes_on_where_random_numbers_would_use_up_delta_at_the_budget():
    def given(share):
        return acc.compose([(acc.GDP(2.0 * share), 1)], total_variation=1e-10 * share)

    found = acc.calibrate(
        lambda share: [given(share)], epsilon=10.0, delta=1e-6, bracket=(1e-6, 1.0), integer=False, unspent=1e-3
    )
    assert given(1.01 * found).epsilon(1e-6) == math.inf  # though at epsilon = 10 delta is used up much earlier
    assert given(found).epsilon(1e-6) < 10.0
    assert (1.0 + math.exp(10.0)) * 1e-10 * found > 1e-6
