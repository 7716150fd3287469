"""Without privacy, the gradient samplers reproduce posteriordb's regressions.

Plain SGLD, SGHMC and SGNHT have no preconditioner, so each problem is moved to coordinates in which all directions are
about equally wide, and the draws are moved back: the design, the intercept's column of ones included, is rotated to its
singular vectors and each is scaled. Independent normal priors of one width stay independent under a rotation, so
that they can be stated exactly in the new coordinates; flat ones stay flat.
"""

from __future__ import annotations

import dataclasses
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
# Where residuals are far from normal the information is not the curvature, and SGFS needs shorter steps.
SHORTER = {dp.SGFS: 0.4}
MEAN_TOLERANCE = 0.1  # of a posterior sd
SD_TOLERANCE = 0.07


def preconditioned(**options: Any) -> dp.SGLD:
    return dp.SGLD(preconditioner="diagonal", **options)


SAMPLERS = (dp.SGLD, dp.SGHMC, dp.SGNHT, dp.SGFS, preconditioned)
QUICK = ("mesquite-logmesquite_logvolume",)
NAMES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(posteriordb.POSTERIORS)
]


class Whitened:
    """A regression in coordinates of equal width, and the way back."""

    def __init__(self, regression: Any) -> None:
        x, y, model = regression
        design = np.column_stack([np.ones(len(x)), x]) if model.intercept else x
        left, singular, right = np.linalg.svd(design, full_matrices=False)
        self.x = left * len(x) ** 0.5
        self.linear = isinstance(model, dp.LinearRegression)
        self.unit = float((y - left @ (left.T @ y)).std()) if self.linear else 1.0
        self.y = y / self.unit
        self.widths = singular / (self.unit * len(x) ** 0.5)  # of the new coefficients for one of the old
        self.matrix = right.T / self.widths
        self.model = self._model(model)

    def _model(self, model: Any) -> Any:
        if not self.linear:
            assert isinstance(model.prior, dp.Flat)
            return dp.LogisticRegression(prior=dp.Flat())
        beta, sigma = model.prior["beta"], model.prior["sigma"]
        assert model.prior.get("intercept", beta) == beta
        if isinstance(beta, dp.Normal):
            assert beta.loc == 0.0
            beta = dp.Normal(scale=tuple(beta.scale * self.widths))
        if not isinstance(sigma, dp.Flat):
            sigma = dataclasses.replace(sigma, scale=sigma.scale / self.unit)
        return dp.LinearRegression(prior={"beta": beta, "sigma": sigma})

    @property
    def curvature(self) -> float:
        """The largest, at the mode: 2 n of log sigma, or a quarter of n."""
        return (2.0 if self.linear else 0.25) * len(self.y)

    def back(self, draws: Floats) -> Floats:
        width = self.x.shape[1]
        return np.column_stack([draws[:, :width] @ self.matrix.T, self.unit * draws[:, width:]])


def sampled(whitened: Whitened, sampler: Any) -> dp.Posterior:
    start, _ = posteriordb.fit(posteriordb.Regression(whitened.x, whitened.y, whitened.model))
    shorter = SHORTER.get(sampler, 1.0)
    step = shorter * FRACTION * sampler().friction_of_noise / whitened.curvature
    return dp.sample(
        whitened.model,
        dp.Data(whitened.x, whitened.y),
        sampler(steps=int(STEPS / shorter), step_size=step),
        private=False,
        init=start,
        seed=SEED,
        draws=KEPT,
        warmup=4000,
        progress=False,
    )


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", NAMES)
def test_gradient_samplers_reproduce_the_reference_posterior(name: str, sampler: Any) -> None:
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
