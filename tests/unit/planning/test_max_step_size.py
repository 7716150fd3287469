"""The published figures of Li et al. (2019), with an accountant that does not understate them."""

import math

import pytest

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.accounting.events.gaussian import gdp_epsilon
from pydpmc.errors import UnsupportedEventError

SETTING = {"n": 50_000, "steps": 10_000, "clip": 1.0, "decay": 1 / 3}


@pytest.mark.parametrize(("adjacency", "epsilon"), [("add_remove", 0.2201), ("replace", 0.4534)])
def test_mnist_run_of_li2019_costs_less_than_the_reported_epsilon(adjacency, epsilon):
    public = dp.Public(n=60_000, columns=("x",), has_target=True, row_norm=1.0, public_n=60_000)
    sampler = dp.SGLD(calibration="li2019", steps=9375, step_size=0.3, clip=0.3, batch_size=128)
    plan = dp.plan(dp.LogisticRegression(), public, sampler, adjacency=adjacency)
    assert plan.settings.noise[0] / plan.settings.clip == pytest.approx(3.180, rel=1e-3)
    assert plan.guarantee.epsilon(1e-5) == pytest.approx(epsilon, rel=1e-3)


def test_svhn_run_of_li2019_costs_1685_instead_of_3():
    public = dp.Public(n=600_000, columns=("x",), has_target=True, row_norm=1.0, public_n=600_000)
    sampler = dp.SGLD(calibration="li2019", steps=93_750, step_size=0.1, clip=5.0, batch_size=128)
    plan = dp.plan(dp.LogisticRegression(), public, sampler, adjacency="add_remove")
    with_exact_noise = acc.compose(plan.guarantee.events, adjacency="add_remove")
    assert with_exact_noise.epsilon(1e-6) == pytest.approx(1685, rel=1e-3)
    assert plan.guarantee.epsilon(1e-6) == math.inf  # e^1685 times the error of any random number is no guarantee


LARGEST = [
    (100, "add_remove", "poisson", 0.0735),
    (100, "replace", "poisson", 0.0188),
    (100, "replace", "without_replacement", 0.0164),
    (500, "add_remove", "poisson", 0.0751),
    (500, "replace", "poisson", 0.0188),
    (500, "replace", "without_replacement", 0.0183),
]


@pytest.mark.parametrize(
    ("batch_size", "adjacency", "sampling", "largest"),
    [LARGEST[1], *(pytest.param(*row, marks=pytest.mark.slow) for row in (LARGEST[0], *LARGEST[2:]))],
)
def test_largest_first_step_size_of_the_decreasing_schedule(batch_size, adjacency, sampling, largest):
    eta = dp.max_step_size(
        0.1, 1e-5, **SETTING, batch_size=batch_size, adjacency=adjacency, sampling=sampling, noise="paper"
    )
    assert eta == pytest.approx(largest, rel=0.015)
    assert eta < 0.103  # what Li et al. (2019) claims for both kinds of neighbours


def test_all_records_have_a_closed_form():
    n, steps, clip = 1000, 50, 0.5
    eta = dp.max_step_size(1.0, 1e-6, n, steps, clip, batch_size=n)
    mu = 2.0 * clip * math.sqrt(eta * steps / (2.0 * n))
    assert gdp_epsilon(mu, 1e-6) == pytest.approx(1.0, rel=1e-4)
    assert gdp_epsilon(mu, 1e-6) <= 1.0


def test_the_right_noise_allows_twice_the_step():
    budget = {"epsilon": 1.0, "delta": 1e-5, "n": 20_000, "steps": 200, "clip": 1.0, "batch_size": 400}
    assert dp.max_step_size(**budget) == pytest.approx(2 * dp.max_step_size(**budget, noise="paper"), rel=1e-4)


def test_the_schedule_that_is_priced_is_at_least_as_costly_as_the_one_that_runs():
    n, steps, batch, clip = 20_000, 300, 200, 1.0
    eta = dp.max_step_size(0.5, 1e-5, n, steps, clip, batch_size=batch, decay=1 / 3, noise="paper")
    exact = [
        (acc.Gaussian(batch / (clip * math.sqrt(n * eta * t ** (-1 / 3)))).poisson(batch / n), 1)
        for t in range(1, steps + 1)
    ]
    cost = acc.compose(exact).epsilon(1e-5)
    assert 0.98 * 0.5 < cost <= 0.5 * 1.003  # the accountant rounds 300 levels a little against us


def test_more_chains_and_a_larger_clip_leave_a_smaller_step():
    budget = {"epsilon": 1.0, "delta": 1e-5, "n": 20_000, "steps": 200, "batch_size": 2000}
    one = dp.max_step_size(**budget, clip=1.0)
    assert dp.max_step_size(**budget, clip=1.0, chains=4) == pytest.approx(one / 4, rel=0.02)
    assert dp.max_step_size(**budget, clip=2.0) == pytest.approx(one / 4, rel=0.02)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"epsilon": 0.0}, ValueError),
        ({"delta": 0.0}, ValueError),
        ({"clip": math.inf}, ValueError),
        ({"decay": -0.1}, ValueError),
        ({"noise": "none"}, ValueError),
        ({"sampling": "shuffled"}, ValueError),
        ({"sampling": "without_replacement", "adjacency": "add_remove"}, UnsupportedEventError),
    ],
)
def test_refusals(wrong, error):
    right = {"epsilon": 1.0, "delta": 1e-5, "n": 1000, "steps": 10, "clip": 1.0, "batch_size": 100}
    with pytest.raises(error):
        dp.max_step_size(**{**right, **wrong})
