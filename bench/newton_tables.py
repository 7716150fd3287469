"""Tables for bench/newton_grid.py: a model, its coefficients, records drawn from it, and the width without privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import pydpmc as dp

SIGMA, CLASSES = 0.5, 3
DECLARED = ("poisson", "negative binomial", "linear, unknown sigma")  # models that need y_bounds


@dataclass(frozen=True, eq=False)
class Table:
    """Records, what intervals should cover, and its posterior standard deviation without privacy."""

    data: dp.Data
    truth: Any
    alone: Any


def model_of(options: dict[str, Any]) -> Any:
    """Return the model of a setting."""
    prior = dp.Normal(scale=options["scale"])
    both = {"intercept": prior, "beta": prior}
    if options["model"] == "coin":
        return dp.BernoulliLogit(prior=prior)
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "logistic": ("LogisticRegression", {}),
        "linear": ("LinearRegression", {"sigma": SIGMA}),
        "linear, unknown sigma": ("LinearRegression", {}),
        "poisson": ("PoissonRegression", {}),
        "huber": ("HuberRegression", {"sigma": SIGMA}),
        "probit": ("ProbitRegression", {}),
        "negative binomial": ("NegativeBinomialRegression", {"dispersion": 0.3}),
        "softmax": ("SoftmaxRegression", {"classes": CLASSES}),
    }
    name, constants = kinds[options["model"]]
    if options["model"] == "linear, unknown sigma":
        both["sigma"] = prior
    return getattr(dp, name)(prior=both, intercept=True, **constants)


def table(options: dict[str, Any], rng: np.random.Generator) -> Table:
    """Return a new table of a setting."""
    n, d, model, precision = options["n"], options["d"], options["model"], options["scale"] ** -2.0
    if model == "coin":
        return _coins(options, rng)
    x = features(options, rng)
    z = np.column_stack([np.ones(n), x])
    if model == "softmax":
        return _classes(options, x, z, rng)
    truth = options["scale"] * rng.normal(size=d)
    if options["truth"] != "prior":
        truth = np.append(options["intercept"], options["slope"] * rng.normal(size=d - 1))
    y, information = outcomes(model, z @ truth, rng)
    facts = {"y_bounds": options["y_bounds"]} if model in DECLARED else {}
    data = dp.Data(x, y, x_bounds=(-1, 1), public_n=n, **facts)
    covariance = np.linalg.inv((z * information[:, None]).T @ z + precision * np.eye(d))
    return Table(data, truth, np.sqrt(np.diag(covariance)))


def covered(options: dict[str, Any], post: Any, truth: Any, level: float) -> tuple[Any, Any]:
    """Return which true values are in their intervals, and the posterior's standard deviations."""
    if options["model"] == "softmax":  # only differences between classes are told by the records
        draws = post.draws["beta"].reshape(-1, CLASSES, options["d"] - 1)
        apart = (draws[:, 1:] - draws[:, :1]).reshape(len(draws), -1)
        low, high = np.quantile(apart, (0.5 - level / 2, 0.5 + level / 2), axis=0)
        return (low < truth) & (truth < high), apart.std(axis=0)
    rows = list(post.interval(level).rows.values())[: len(truth)]
    low, high, se = (np.array([row[name] for row in rows]) for name in ("low", "high", "se"))
    return (low < truth) & (truth < high), se


def _coins(options: dict[str, Any], rng: np.random.Generator) -> Table:
    from scipy.special import expit

    n, theta = options["n"], options["intercept"]
    if options["truth"] == "prior":
        theta = options["scale"] * float(rng.normal())
    share = float(expit(theta))
    alone = (n * share * (1 - share) + options["scale"] ** -2.0) ** -0.5
    return Table(dp.Data((rng.random(n) < share).astype(float), public_n=n), np.array([theta]), np.array([alone]))


def _classes(options: dict[str, Any], x: Any, z: Any, rng: np.random.Generator) -> Table:
    """Return a table of classes, and differences of slopes from those of the first class."""
    n, d = options["n"], options["d"]
    size = options["scale"] if options["truth"] == "prior" else options["slope"]
    theta = size * rng.normal(size=(CLASSES, d))
    eta = z @ theta.T
    y = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1).astype(float)
    p = np.exp(eta - eta.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    both = (p[:, :, None] * z[:, None, :]).reshape(n, -1)
    information = -(both.T @ both) + options["scale"] ** -2.0 * np.eye(CLASSES * d)
    for c in range(CLASSES):
        here = slice(c * d, (c + 1) * d)
        information[here, here] += z.T @ both[:, here]
    cov = np.linalg.inv(information).reshape(CLASSES, d, CLASSES, d)
    alone = [cov[c, j, c, j] + cov[0, j, 0, j] - 2 * cov[c, j, 0, j] for c in range(1, CLASSES) for j in range(1, d)]
    data = dp.Data(x, y, x_bounds=(-1, 1), public_n=n)
    return Table(data, (theta[1:, 1:] - theta[:1, 1:]).ravel(), np.sqrt(alone))


def outcomes(model: str, eta: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return outcomes, and each record's information about its predictor."""
    from scipy.special import expit, ndtr

    n, mean = len(eta), np.exp(np.minimum(eta, 20.0))
    if model == "logistic":
        return (rng.random(n) < expit(eta)).astype(float), expit(eta) * expit(-eta)
    if model == "probit":
        share = np.clip(ndtr(eta), 1e-12, 1 - 1e-12)
        return (rng.random(n) < share).astype(float), np.exp(-eta * eta) / (2 * math.pi * share * (1 - share))
    if model in ("linear", "linear, unknown sigma"):
        return eta + SIGMA * rng.normal(size=n), np.full(n, SIGMA**-2)
    if model == "huber":
        return eta + SIGMA * huber_errors(n, 1.345, rng), np.full(n, 0.71 * SIGMA**-2)
    if model == "poisson":
        return rng.poisson(mean).astype(float), mean
    return rng.negative_binomial(1 / 0.3, 1 / (1 + 0.3 * mean)).astype(float), mean / (1 + 0.3 * mean)


def huber_errors(n: int, c: float, rng: np.random.Generator) -> Any:
    """Return errors from the density exp(-huber)."""
    from scipy.special import ndtr, ndtri

    inside = math.sqrt(2 * math.pi) * (2 * ndtr(c) - 1)
    tails = 2 / c * math.exp(-c * c / 2)
    middle = ndtri(ndtr(-c) + rng.random(n) * (2 * ndtr(c) - 1))
    tail = (c + rng.exponential(1 / c, n)) * np.sign(rng.random(n) - 0.5)
    return np.where(rng.random(n) < inside / (inside + tails), middle, tail)


def features(options: dict[str, Any], rng: np.random.Generator) -> Any:
    """Return columns in [-1, 1]: independent, with one common factor, or each like the one before it ("neighbours")."""
    n, columns, share = options["n"], options["d"] - 1, options["correlation"]
    x = rng.uniform(-1, 1, size=(n, columns))
    if not share:
        return x
    if options["structure"] == "neighbours":
        for j in range(1, columns):
            x[:, j] = share * x[:, j - 1] + math.sqrt(1 - share**2) * x[:, j]
        return np.clip(x, -1, 1)
    return np.clip(math.sqrt(share) * rng.uniform(-1, 1, size=(n, 1)) + math.sqrt(1 - share) * x, -1, 1)
