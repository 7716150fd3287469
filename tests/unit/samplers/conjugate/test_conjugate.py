"""Conjugate draws: their price in closed form, their law, and neighbours that are really that far apart."""

import math

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import accounting as acc
from pydpmc.accounting.events.gaussian import gdp_epsilon
from pydpmc.errors import BudgetError, UnsupportedEventError
from pydpmc.samplers.conjugate.linear_regression import REPLACED, LinearSettings

VAGUE = dp.Normal(scale=1e3)


def mean_plan(n=1000, sampler=None, prior=VAGUE, sigma=1.0, row_norm=1.0, width=1, **options):
    columns = tuple(f"x{j}" for j in range(width))
    public = dp.Public(n=n, columns=columns, has_target=False, row_norm=row_norm, public_n=n)
    return dp.plan(dp.GaussianMean(prior=prior, sigma=sigma), public, sampler or dp.ConjugateSample(), **options)


def test_the_weight_of_the_gaussian_mean_is_that_of_the_design():
    """(0.1, 1e-3) allows w up to 8.25e-4 N; Minami et al. (2016) has 1.79e-4 N."""
    assert mean_plan(epsilon=0.1, delta=1e-3).settings.w / 1000 == pytest.approx(8.25e-4, rel=1e-3)
    assert mean_plan(n=10**6, epsilon=0.1, delta=1e-3).settings.w == 1.0


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize(("r", "w", "sigma", "scale", "draws"), [(1.0, 1.0, 1.0, 1.0, 1), (2.5, 0.3, 0.7, 4.0, 7)])
def test_the_price_is_the_closed_form(r, w, sigma, scale, draws, adjacency):
    plan = mean_plan(
        n=400,
        sampler=dp.ConjugateSample(draws=draws, w=w),
        prior=dp.Normal(scale=scale),
        sigma=sigma,
        row_norm=r,
        adjacency=adjacency,
    )
    ((event, uses),) = plan.guarantee.events
    moved = 2 * r if adjacency == "replace" else r
    mu = moved * w / sigma**2 / math.sqrt(400 * w / sigma**2 + 1 / scale**2)
    assert uses == draws
    assert event.gaussian_mu(adjacency) == pytest.approx(mu, rel=1e-9)
    assert acc.compose(plan.guarantee.events, adjacency).epsilon(1e-6) == pytest.approx(
        gdp_epsilon(math.sqrt(draws) * mu, 1e-6), rel=1e-9
    )
    assert plan.guarantee.assumptions == ()


def test_neighbours_are_as_far_apart_as_is_charged(rng):
    """The same noise on two data sets: the draws differ by mu standard deviations, exactly."""
    x = rng.uniform(-1, 1, size=(300, 1))
    here, there = x.copy(), x.copy()
    here[7], there[7] = 1.0, -1.0
    plan = mean_plan(n=300, sampler=dp.ConjugateSample(w=0.4), prior=dp.Normal(scale=0.5), sigma=0.8)
    one, other = (
        plan.run(dp.Data(v, row_norm=1.0, public_n=300), seed=3).draws["theta"][0, 0, 0] for v in (here, there)
    )
    ((event, _),) = plan.guarantee.events
    sd = (0.4 * 300 / 0.64 + 4.0) ** -0.5
    assert (one - other) / sd == pytest.approx(event.gaussian_mu("replace"), rel=1e-6)


def test_draws_have_the_conjugate_posterior(rng, close_to_moments):
    x = rng.uniform(2.0, 6.0, size=(500, 3))
    scale, w, sigma = np.array([0.05, 1.0, 10.0]), 0.6, 1.3
    data = dp.Data(x, x_bounds=(2.0, 6.0))
    model = dp.GaussianMean(prior=dp.Normal(scale=scale, loc=1.0), sigma=sigma)
    plan = dp.plan(model, data.public, dp.ConjugateSample(draws=20_000, w=w))
    assert plan.settings.radius == pytest.approx(2.0 * math.sqrt(3))  # around the middle of the box, not around zero
    precision = w * 500 / sigma**2 + scale**-2.0
    mean = (w * x.sum(axis=0) / sigma**2 + scale**-2.0) / precision
    close_to_moments(plan.run(data, seed=1).draws["theta"], mean, np.diag(1 / precision))


@pytest.fixture
def close_to_moments():
    def check(draws, mean, covariance):
        (draws,) = draws
        error = np.linalg.cholesky(np.linalg.inv(covariance)).T @ (draws.mean(axis=0) - mean)
        assert np.abs(error).max() < 4 / math.sqrt(len(draws))
        ratio = np.linalg.solve(covariance, np.cov(draws.T))
        np.testing.assert_allclose(ratio, np.eye(len(mean)), atol=6 / math.sqrt(len(draws)))

    return check


def linear_data(rng, n=2000, dim=3, middle=2.0):
    x = rng.uniform(-0.5, 0.5, size=(n, dim))
    y = middle + x @ np.arange(1.0, dim + 1) / dim + 0.3 * rng.normal(size=n)
    return dp.Data(x, y, row_norm=1.0, y_bounds=(middle - 3, middle + 3))


def test_without_privacy_regression_draws_have_the_conjugate_posterior(rng, close_to_moments):
    data = linear_data(rng)
    model = dp.LinearRegression(prior=dp.Normal(scale=0.2, loc=0.3), intercept=True, sigma=0.3)
    post = dp.sample(model, data, dp.ConjugateSample(draws=20_000, w=0.5), private=False, seed=1)
    x, y = np.c_[np.ones(2000), data._rows[:, :3]], data._rows[:, 3]
    precision = 0.5 * x.T @ x / 0.09 + np.eye(4) / 0.04
    mean = np.linalg.solve(precision, 0.5 * x.T @ y / 0.09 + 0.3 / 0.04)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)
    close_to_moments(draws, mean, np.linalg.inv(precision))


def test_the_order_and_the_storage_of_records_do_not_matter(rng):
    data = linear_data(rng, n=5000)
    x, y = data._rows[:, :3].astype(np.float32), data._rows[:, 3].astype(np.float32)
    order = rng.permutation(5000)
    facts = {"row_norm": 1.0, "y_bounds": (-1.0, 5.0)}
    model = dp.LinearRegression(sigma=0.3)
    tables = [dp.Data(x, y, **facts), dp.Data(x[order], y[order], **facts), dp.Data(x, y, storage="float32", **facts)]
    plan = dp.plan(model, tables[0].public, dp.ConjugateSample(draws=3), epsilon=1.0, delta=1e-6)
    draws = [plan.run(table, seed=4).draws["beta"] for table in tables]
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])


def statistics_of(x, y):
    settings = LinearSettings(1, (0.0,) * x.shape[1], (1.0,) * x.shape[1], 1.0, 1.0, 4000, False, 2.0, 0.0, 3.0, 1.0)
    return settings.statistics(np.c_[x, y])


def test_the_statistics_of_two_records_are_at_most_one_and_a_half_apart(rng):
    x, y = rng.normal(size=(2, 4000, 3)), rng.uniform(-3, 3, size=(2, 4000))
    x *= 2.0 / np.linalg.norm(x, axis=2, keepdims=True) * rng.choice([1.0, 0.5], size=(2, 4000, 1))
    y = np.where(rng.random((2, 4000)) < 0.7, 3.0 * np.sign(y), y)
    one, other = (statistics_of(a, b) for a, b in zip(x, y, strict=True))
    assert np.linalg.norm(one, axis=1).max() <= 1.0 + 1e-12
    assert 1.48 < np.linalg.norm(one - other, axis=1).max() <= REPLACED + 1e-12
    angle = np.array([[2.0, 0.0], [1.0, math.sqrt(3.0)]])  # 60 degrees apart, targets of opposite signs
    worst = statistics_of(angle, np.array([3.0, -3.0]))
    assert np.linalg.norm(worst[0] - worst[1]) == pytest.approx(REPLACED)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_price_of_regression(adjacency):
    public = dp.Public(n=100, columns=("a", "b"), has_target=True, row_norm=1.0, y_bounds=(-1.0, 1.0))
    sampler = dp.ConjugateSample(draws=1000, noise_multiplier=5.0)
    plan = dp.plan(dp.LinearRegression(sigma=1.0), public, sampler, adjacency=adjacency)
    ((event, uses),) = plan.guarantee.events
    assert uses == 1
    assert event.gaussian_mu(adjacency) == pytest.approx((1.5 if adjacency == "replace" else 1.0) / 5.0, rel=1e-6)
    assert event.gaussian_mu(adjacency) > (1.5 if adjacency == "replace" else 1.0) / 5.0


def test_intervals_of_private_regression_draws_cover(rng):
    """The posterior given the noised sums is wide enough for the noise: half of its variance here."""
    model = dp.LinearRegression(prior=dp.Normal(scale=3.0), sigma=0.3)
    plan = dp.plan(
        model, linear_data(rng, 1000, middle=0.0).public, dp.ConjugateSample(draws=40), epsilon=2.0, delta=1e-6
    )
    truth, hits, widths = np.arange(1.0, 4.0) / 3, [], []
    for _ in range(400):
        found = plan.run(linear_data(rng, 1000, middle=0.0), progress=False).interval(0.9)
        hits.append([row["low"] <= t <= row["high"] for row, t in zip(found.rows.values(), truth, strict=True)])
        widths.append([row["se"] for row in found.rows.values()])
    assert 0.87 <= np.mean(hits) <= 0.93
    assert np.mean(widths) > 1.2 * 0.3 / math.sqrt(1000 / 12)


def test_everything_of_the_budget_is_used_and_no_more():
    plan = mean_plan(n=500, epsilon=0.2, delta=1e-6)
    assert 0.2 * (1 - 2e-4) < plan.guarantee.epsilon(1e-6) <= 0.2


def test_what_is_refused():
    public = dp.Public(n=100, columns=("a",), has_target=True, row_norm=1.0, y_bounds=(0.0, 1.0))
    plain = dp.Public(n=100, columns=("a",), has_target=False, row_norm=1.0)
    conjugate = dp.ConjugateSample()
    with pytest.raises(ValueError, match="public_n: an unknown sigma"):
        dp.plan(dp.LinearRegression(), public, conjugate, epsilon=1.0, delta=1e-6, adjacency="add_remove")
    with pytest.raises(ValueError, match="w: with an unknown sigma"):
        dp.plan(dp.LinearRegression(), public, dp.ConjugateSample(w=0.5), epsilon=1.0, delta=1e-6)
    with pytest.raises(UnsupportedEventError, match="LogisticRegression has no posterior in closed form"):
        dp.plan(dp.LogisticRegression(), public, conjugate, epsilon=1.0, delta=1e-6)
    with pytest.raises(UnsupportedEventError, match="Normal or Flat"):
        dp.plan(dp.GaussianMean(prior=dp.Laplace()), plain, conjugate, epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="public_n"):
        dp.plan(dp.GaussianMean(), plain, conjugate, epsilon=1.0, delta=1e-6, adjacency="add_remove")
    with pytest.raises(ValueError, match="row_norm or x_bounds"):
        dp.plan(dp.GaussianMean(), dp.Public(n=9, columns=("a",), has_target=False), conjugate, epsilon=1.0, delta=1e-6)
    bare = dp.Public(n=9, columns=("a",), has_target=True, row_norm=1.0)
    with pytest.raises(ValueError, match="y_bounds"):
        dp.plan(dp.LinearRegression(sigma=1.0), bare, conjugate, epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match=r"ConjugateSample\(draws=2\)"):
        dp.plan(dp.GaussianMean(), plain, conjugate, epsilon=1.0, delta=1e-6, chains=2)
    with pytest.raises(ValueError, match="noise_multiplier must be set"):
        dp.plan(dp.LinearRegression(sigma=1.0), public, conjugate)
    with pytest.raises(ValueError, match="leave it out"):
        dp.plan(dp.GaussianMean(), plain, dp.ConjugateSample(noise_multiplier=2.0))
    with pytest.raises(BudgetError):
        dp.plan(dp.GaussianMean(), plain, dp.ConjugateSample(w=1.0), epsilon=1e-3, delta=1e-6)
    grouped = dp.Public(n=9, columns=("a",), has_target=False, row_norm=1.0, grouped=True, max_group_size=2)
    with pytest.raises(UnsupportedEventError, match="groups"):
        dp.plan(dp.GaussianMean(), grouped, conjugate, epsilon=1.0, delta=1e-6)
    for wrong in ({"draws": 0}, {"w": 2.0}, {"w": 0.5, "n0": 10.0}, {"noise_multiplier": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            dp.ConjugateSample(**wrong)


def test_a_record_that_is_not_finite_adds_nothing(rng):
    x = rng.uniform(-1, 1, size=(50, 2))
    broken, zeroed = x.copy(), x.copy()
    broken[3], zeroed[3] = np.nan, 0.0
    plan = mean_plan(n=50, width=2, sampler=dp.ConjugateSample(w=0.5))
    facts = {"row_norm": 1.0, "public_n": 50, "on_invalid": "drop"}
    one, other = (plan.run(dp.Data(v, **facts), seed=2).draws["theta"] for v in (broken, zeroed))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("w", "lam"), [(1.0, 1.0), (0.5, 2.0)])
def test_a_plain_draw_of_regression_has_no_guarantee(w, lam):
    """The proposition of docs/privacy/conjugate.md: the distance of neighbouring posteriors grows like sqrt(n)."""

    def posterior(n, x, y):
        a = math.sqrt(lam / (w * n))
        precision = lam + w * ((n - 1) * a * a + x * x)
        return w * ((n - 1) * a + x * y) / precision, precision

    for n in (10**4, 10**6):
        a = math.sqrt(lam / (w * n))
        (here, precision), (there, _) = posterior(n, a, 1.0), posterior(n, 1.0, -1.0)
        predicted = math.sqrt(n) * w**1.5 / (2 * math.sqrt(lam) * (2 * lam + w))
        assert (here - there) == pytest.approx(predicted, rel=0.05)
        assert (here - there) * math.sqrt(precision) > 0.05 * math.sqrt(n)


@pytest.mark.parametrize("model", ["mean", "regression"])
def test_a_private_number_of_records_decides_neither_a_refusal_nor_the_grid(rng, model):
    """With so little noise 20,000 records once overflowed and 10,000 did not, so the refusal revealed n."""
    bits = set()
    for n in (10_000, 20_000):
        x = np.clip(rng.normal(0.3, 0.2, (n, 1)), -1.0, 1.0)
        if model == "mean":
            data = dp.Data(x, row_norm=1.0, public_n=2)
            spec, sampler = dp.GaussianMean(dp.Normal(scale=0.3), sigma=1e-5), dp.ConjugateSample(w=1.0)
        else:
            y = 0.5 * x[:, 0]
            data = dp.Data(x, y, row_norm=1.0, y_bounds=(-1.0, 1.0), public_n=2)
            spec = dp.LinearRegression(dp.Normal(scale=10.0), sigma=1.0, intercept=False)
            sampler = dp.ConjugateSample(noise_multiplier=2.0**-16)
        plan = dp.plan(spec, data.public, sampler, adjacency="add_remove")
        post = plan.run(data, seed=1, progress=False)
        bits.add(plan.settings.bits)
        if model == "regression":  # a coarser grid has no bias
            assert abs(post.draws["beta"].mean() - 0.5) < 6.0 * n**-0.5 / 0.36
    assert len(bits) == 1
    assert bits.pop() < 32


def test_so_little_noise_that_nothing_fits_is_refused_by_the_plan():
    public = dp.Public(n=10**9, columns=("x",), has_target=False, row_norm=1.0)
    with pytest.raises(ValueError, match="too small for 64-bit sums"):
        dp.plan(dp.GaussianMean(dp.Normal(scale=1.0), sigma=1e-20), public, dp.ConjugateSample(w=1.0))
