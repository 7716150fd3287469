"""What is charged for roundings of the prices themselves: small, but above the sum of the roundings."""

from fractions import Fraction

import numpy as np
import pytest

import pydpmc as dp

PUBLIC = dp.Public(n=1000, columns=("x",), has_target=True, row_norm=1.0)


@pytest.mark.parametrize("clip", [0.1, 0.7, 1.3])
@pytest.mark.parametrize("sampler", [dp.SGLD, dp.SGHMC, dp.SGNHT, dp.SGFS])
def test_a_noise_multiplier_is_charged_below_the_quotient(sampler, clip):
    """Fewer than a hundred roundings make the clip and the quotient; 1e-12 is more than a thousand of them."""
    plan = dp.plan(dp.LogisticRegression(), PUBLIC, sampler(steps=9, step_size=1e-3, clip=clip, sampling="full"))
    ((event, _),) = plan.guarantee.events
    exact = Fraction(float(np.min(plan.settings.noise))) / Fraction(plan.settings.sensitivity)
    assert Fraction(event.noise_multiplier) <= exact * (1 - Fraction(100, 2**53))
    assert Fraction(event.noise_multiplier) >= exact * (1 - Fraction(2, 10**12))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_an_accept_bit_is_charged_for_the_arithmetic_of_its_log_odds(adjacency):
    """docs/privacy/barker.md: log-odds are off by less than 1e-9 on each of two data sets."""
    public = PUBLIC if adjacency == "replace" else dp.Public(**{**vars(PUBLIC), "public_n": 1000})
    plan = dp.plan(
        dp.LogisticRegression(), public, dp.Barker(steps=9, scale=0.01, clip=0.01, w=1.0), adjacency=adjacency
    )
    ((event, _),) = plan.guarantee.events
    records = 2 if adjacency == "replace" else 1
    exact = records * Fraction(plan.settings.w) * Fraction(plan.settings.clip)
    assert Fraction(event.shift) >= exact + Fraction(2, 10**9) * (1 - Fraction(1, 10**6))
    assert Fraction(event.shift) <= exact + Fraction(3, 10**9)


@pytest.mark.parametrize("steps", [1, 50])
def test_the_precision_of_langevin_noise_is_charged_for_every_coordinate(steps):
    plan = dp.plan(dp.LogisticRegression(intercept=True), PUBLIC, dp.Langevin(draws=3, w=0.1, steps=steps))
    assert plan.guarantee.total_variation >= 3 * steps * 2 * 2.0**-63


def test_the_precision_of_noised_sums_is_charged_for_every_sum():
    """Regression on one column releases x^2 and xy; a mean of two columns, two sums a draw."""
    regression = dp.Public(n=100, columns=("x",), has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0))
    plan = dp.plan(dp.LinearRegression(sigma=1.0), regression, dp.ConjugateSample(draws=5), epsilon=1.0, delta=1e-6)
    assert plan.guarantee.total_variation >= 2 * 2.0**-63
    mean = dp.Public(n=100, columns=("a", "b"), has_target=False, row_norm=1.0)
    plan = dp.plan(dp.GaussianMean(), mean, dp.ConjugateSample(draws=5), epsilon=1.0, delta=1e-6)
    assert plan.guarantee.total_variation >= 5 * 2 * 2.0**-63
