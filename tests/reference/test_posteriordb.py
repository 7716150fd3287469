"""Without privacy, full-data Barker reproduces every linear and logistic posterior of posteriordb that we hold."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp

Floats = npt.NDArray[np.float64]

SEED = 20261001
STEPS_PER_DIMENSION = 60_000
KEPT = 30_000
MEAN_TOLERANCE = 0.1  # of a posterior sd
SD_TOLERANCE = 0.05


class Regression(NamedTuple):
    x: Floats
    y: Floats
    model: dp.LinearRegression | dp.LogisticRegression


def columns(data: dict[str, Any], *names: str) -> Floats:
    return np.column_stack([np.asarray(data[name], dtype=float) for name in names])


def linear(x: Floats, y: npt.ArrayLike, sigma: Any = None, beta: Any = None, intercept: bool = True) -> Regression:
    prior = {"beta": beta or dp.Flat(), "sigma": sigma or dp.Flat()}
    if intercept:
        prior["intercept"] = beta or dp.Flat()
    return Regression(x, np.asarray(y, dtype=float), dp.LinearRegression(prior=prior, intercept=intercept))


def wells(data: dict[str, Any], x: Floats) -> Regression:
    return Regression(x, np.asarray(data["switched"], float), dp.LogisticRegression(prior=dp.Flat(), intercept=True))


def lags(data: dict[str, Any]) -> Regression:
    series, order = np.array(data["y"]), data["K"]
    x = np.column_stack([series[order - k : len(series) - k] for k in range(1, order + 1)])
    return linear(x, series[order:], sigma=HALF_CAUCHY, beta=dp.Normal(scale=10.0))


def party(data: dict[str, Any]) -> Regression:
    age = np.array(data["age_discrete"])
    ages = np.column_stack([(age == group).astype(float) for group in (2, 3, 4)])
    before = columns(data, "real_ideo", "race_adj")
    after = columns(data, "educ1", "gender", "income")
    return linear(np.hstack([before, ages, after]), data["partyid7"])


def leaves(data: dict[str, Any]) -> Regression:
    logs = np.log(columns(data, "diam1", "diam2", "canopy_height", "total_height", "density"))
    return linear(np.hstack([logs, columns(data, "group")]), np.log(data["weight"]))


def leaf_volume(data: dict[str, Any]) -> Regression:
    volume = np.log(columns(data, "diam1", "diam2", "canopy_height")).sum(axis=1, keepdims=True)
    return linear(volume, np.log(data["weight"]))


HALF_CAUCHY = dp.StudentT(df=1, scale=2.5)
POSTERIORS: dict[str, Callable[[dict[str, Any]], Regression]] = {
    "arK-arK": lags,
    "earnings-earn_height": lambda d: linear(columns(d, "height"), d["earn"]),
    "earnings-logearn_height_male": lambda d: linear(columns(d, "height", "male"), np.log(d["earn"])),
    "kidiq-kidscore_momiq": lambda d: linear(columns(d, "mom_iq"), d["kid_score"], HALF_CAUCHY),
    "kidiq-kidscore_momhsiq": lambda d: linear(columns(d, "mom_hs", "mom_iq"), d["kid_score"], HALF_CAUCHY),
    "mesquite-logmesquite": leaves,
    "mesquite-logmesquite_logvolume": leaf_volume,
    "nes1980-nes": party,
    "nes2000-nes": party,
    "sblri-blr": lambda d: linear(np.array(d["X"]), d["y"], dp.Normal(scale=10.0), dp.Normal(scale=10.0), False),
    "wells_data-wells_dist": lambda d: wells(d, columns(d, "dist")),
    "wells_data-wells_dist100_model": lambda d: wells(d, columns(d, "dist") / 100.0),
    "wells_data-wells_dist100ars_model": lambda d: wells(
        d, np.hstack([columns(d, "dist") / 100.0, columns(d, "arsenic")])
    ),
}


def library() -> Path:
    given = os.environ.get("PYDPMC_SHARED")
    roots = [Path(given)] if given else []
    roots += [parent / "shared" for parent in Path(__file__).resolve().parents]
    for root in roots:
        if (root / "data" / "posteriordb").is_dir():
            return root / "data" / "posteriordb"
    pytest.skip("reference posteriors not found: set PYDPMC_SHARED to the folder that holds data/posteriordb")


def fit(regression: Regression) -> tuple[Floats, Floats]:
    """Return the maximum-likelihood theta (sigma on the log scale) and its covariance."""
    x, y, model = regression
    design = np.column_stack([np.ones(len(x)), x]) if model.intercept else x
    if isinstance(model, dp.LinearRegression):
        beta, *_ = np.linalg.lstsq(design, y, rcond=None)
        residual = y - design @ beta
        sigma2 = residual @ residual / (len(y) - design.shape[1])
        covariance = np.zeros((len(beta) + 1,) * 2)
        covariance[:-1, :-1] = sigma2 * np.linalg.inv(design.T @ design)
        covariance[-1, -1] = 0.5 / len(y)
        return np.append(beta, 0.5 * math.log(sigma2)), covariance
    beta = np.zeros(design.shape[1])
    for _ in range(20):
        p = 1.0 / (1.0 + np.exp(-design @ beta))
        covariance = np.linalg.inv(design.T @ (design * (p * (1.0 - p))[:, None]))
        beta = beta + covariance @ (design.T @ (y - p))
    return beta, covariance


def barker_draws(regression: Regression) -> dp.Posterior:
    start, covariance = fit(regression)
    covariance = 0.5 * (covariance + covariance.T)
    d = len(start)
    sampler = dp.Barker(steps=STEPS_PER_DIMENSION * d, proposal="gaussian", scale=covariance * 2.4**2 / d)
    data = dp.Data(regression.x, regression.y)
    return dp.sample(
        regression.model, data, sampler, private=False, init=start, seed=SEED, draws=KEPT, warmup=1000, progress=False
    )


@pytest.mark.parametrize("name", sorted(POSTERIORS))
def test_barker_reproduces_the_reference_posterior(name: str) -> None:
    folder = library() / name
    regression = POSTERIORS[name](json.loads((folder / "data.json").read_text()))
    (archive,) = folder.glob("*_draws.npz")
    reference = np.load(archive)["draws"]

    post = barker_draws(regression)
    draws = np.concatenate([np.asarray(block)[0] for block in post.draws.values()], axis=1)
    assert draws.shape[1] == reference.shape[1]

    sd = reference.std(axis=0)
    mean_error = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / sd
    sd_ratio = draws.std(axis=0) / sd
    effective = post.summary().column("ess").min()
    print(f"{name}: ess {effective:.0f}, mean error {mean_error.max():.3f} sd, sd ratio {sd_ratio.round(3)}")
    assert effective > 6000
    assert mean_error.max() < MEAN_TOLERANCE
    assert np.abs(sd_ratio - 1.0).max() < SD_TOLERANCE


def test_every_stored_posterior_is_tested() -> None:
    assert {folder.name for folder in library().iterdir() if folder.is_dir()} == set(POSTERIORS)
