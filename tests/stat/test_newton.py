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


def probit(eta, rng):
    return (eta + rng.normal(size=len(eta)) > 0).astype(float)


def spread_counts(eta, rng):
    return rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, size=len(eta))).astype(float)


def counts(eta, rng):
    return rng.poisson(np.exp(eta)).astype(float)


CASES = {
    "logistic": (dp.LogisticRegression, logistic, {}, 5000, 5, 0.0, "replace"),
    "logistic, add_remove": (dp.LogisticRegression, logistic, {}, 5000, 5, 0.0, "add_remove"),
    "logistic, rare": (dp.LogisticRegression, logistic, {}, 26_000, 11, -3.0, "replace"),
    "linear": (dp.LinearRegression, line, {"sigma": 0.5}, 5000, 5, 0.0, "replace"),
    "poisson": (dp.PoissonRegression, counts, {}, 20_000, 5, 0.0, "replace"),
    "probit": (dp.ProbitRegression, probit, {}, 5000, 5, 0.0, "replace"),
    "negative binomial": (
        dp.NegativeBinomialRegression,
        spread_counts,
        {"dispersion": 0.5},
        20_000,
        5,
        0.0,
        "add_remove",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_ninety_percent_intervals_cover_in_ninety_percent_of_data_sets(name, rng):
    kind, draw, options, n, columns, intercept, adjacency = CASES[name]
    prior = {"intercept": dp.Normal(scale=2.5), "beta": dp.Normal(scale=2.5)}
    model = kind(prior=prior, intercept=True, **options)
    most = {dp.PoissonRegression: 20.0, dp.NegativeBinomialRegression: 40.0}.get(kind)
    facts = {} if most is None else {"y_bounds": (0.0, most)}
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


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_differences_between_the_classes_of_a_softmax_are_covered(adjacency, rng):
    n, columns, classes = 20_000, 3, 3
    model = dp.SoftmaxRegression(prior=dp.Normal(scale=2.5), intercept=True, classes=classes)
    inside = []
    for _ in range(SETS):
        x = rng.uniform(-1, 1, size=(n, columns))
        beta, intercept = 0.5 * rng.normal(size=(classes, columns)), 0.5 * rng.normal(size=classes)
        y = (intercept + x @ beta.T + rng.gumbel(size=(n, classes))).argmax(axis=1).astype(float)
        data = dp.Data(x, y, row_norm=math.sqrt(columns), public_n=n)
        post = dp.sample(
            model, data, dp.Newton(draws=1000), epsilon=1.0, delta=1e-6, adjacency=adjacency, progress=False
        )
        draws = post.draws["beta"][0].reshape(-1, classes, columns)
        low, high = np.quantile(draws[:, 1:] - draws[:, :1], (0.05, 0.95), axis=0)
        truth = beta[1:] - beta[:1]
        inside.append(((low < truth) & (truth < high)).ravel())
    share = np.mean(inside)
    error = np.mean(inside, axis=1).std() / math.sqrt(SETS)
    print(f"softmax, {adjacency}: {share:.3f} +- {error:.3f}")
    assert 0.88 - 3 * error < share < 0.93 + 3 * error
