"""Linear regression with unknown sigma: the price of its second moments, and draws that cover."""

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.samplers.conjugate.unknown_sigma import REPLACED, MomentSettings

TRUTH = np.array([0.5, 1.0, -0.5, 0.3, 0.6])  # intercept, three slopes, sigma


def table(rng, n=4000):
    x = rng.uniform(-0.5, 0.5, (n, 3))
    y = TRUTH[0] + x @ TRUTH[1:4] + TRUTH[4] * rng.normal(size=n)
    return dp.Data(x, y, row_norm=0.9, y_bounds=(-4.0, 5.0))


def statistics_of(x, y):
    width = x.shape[1]
    prior = (0.0,) * width, (1.0,) * width
    settings = MomentSettings(1, *prior, 1.0, 1.0, 4000, False, 2.0, 0.0, 3.0, 4000, (1.0, 0.0, 1.0, 0.0, 1.0))
    return settings.statistics(np.c_[x, y])


def test_the_statistics_of_two_records_are_at_most_the_square_root_of_two_apart(rng):
    x, y = rng.normal(size=(2, 4000, 2)), rng.uniform(-3, 3, size=(2, 4000))
    x *= 2.0 / np.linalg.norm(x, axis=2, keepdims=True) * rng.choice([1.0, 0.5], size=(2, 4000, 1))
    y = np.where(rng.random((2, 4000)) < 0.7, 3.0 * np.sign(y), y)
    one, other = (statistics_of(a, b) for a, b in zip(x, y, strict=True))
    assert np.linalg.norm(one, axis=1).max() <= 1.0 + 1e-12
    assert 1.38 < np.linalg.norm(one - other, axis=1).max() <= REPLACED + 1e-12
    worst = statistics_of(np.array([[2.0, 0.0], [2.0, 0.0]]), np.array([3.0, -3.0]))
    assert np.linalg.norm(worst[0] - worst[1]) == pytest.approx(REPLACED)


@pytest.mark.parametrize(("adjacency", "moved"), [("replace", math.sqrt(2.0)), ("add_remove", 1.0)])
def test_the_price_is_that_of_one_gaussian_mechanism(adjacency, moved):
    columns = ("a", "b")
    public = dp.Public(n=100, columns=columns, has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0), public_n=100)
    sampler = dp.ConjugateSample(draws=1000, noise_multiplier=5.0)
    plan = dp.plan(dp.LinearRegression(), public, sampler, adjacency=adjacency)
    ((event, uses),) = plan.guarantee.events
    assert uses == 1
    assert moved / 5.0 < event.gaussian_mu(adjacency) == pytest.approx(moved / 5.0, rel=1e-6)
    assert plan.guarantee.assumptions == ()


def test_neighbours_move_the_released_sums_by_no_more_than_is_charged(rng):
    """The same noise on two data sets: their noised sums differ by the sums alone."""
    x, y = rng.uniform(-0.5, 0.5, (300, 2)), rng.uniform(-1, 1, 300)
    x[7], other = (1.0, 0.0), y.copy()
    y[7], other[7] = 1.0, -1.0
    released = []
    for target in (y, other):
        data = dp.Data(x, target, row_norm=1.0, y_bounds=(-1.0, 1.0))
        plan = dp.plan(dp.LinearRegression(), data.public, dp.ConjugateSample(noise_multiplier=3.0))
        released.append(plan.settings.statistics(np.asarray(data._rows)[:, :3]).sum(axis=0))
    assert np.linalg.norm(released[0] - released[1]) == pytest.approx(math.sqrt(2.0))
    ((event, _),) = plan.guarantee.events
    assert np.linalg.norm(released[0] - released[1]) / 3.0 <= event.gaussian_mu("replace")


def test_without_privacy_draws_are_those_of_nuts(rng):
    data, model = table(rng, 800), dp.LinearRegression(intercept=True)
    ours = dp.sample(model, data, dp.ConjugateSample(draws=4000), private=False, progress=False).summary()
    theirs = dp.sample(model, data, dp.NUTS(draws=2000, warmup=500), private=False, progress=False, seed=1).summary()
    sd = theirs.column("sd")
    assert (np.abs(ours.column("mean") - theirs.column("mean")) < 0.15 * sd).all()
    np.testing.assert_allclose(ours.column("sd"), sd, rtol=0.1)


@pytest.mark.parametrize(
    ("epsilon", "sets"),
    [(2.0, 16), pytest.param(1.0, 100, marks=pytest.mark.slow), pytest.param(4.0, 100, marks=pytest.mark.slow)],
)
def test_intervals_cover_coefficients_and_sigma(rng, epsilon, sets):
    hits = []
    for seed in range(sets):
        data = table(rng)
        model = dp.LinearRegression(intercept=True)
        plan = dp.plan(model, data.public, dp.ConjugateSample(draws=4000), epsilon=epsilon, delta=1e-6)
        found = plan.run(data, seed=seed, progress=False).summary()
        hits.append((found.column("5%") <= TRUTH) & (found.column("95%") >= TRUTH))
    assert plan.settings.describe()["sampler"] == "ConjugateSample"
    assert 0.8 < np.mean(hits) < 0.98
    assert np.mean(hits, axis=0)[-1] > 0.7


def test_other_priors_of_sigma_are_taken(rng):
    data = table(rng, 500)
    for prior in (dp.Laplace(), dp.StudentT(), dp.Flat()):
        model = dp.LinearRegression(prior={"beta": dp.Normal(), "sigma": prior})
        post = dp.sample(model, data, dp.ConjugateSample(draws=100), private=False, progress=False)
        assert 0.4 < post.draws["sigma"].mean() < 1.2


def test_little_information_still_gives_finite_draws(rng):
    data = table(rng, 30)
    plan = dp.plan(dp.LinearRegression(intercept=True), data.public, dp.ConjugateSample(100), epsilon=0.1, delta=1e-6)
    post = plan.run(data, progress=False)
    assert all(np.isfinite(values).all() for values in post.draws.values())
    assert (post.draws["sigma"] > 0.0).all()
