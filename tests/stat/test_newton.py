"""Newton's intervals cover the truth as often as they say, on data sets drawn anew, with settings from the planner."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pydpmc as dp

SETS = 150


def logistic(eta, rng):
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float)


def line(eta, rng):
    return eta + 0.5 * rng.normal(size=len(eta))


def counts(eta, rng):
    return rng.poisson(np.exp(eta)).astype(float)


CASES = {
    "logistic": (dp.LogisticRegression, logistic, {}, 5000, 5, 0.0, "replace"),
    "logistic, add_remove": (dp.LogisticRegression, logistic, {}, 5000, 5, 0.0, "add_remove"),
    "logistic, rare": (dp.LogisticRegression, logistic, {}, 26_000, 11, -3.0, "replace"),
    "linear": (dp.LinearRegression, line, {"sigma": 0.5}, 5000, 5, 0.0, "replace"),
    "poisson": (dp.PoissonRegression, counts, {}, 20_000, 5, 0.0, "replace"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_ninety_percent_intervals_cover_in_ninety_percent_of_data_sets(name, rng):
    kind, draw, options, n, columns, intercept, adjacency = CASES[name]
    prior = {"intercept": dp.Normal(scale=2.5), "beta": dp.Normal(scale=2.5)}
    model = kind(prior=prior, intercept=True, **options)
    facts = {"y_bounds": (0.0, 20.0)} if kind is dp.PoissonRegression else {}
    inside = []
    for _ in range(SETS):
        x = rng.uniform(-1, 1, size=(n, columns))
        truth = np.append(intercept, 0.5 * rng.normal(size=columns))
        data = dp.Data(x, draw(truth[0] + x @ truth[1:], rng), row_norm=math.sqrt(columns), public_n=n, **facts)
        sampler = dp.Newton(draws=1000)
        post = dp.sample(model, data, sampler, epsilon=1.0, delta=1e-6, adjacency=adjacency, progress=False)
        rows = post.interval(0.9).rows.values()
        inside.append([row["low"] < t < row["high"] for row, t in zip(rows, truth, strict=True)])
    share = np.mean(inside)
    error = np.mean(inside, axis=1).std() / math.sqrt(SETS)
    print(f"{name}: {share:.3f} +- {error:.3f}")
    assert 0.88 - 3 * error < share < 0.93 + 3 * error
