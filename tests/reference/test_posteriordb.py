"""Without privacy, full-data Barker reproduces every linear and logistic posterior of posteriordb that we hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from posteriordb import POSTERIORS, Regression, fit, library

import pydpmc as dp

Floats = npt.NDArray[np.float64]

SEED = 20261001
STEPS_PER_DIMENSION = 60_000
KEPT = 30_000
MEAN_TOLERANCE = 0.1  # of a posterior sd
SD_TOLERANCE = 0.05


def some_by_default(names: Iterable[str]) -> list[Any]:
    """Leave two of three to the nightly run."""
    return [
        name if number % 3 == 0 else pytest.param(name, marks=pytest.mark.slow)
        for number, name in enumerate(sorted(names))
    ]


def barker_draws(regression: Regression) -> dp.Posterior:
    start, covariance = fit(regression)
    covariance = 0.5 * (covariance + covariance.T)
    d = len(start)
    sampler = dp.Barker(steps=STEPS_PER_DIMENSION * d, proposal="gaussian", scale=covariance * 2.4**2 / d)
    data = dp.Data(regression.x, regression.y)
    return dp.sample(
        regression.model, data, sampler, private=False, init=start, seed=SEED, draws=KEPT, warmup=1000, progress=False
    )


@pytest.mark.parametrize("name", some_by_default(POSTERIORS))
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
