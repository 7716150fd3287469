"""Without privacy, Langevin reproduces posteriordb's logistic regressions; each draw is the end of a chain of its own.

Problems are moved to coordinates of equal width, as in test_posteriordb_gradient.py, and start at the mode. The priors
are flat, so that the number of steps must be given.
"""

from __future__ import annotations

import json
import math

import numpy as np
import posteriordb
import pytest
from whitening import Whitened

import pydpmc as dp

DRAWS = 2000
BIAS = 0.05
RELAXATIONS = 3  # from the mode: variances are short of their limit by exp(-6)


NAMES = [name for name in sorted(posteriordb.POSTERIORS) if name.startswith("wells")]


@pytest.mark.parametrize(
    "name", [n if n == NAMES[0] else pytest.param(n, marks=pytest.mark.slow) for n in NAMES], ids=str
)
def test_langevin_reproduces_the_reference_posterior(name: str) -> None:
    folder = posteriordb.library() / name
    (archive,) = folder.glob("*_draws.npz")
    reference = np.load(archive)["draws"]
    whitened = Whitened(posteriordb.POSTERIORS[name](json.loads((folder / "data.json").read_text())))
    start, covariance = posteriordb.fit(posteriordb.Regression(whitened.x, whitened.y, whitened.model))
    # The declared bound is the largest row: no privacy is asked for here.
    data = dp.Data(whitened.x, whitened.y, row_norm=float(np.linalg.norm(whitened.x, axis=1).max()))
    step = 2.0 * BIAS * float(np.linalg.eigvalsh(covariance).min())
    steps = math.ceil(RELAXATIONS * float(np.linalg.eigvalsh(covariance).max()) / step)
    sampler = dp.Langevin(draws=DRAWS, steps=steps, step_size=step)
    post = dp.sample(whitened.model, data, sampler, private=False, init=start, seed=20261116, progress=False)
    draws = whitened.back(np.concatenate([np.asarray(block)[0] for block in post.draws.values()], axis=1))

    sd = reference.std(axis=0)
    mean_error = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / sd
    ratio = draws.std(axis=0) / sd
    print(f"{name}: {steps} steps, mean error {mean_error.round(3)} sd, sd ratio {ratio.round(3)}")
    assert mean_error.max() < 0.1
    assert np.abs(ratio - 1.0).max() < 0.07
