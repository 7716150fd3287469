"""The skew posterior of the looks against its density on a grid."""

from __future__ import annotations

import numpy as np
import pytest

from pydpmc import _core
from pydpmc.posterior.looks import Look
from pydpmc.samplers.newton.curved import Curved, weight_of
from pydpmc.samplers.newton.draws import Numbers
from pydpmc.samplers.newton.links import logistic
from pydpmc.samplers.newton.mixtures import MixturePrior
from pydpmc.samplers.newton.pooling import pool
from pydpmc.samplers.newton.surrogate import GaussianFeatures

KEY = _core.random.key_from_seed(3)


def curved(weight=1.0):
    """One parameter, an intercept: 200 records, a gradient that shows 30 of them positive beyond theta = 0."""
    features = GaussianFeatures(200.0, logistic(), 1.0, [0])
    features._set(np.eye(1))
    one = np.eye(1)
    return Curved(
        features,
        np.array([2.5]),
        0.9 * one,
        np.array([180.0]),
        0.0 * one,
        one / 12.0,
        np.zeros(1),
        one[0] / 9.0,
        weight,
    )


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_draws_follow_the_density_on_a_grid(weight):
    target = curved(weight)
    z = np.linspace(-10.0, 12.0, 4001)
    log_density = target.log_ratio(z[:, None]) - z**2 / 2.0
    theta = 2.5 + 0.9 * z
    exact = -(((180.0 - 200.0 / (1.0 + np.exp(-theta))) / 12.0) ** 2) / 2.0 - theta**2 / 18.0
    expected = weight * exact - (1.0 - weight) * z**2 / 2.0
    # Gaussian features have a predictor of variance at least 1e-4.
    assert log_density - log_density[2000] == pytest.approx(expected - expected[2000], abs=2e-3)
    density = np.exp(log_density - log_density.max())
    cumulated = np.cumsum(density) / density.sum()
    draws = target.draws(40_000, Numbers(_core, KEY))[:, 0]
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        quantile = np.interp(share, cumulated, theta)
        # 8 draws of a chain may be as one: 5,000 independent ones, four standard errors
        assert (draws < quantile).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 5000))
    if weight == 1.0:  # a gradient near saturation: the upper tail is the longer one
        low, middle, high = np.interp((0.05, 0.5, 0.95), cumulated, theta)
        assert high - middle > 1.5 * (middle - low)


def test_one_draw_and_many_have_their_shape():
    target = curved()
    for count in (1, 7, 501, 4000):
        assert target.draws(count, Numbers(_core, KEY)).shape == (count, 1)


def test_the_weight_grows_with_the_size_of_the_coefficients_over_the_prior():
    precision = np.array([1.0, 4.0, 4.0])
    assert weight_of(np.array([9.0, 0.05, 0.05]), precision, True) == 0.0
    assert weight_of(np.array([0.0, 0.25, 0.25]), precision, True) == 1.0
    assert weight_of(np.array([0.0, 0.07, 0.07]), precision, True) == pytest.approx((0.28 - 0.2) / 0.15)
    assert weight_of(np.array([9.0, 0.0, 0.0]), precision, False) == 1.0
    assert weight_of(np.array([9.0]), np.ones(1), True) == 1.0  # an intercept alone counts
    assert weight_of(np.array([9.0, 9.0]), np.zeros(2), False) == 0.0  # flat


def looks_at(truth, sigma):
    """Looks without noise at 0 and near the truth, of Gaussian features."""
    features = GaussianFeatures(4000.0, logistic(), 1.0, [0, 0])
    features._set(np.eye(2))
    points = [np.zeros(2), 0.9 * truth]
    return [Look(p, features.expected(p, truth), features.curvature(p), sigma, sigma / 10.0) for p in points]


def test_pooling_finds_a_curve_only_where_it_shows():
    prior = MixturePrior(np.zeros(2, dtype=int) + 1, np.zeros(2), np.full(2, 2.5), np.ones(2))
    assert prior.is_normal
    features = GaussianFeatures(4000.0, logistic(), 1.0, [0, 0])
    far = pool(looks_at(np.array([1.0, 4.0]), 30.0), prior, features, 1.5)
    assert far.curved is not None
    assert far.curved.weight == 1.0
    # At the posterior's mean the looks without noise leave no gap but the prior's pull.
    assert far.mean == pytest.approx([1.0, 4.0], abs=0.5)
    for truth, sigma in ((np.array([1.0, 0.5]), 30.0), (np.array([1.0, 4.0]), 0.01)):
        features = GaussianFeatures(4000.0, logistic(), 1.0, [0, 0])
        assert (pool(looks_at(truth, sigma), prior, features, 1.5).curved is None) == (truth[1] < 1.0)


def test_the_curve_has_no_slope_at_the_mean_though_noise_makes_curvatures_negative(rng):
    dim = 30
    truth = rng.normal(scale=3.0, size=dim)
    features = GaussianFeatures(4000.0, logistic(), None, [0] * dim)
    features._set(np.diag(np.geomspace(1.0, 1e-3, dim)) / 8.0)
    looks = []
    for share in (0.0, 0.7, 0.9):
        square, point = rng.normal(size=(dim, dim)), share * truth
        curvature = features.curvature(point) + 6.0 * (square + square.T) / 2.0
        gradient = features.expected(point, truth) + 20.0 * rng.normal(size=dim)
        looks.append(Look(point, gradient, curvature, 20.0, 6.0))
    prior = MixturePrior.around(np.zeros(dim), np.full(dim, 3.0))
    found = pool(looks, prior, GaussianFeatures(4000.0, logistic(), None, [0] * dim), 1.0).curved
    assert found is not None
    step = 1e-3 * np.eye(dim)
    slopes = (found.log_ratio(step) - found.log_ratio(-step)) / 2e-3
    assert np.linalg.norm(slopes) < 0.05  # 0.9 if the curve keeps negative eigenvalues
