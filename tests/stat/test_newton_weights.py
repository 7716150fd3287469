"""Coverage of Newton's intervals on weighted data: the design's variance, direction by direction.

Every data set is a sample, drawn person by person with known probabilities, from a population that is drawn anew from
the model; weights are the inverse probabilities, so that the truth is the model's. `informative` probabilities depend
on the outcome: without weights the estimate would be biased. In `uneven` the weights depend on one column, so that the
variance of the other coefficients grows far more than that one's: one factor for all of them cannot be right.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import pydpmc as dp

SETS, LEVEL = 60, 0.9
TRUTH = np.array([0.3, 0.8, -0.5])
MOST = 10.0


def informative(x, y):
    return np.where(y == 1.0, 0.1 + 0.2 * (x[:, 0] > 0.0), 1.0)


def uneven(x, y):
    return np.where(np.abs(x[:, 0]) < 0.3, 0.1, 1.0)


def sampled(probability, size, rng):
    """Return a sample of about `size` people: features, outcomes and weights."""
    x = rng.uniform(-1.0, 1.0, (6 * size, 2))
    y = (rng.random(len(x)) < expit(TRUTH[0] + x @ TRUTH[1:])).astype(float)
    p = probability(x, y)
    kept = rng.random(len(x)) < p
    chosen = np.flatnonzero(kept)[:size]
    return x[chosen], y[chosen], 1.0 / p[chosen]


def fitted(x, y, weights, epsilon, seed, adjacency="replace"):
    data = dp.Data(x, y, x_bounds=(-1, 1), sample_weight=weights, max_weight=MOST)
    model = dp.LogisticRegression(intercept=True, prior=dp.Normal(scale=2.5))
    options = {"epsilon": epsilon, "delta": 1e-6, "adjacency": adjacency}
    return dp.sample(model, data, dp.Newton(), seed=seed, progress=False, anyway=True, **options)


def sandwich(x, y, weights):
    """Return the standard errors of the weighted estimate without privacy, by the textbook's formula (Binder 1983)."""
    z = np.column_stack([np.ones(len(x)), x])
    theta = np.zeros(3)
    for _ in range(25):
        p = expit(z @ theta)
        bread = (z.T * (weights * p * (1.0 - p))) @ z + np.eye(3) / 2.5**2
        theta = theta + np.linalg.solve(bread, z.T @ (weights * (y - p)) - theta / 2.5**2)
    scores = z * (weights * (y - expit(z @ theta)))[:, None]
    inverse = np.linalg.inv(bread)
    return theta, np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))


@pytest.mark.parametrize("probability", [informative, uneven])
def test_without_noise_the_spread_is_the_sandwich(probability):
    rng = np.random.default_rng(16)
    x, y, weights = sampled(probability, 20_000, rng)
    post = fitted(x, y, weights, 1000.0, 4)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2).reshape(-1, 3)
    theta, error = sandwich(x, y, weights)
    assert (np.abs(draws.mean(axis=0) - theta) < 0.2 * error).all()
    assert draws.std(axis=0) == pytest.approx(error, rel=0.12)
    # what one factor for all directions would give is far off in `uneven`
    if probability is uneven:
        z = np.column_stack([np.ones(len(x)), x])
        p = expit(z @ theta)
        bread = (z.T * (weights * p * (1.0 - p))) @ z
        one_factor = np.sqrt(np.diag(np.linalg.inv(bread)) * (weights**2).sum() / weights.sum())
        assert one_factor[1] > 1.3 * error[1]


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
@pytest.mark.parametrize("probability", [informative, uneven])
def test_intervals_cover_on_weighted_data(probability, epsilon, adjacency):
    hits, wider = [], []
    for seed in range(SETS):
        rng = np.random.default_rng([seed, 16])
        x, y, weights = sampled(probability, 20_000, rng)
        rows = fitted(x, y, weights, epsilon, seed, adjacency).interval(LEVEL).rows.values()
        low, high = (np.array([row[end] for row in rows]) for end in ("low", "high"))
        hits.append((low <= TRUTH) & (high >= TRUTH))
        wider.append((high - low) / (2 * 1.6449 * sandwich(x, y, weights)[1]))
    share, each = np.mean(hits), np.mean(hits, axis=0)
    error = np.sqrt(LEVEL * (1 - LEVEL) / SETS)
    print(
        f"\n{probability.__name__}, epsilon {epsilon:g}, {adjacency}: coverage {share:.3f} ({each.round(2)}, standard "
        f"error {error:.3f} each), width {np.median(wider, axis=0).round(2)} times the sandwich's"
    )
    assert (each > LEVEL - 4.0 * error).all()
    assert share < LEVEL + 4.0 * error / np.sqrt(2.0) + 0.03
