"""Audit of the compiled look at the fit: brute force over pairs of records, the worst pair, and planted faults."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta

import pydpmc as dp
from pydpmc import _core
from pydpmc.samplers.base import target_arguments
from pydpmc.samplers.newton.fit import GROUPS, noise_of_fit

TRIALS, CONFIDENCE = 40_000, 1e-6
EDGES = [float(e) for e in np.linspace(-20.0, 20.0, GROUPS - 1)]
PRIOR = {"intercept": dp.Normal(), "beta": dp.Normal()}
MODELS = {
    "logistic": (dp.LogisticRegression(intercept=True), {}, [0.0, 1.0]),
    "probit": (dp.ProbitRegression(intercept=True), {}, [0.0, 1.0]),
    "linear": (dp.LinearRegression(intercept=True, sigma=0.5), {}, [-1e6, -0.3, 0.0, 2.0, 1e6]),
    "huber": (dp.HuberRegression(intercept=True, sigma=0.5), {}, [-1e6, -0.3, 0.0, 2.0, 1e6]),
    "poisson": (dp.PoissonRegression(intercept=True), {"y_bounds": (0.0, 20.0)}, [0.0, 1.0, 7.0, 20.0]),
    "negative binomial": (
        dp.NegativeBinomialRegression(intercept=True, dispersion=0.5),
        {"y_bounds": (0.0, 20.0)},
        [0.0, 1.0, 7.0, 20.0],
    ),
}


def world(name, x, y, adjacency, seed=1, quieter=1.0, quieter_squares=1.0):
    """Return the core's run, the options of a look at the fit at theta = (0, 30), and its price."""
    model, facts, _ = MODELS[name]
    data = dp.Data(np.reshape(x, (-1, 1)), np.asarray(y, dtype=float), row_norm=1.0, public_n=2, **facts)
    plan = dp.plan(model, data.public, dp.Newton(fit=True), epsilon=30.0, delta=1e-5, adjacency=adjacency)
    settings = plan.settings
    bounds, sigma, tau, price = noise_of_fit(settings)
    arguments = target_arguments(model, data)
    names = ("rows", "columns", "has_target", "model", "intercept", "constants")
    run = _core.NewtonRun(dim=2, seed=seed, **{key: arguments[key] for key in names})
    table = settings.family.table
    options = {
        "theta": [0.0, 30.0],
        "clip": bounds.gradient,
        "sigma": sigma / quieter,
        "curvature_clip": bounds.curvature,
        "tau": tau / quieter_squares,
        "largest_square": 1.0,
        "limits": settings.family.limits,
        "table": None if table is None else (table.rows, table.first, table.per_unit),
        "outer": True,
        "block_of": list(range(GROUPS)),
        "edges": EDGES,
        "threads": 1,
        "block": 4096,
    }
    assert price**2 + settings.estimating_mu**2 <= settings.mu**2
    return run, options, price


def apart(worlds):
    """Return how far the unnoised integers of two worlds are apart, in standard deviations of their noise."""
    sums = [run.bare(**options) for run, options, _ in worlds]
    return (sums[0] - sums[1]) * 2.0**-32


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("name", MODELS)
def test_no_record_moves_the_look_by_more_than_its_price_and_some_pair_nearly_does(name, adjacency):
    outcomes = MODELS[name][2]
    records = list(itertools.product([-1.0, -0.7, -0.01, 0.0, 0.01, 0.33, 0.7, 1.0], outcomes))
    sums = []
    for x, y in records:
        run, options, price = world(name, [x, 0.2], [y, 0.0], adjacency)
        sums.append(run.bare(**options) * 2.0**-32)
    alone, options, price = world(name, [0.2], [0.0], adjacency)
    others = sums if adjacency == "replace" else [alone.bare(**options) * 2.0**-32]
    far = max(float(np.linalg.norm(one - other)) for one in sums for other in others)
    assert far <= price
    # Under `replace` opposite residuals need not share a group, and then squares are not free but short: sqrt(3) of 2.
    assert far > (0.85 if adjacency == "replace" else 0.99) * price


def worst(adjacency, **fault):
    """Two records of one group with opposite residuals, both nearly 1; or one of them and none."""
    x = [1.0, -1.0]
    worlds = [([x[0], 0.2], [0.0, 0.0]), ([x[1], 0.2], [1.0, 0.0])]
    if adjacency == "add_remove":
        worlds[1] = ([0.2], [0.0])
    made = [world("logistic", *w, adjacency, seed=1 + k, **fault) for k, w in enumerate(worlds)]
    for _, options, _ in made:
        options["theta"], options["edges"] = [0.0, 30.0], [100.0 + e for e in EDGES]  # all in the first group
    return made


def proven_mu(worlds):
    """A lower confidence bound on mu: noised looks of both worlds along the direction in which they differ."""
    options = worlds[0][1]
    scale = np.repeat([1.0 / options["sigma"], 1.0 / options["tau"]], GROUPS)
    moved = apart(worlds)
    direction = scale * moved / np.linalg.norm(moved)
    samples = [np.array([run.look(**o) for _ in range(TRIALS)]) @ direction for run, o, _ in worlds]
    cut = (samples[0].mean() + samples[1].mean()) / 2.0
    high, low = ((s > cut).sum() for s in samples)
    least = beta.ppf(CONFIDENCE, high, TRIALS - high + 1)
    most = beta.ppf(1 - CONFIDENCE, low + 1, TRIALS - low)
    return abs(float(ndtri(least) - ndtri(most)))


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_worst_pair_attains_the_price_and_an_attack_proves_most_of_it(adjacency):
    worlds = worst(adjacency)
    price = worlds[0][2]
    assert 0.999 * price < np.linalg.norm(apart(worlds)) <= price
    proven = proven_mu(worlds)
    print(f"{adjacency}: claimed {price:.4f}, proven {proven:.4f}")
    assert 0.85 * price <= proven <= price


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_less_noise_than_planned_is_caught(adjacency):
    faulty = worst(adjacency, quieter=1.25)
    assert np.linalg.norm(apart(faulty)) > 1.1 * faulty[0][2]
    if adjacency == "replace":  # the squares are free there, up to the point where two groups are as far apart
        x, y = [1.0, 0.2], [0.0, 0.0]
        groups = [
            world("logistic", x, y, adjacency, quieter_squares=1.6),
            world("logistic", [-1.0, 0.2], [1.0, 0.0], adjacency, quieter_squares=1.6),
        ]
        for _, options, _ in groups:
            options["theta"] = [0.0, 30.0]
        assert np.linalg.norm(apart(groups)) > groups[0][2]
    else:
        faulty = worst(adjacency, quieter_squares=1.6)
        assert np.linalg.norm(apart(faulty)) > 1.05 * faulty[0][2]


def test_records_that_are_no_numbers_add_nothing():
    assert math.isfinite(
        np.linalg.norm(
            apart([world("linear", [0.1, 0.2], [np.nan, 0.0], "replace"), world("linear", [0.2], [0.0], "replace")])
        )
    )
