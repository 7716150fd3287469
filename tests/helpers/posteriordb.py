"""The regressions of posteriordb that we hold reference draws of, as pydpmc's models."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from shared_files import absence, shared_path

import pydpmc as dp

Floats = npt.NDArray[np.float64]


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


def library() -> Path:
    folder = shared_path("data", "posteriordb")
    if folder is None:
        pytest.skip(absence("data", "posteriordb"))
    return folder
