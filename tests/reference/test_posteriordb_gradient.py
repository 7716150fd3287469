"""Without privacy, the gradient samplers reproduce posteriordb's regressions.

Plain SGLD, SGHMC and SGNHT have no preconditioner, so each problem is moved to coordinates in which all directions are
about equally wide, and the draws are moved back: the design, the intercept's column of ones included, is rotated to its
singular vectors and each is scaled. Independent normal priors of one width stay independent under a rotation, so
that they can be stated exactly in the new coordinates; flat ones stay flat.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import posteriordb
import pytest
from whitening import Whitened

import pydpmc as dp

Floats = npt.NDArray[np.float64]


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
