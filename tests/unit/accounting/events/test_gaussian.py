"""The closed form of Gaussian compositions against 60 digits, where doubles lose theirs."""

import math

import mpmath
import numpy as np
import pytest

from pydpmc import accounting as acc
from pydpmc.accounting.events.gaussian import gdp_delta, gdp_epsilon
from pydpmc.errors import BudgetError


def exact_delta(mu: float, eps: float) -> mpmath.mpf:
    with mpmath.workprec(400):
        mu, eps = mpmath.mpf(mu), mpmath.mpf(eps)
        return mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)


def test_a_replaced_record_moves_the_sum_twice_as_far():
    event = acc.Gaussian(noise_multiplier=4.0)
    assert event.gaussian_mu("add_remove") == 0.25
    assert event.gaussian_mu("replace") == 0.5
    apart = acc.compose([(event, 1)], adjacency="replace").epsilon(1e-6)
    one = acc.compose([(acc.Gaussian(noise_multiplier=2.0), 1)], adjacency="add_remove").epsilon(1e-6)
    assert apart == pytest.approx(one, rel=1e-6)


def test_delta_is_never_below_the_truth_in_the_deep_tail():
    rng = np.random.default_rng(3)
    worst = math.inf
    for _ in range(1500):
        mu, z = 10.0 ** rng.uniform(-9, 0.5), rng.uniform(-2, 36)
        eps = max(0.0, mu * (mu / 2 + z))
        worst = min(worst, float(gdp_delta(mu, np.array([eps]))[0] / exact_delta(mu, eps)))
    assert worst >= 1.0


@pytest.mark.parametrize(("mu", "z"), [(1.9e-9, 24.2), (2.5e-9, 33.0)])
def test_differences_of_tails_are_charged_for_the_digits_they_lose(mu, z):
    eps = mu * (mu / 2 + z)
    assert gdp_delta(mu, np.array([eps]))[0] >= exact_delta(mu, eps)


def test_underflow_promises_nothing():
    assert acc.compose([(acc.GDP(1.0), 1)]).delta(60.0) > 0.0
    for delta in (0.0, 5e-324, 1e-318):
        assert gdp_epsilon(0.01, delta) == math.inf
        assert acc.compose([(acc.GDP(1.0), 1)]).epsilon(delta) == math.inf


@pytest.mark.parametrize("bracket", [(1, 1), (1.0, 1.0), (1, 5)])
def test_a_gaussian_is_not_affordable_at_delta_zero(bracket):
    with pytest.raises(BudgetError):
        acc.calibrate(lambda x: [(acc.GDP(0.01 * x), 1)], epsilon=10.0, delta=0.0, bracket=bracket)


def test_many_small_releases_beside_a_large_one_add_up():
    small = 9.5e-9 * (1 + 1e-4 * np.random.default_rng(1).random(20_000))
    uses = [(acc.GDP(1.0), 1), *((acc.GDP(float(mu)), 1) for mu in small)]
    exact = math.sqrt(math.fsum([1.0, *(mu * mu for mu in small.tolist())]))
    for chosen in (uses, [*uses, (acc.PureDP(1e-9), 1)]):
        assert acc.compose(chosen).delta(2.0) >= float(exact_delta(exact, 2.0))
