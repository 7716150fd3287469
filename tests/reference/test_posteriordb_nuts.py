"""NUTS reproduces every posterior of posteriordb that we hold, from a start that does not depend on it."""

from __future__ import annotations

import json

import numpy as np
import posteriordb
import pytest

import pydpmc as dp

SEED = 20261116
CHAINS = 4
DRAWS = 10_000
MEAN_TOLERANCE = 0.05  # of a posterior sd
SD_TOLERANCE = 0.03
MOST_RHAT = 1.01
QUICK = ("mesquite-logmesquite_logvolume", "sblri-blr")
NAMES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(posteriordb.POSTERIORS)
]


@pytest.mark.parametrize("name", NAMES)
def test_nuts_reproduces_the_reference_posterior(name: str) -> None:
    folder = posteriordb.library() / name
    x, y, model = posteriordb.POSTERIORS[name](json.loads((folder / "data.json").read_text()))
    (archive,) = folder.glob("*_draws.npz")
    reference = np.load(archive)["draws"]

    sampler = dp.NUTS(draws=DRAWS, warmup=1000)
    post = dp.sample(model, dp.Data(x, y), sampler, private=False, chains=CHAINS, seed=SEED, progress=False)
    draws = np.concatenate([np.concatenate(list(block)) for block in post.draws.values()], axis=1)
    assert draws.shape == (CHAINS * DRAWS, reference.shape[1])

    sd = reference.std(axis=0)
    mean_error = np.abs(draws.mean(axis=0) - reference.mean(axis=0)) / sd
    sd_ratio = draws.std(axis=0) / sd
    summary, stats = post.summary(), post.sampler_stats
    assert stats is not None
    print(
        f"{name}: ess {summary.column('ess').min():.0f}, R-hat {summary.column('rhat').max():.4f}, "
        f"mean error {mean_error.max():.3f} sd, sd ratio {sd_ratio.round(3)}, "
        f"tree depth {np.mean(stats.tree_depth):.1f}, gradients {sum(stats.gradients):,}, "
        f"divergences {sum(stats.divergences)}, saturated {sum(stats.saturated)}"
    )
    assert sum(stats.divergences) == 0
    assert summary.column("rhat").max() < MOST_RHAT
    assert mean_error.max() < MEAN_TOLERANCE
    assert np.abs(sd_ratio - 1.0).max() < SD_TOLERANCE
