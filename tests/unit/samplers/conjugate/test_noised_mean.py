"""A Gaussian mean from one noised sum: its price, and draws whose spread accounts for the noise."""

import numpy as np
import pytest

import pydpmc as dp

SUMS = dp.ConjugateSample(draws=2000, release="sums", noise_multiplier=4.0)


def public(n=1000, **facts):
    return dp.Public(n=n, columns=("a", "b"), has_target=False, row_norm=1.5, public_n=n, **facts)


@pytest.mark.parametrize(("adjacency", "moved"), [("replace", 2.0), ("add_remove", 1.0)])
def test_any_number_of_draws_costs_one_sum(adjacency, moved):
    for draws in (1, 5000):
        sampler = dp.ConjugateSample(draws=draws, release="sums", noise_multiplier=4.0)
        ((event, uses),) = dp.plan(dp.GaussianMean(), public(), sampler, adjacency=adjacency).guarantee.events
        assert uses == 1
        assert event.gaussian_mu(adjacency) == pytest.approx(moved / 4.0, rel=1e-9)


def test_the_planner_takes_it_and_spends_the_budget():
    plan = dp.plan(dp.GaussianMean(sigma=0.5), public(20_000), epsilon=1.0, delta=1e-6)
    assert plan.settings.describe()["sampler"] == "ConjugateSample"
    assert plan.settings.w == 1.0
    assert 0.999 < plan.guarantee.epsilon(1e-6) <= 1.0
    assert plan.outlook.width < 1.1


def test_draws_have_the_posterior_given_the_noised_sum(rng):
    x = rng.normal(0.3, 0.2, (1000, 2))
    plan = dp.plan(dp.GaussianMean(prior=dp.Normal(scale=0.02), sigma=0.2), public(), SUMS)
    data = dp.Data(x, row_norm=1.5, public_n=1000, columns=("a", "b"))
    means = np.array([plan.run(data, progress=False).draws["theta"].mean(axis=1)[0] for _ in range(100)])
    told = 1000**2 / (1000 * 0.04 + 6.0**2)
    precision = told + 1.0 / 0.02**2
    np.testing.assert_allclose(means.mean(axis=0), told * x.mean(axis=0) / precision, atol=4e-3)
    assert means.std() == pytest.approx(told * 6.0 / 1000 / precision, rel=0.2)
    spread = plan.run(data, progress=False).draws["theta"].std(axis=1)[0]
    np.testing.assert_allclose(spread, precision**-0.5, rtol=0.06)


def test_intervals_cover(rng):
    plan = dp.plan(dp.GaussianMean(sigma=0.4), public(300), epsilon=1.0, delta=1e-6)
    truth, hits = np.array([0.2, -0.3]), []
    for _ in range(60):
        data = dp.Data(rng.normal(truth, 0.4, (300, 2)), row_norm=1.5, public_n=300, columns=("a", "b"))
        table = plan.run(data, progress=False).summary()
        hits.append((table.column("5%") <= truth) & (table.column("95%") >= truth))
    assert 0.82 < np.mean(hits) < 0.97


def test_a_multiplier_goes_with_sums_alone():
    with pytest.raises(ValueError, match='release="sums"'):
        dp.plan(dp.GaussianMean(), public(), dp.ConjugateSample(noise_multiplier=2.0))
    with pytest.raises(ValueError, match="release must be"):
        dp.ConjugateSample(release="mean")
