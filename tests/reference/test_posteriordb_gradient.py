"""Without privacy, SGLD, SGHMC and SGNHT reproduce posteriordb's regressions with flat priors on the coefficients.

The samplers have no preconditioner, so each problem is moved to coordinates in which all directions are about equally
wide (columns whitened, target in units of the residual), and the draws are moved back. That needs priors that do not
change under a linear map: two posteriors have others and are left out by name.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp

Floats = npt.NDArray[np.float64]


def load_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


posteriordb = load_module("test_posteriordb")

SEED = 20261116
STEPS = 400_000
KEPT = 20_000
FRACTION = 0.05  # of the shortest relaxation time: 1.3 % on a standard deviation
MEAN_TOLERANCE = 0.1  # of a posterior sd
SD_TOLERANCE = 0.07
SAMPLERS = (dp.SGLD, dp.SGHMC, dp.SGNHT)
NORMAL_PRIORS = {"arK-arK", "sblri-blr"}
QUICK = ("mesquite-logmesquite_logvolume",)
NAMES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in sorted(set(posteriordb.POSTERIORS) - NORMAL_PRIORS)
]


class Whitened:
    """A regression with an intercept in coordinates of equal width, and the way back."""

    def __init__(self, regression: Any) -> None:
        x, y, model = regression
        self.linear = isinstance(model, dp.LinearRegression)
        self.centre = x.mean(axis=0)
        covariance = np.atleast_2d(np.cov(x, rowvar=False))
        self.matrix = np.linalg.inv(np.linalg.cholesky(covariance)).T
        self.x = (x - self.centre) @ self.matrix
        self.shift, self.unit = (y.mean(), self._residual_sd(y)) if self.linear else (0.0, 1.0)
        self.y = (y - self.shift) / self.unit
        self.model = self._model(model)

    def _residual_sd(self, y: Floats) -> float:
        design = np.column_stack([np.ones(len(y)), self.x])
        return float((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]).std())

    def _model(self, model: Any) -> Any:
        if not self.linear:
            return model
        sigma = model.prior["sigma"]
        if isinstance(sigma, dp.StudentT):
            sigma = dp.StudentT(df=sigma.df, scale=sigma.scale / self.unit)
        return dp.LinearRegression(prior=model.prior | {"sigma": sigma}, intercept=True)

    @property
    def curvature(self) -> float:
        """The largest, at the mode: 2 n of log sigma, or a quarter of n."""
        return (2.0 if self.linear else 0.25) * len(self.y)

    def back(self, draws: Floats) -> Floats:
        width = self.x.shape[1]
        slopes = self.unit * draws[:, 1 : 1 + width] @ self.matrix.T
        intercept = self.shift + self.unit * draws[:, 0] - slopes @ self.centre
        return np.column_stack([intercept, slopes, self.unit * draws[:, 1 + width :]])


def sampled(whitened: Whitened, sampler: type) -> dp.Posterior:
    start, _ = posteriordb.fit(posteriordb.Regression(whitened.x, whitened.y, whitened.model))
    step = FRACTION * sampler().friction_of_noise / whitened.curvature
    return dp.sample(
        whitened.model,
        dp.Data(whitened.x, whitened.y),
        sampler(steps=STEPS, step_size=step),
        private=False,
        init=start,
        seed=SEED,
        draws=KEPT,
        warmup=4000,
        progress=False,
    )


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", NAMES)
def test_gradient_samplers_reproduce_the_reference_posterior(name: str, sampler: type) -> None:
    folder = posteriordb.library() / name
    (archive,) = folder.glob("*_draws.npz")
    reference = np.load(archive)["draws"]
    whitened = Whitened(posteriordb.POSTERIORS[name](json.loads((folder / "data.json").read_text())))

    post = sampled(whitened, sampler)
    draws = whitened.back(np.concatenate([np.asarray(block)[0] for block in post.draws.values()], axis=1))
    assert draws.shape[1] == reference.shape[1]

    sd = reference.std(axis=0)
    mean_error = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / sd
    sd_ratio = draws.std(axis=0) / sd
    effective = post.summary().column("ess").min()
    print(f"{name}, {sampler.__name__}: ess {effective:.0f}, mean error {mean_error.max():.3f} sd", end=", ")
    print(f"sd ratio {sd_ratio.round(3)}")
    assert effective > 2000
    assert mean_error.max() < MEAN_TOLERANCE
    assert np.abs(sd_ratio - 1.0).max() < SD_TOLERANCE


def test_the_posteriors_left_out_are_those_with_normal_priors() -> None:
    folder = posteriordb.library()
    for name, build in posteriordb.POSTERIORS.items():
        regression = build(json.loads((folder / name / "data.json").read_text()))
        prior = regression.model.prior
        slopes = prior["beta"] if isinstance(prior, dict) else prior
        assert isinstance(slopes, dp.Normal) == (name in NORMAL_PRIORS)
