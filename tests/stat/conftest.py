"""What the statistical tests share: moments of draws, and the compiled run of a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="session")
def close_moments() -> Callable[..., None]:
    def check(
        post: dp.Posterior,
        mean: npt.ArrayLike,
        sd: npt.ArrayLike,
        *,
        fewest: int = 4000,
        mean_within: float = 0.1,
        sd_within: float = 0.05,
    ) -> None:
        """Means within 0.1 sd and sds within 5 %, with enough effective draws for that to mean something."""
        draws = np.concatenate([np.concatenate(list(block)) for block in post.draws.values()], axis=1)
        error = np.abs(draws.mean(axis=0) - mean) / sd
        ratio = draws.std(axis=0) / sd
        effective = post.summary().column("ess").min()
        print(f"ess {effective:.0f}, mean error {error.max():.3f} sd, sd ratio {ratio.round(3)}")
        assert effective > fewest
        assert error.max() < mean_within
        assert np.abs(ratio - 1.0).max() < sd_within

    return check


@pytest.fixture(scope="session")
def compiled_run() -> Callable[..., Any]:
    def build(plan: dp.Plan, data: dp.Data, seed: int, **changed: Any) -> tuple[Any, Floats]:
        """Return the compiled run of a plan, all draws kept, and the array it fills."""
        draws = np.full((plan.chains, plan.settings.steps, plan.settings.walk.dim), np.nan)
        arguments = plan.settings.core_arguments(_core, data.public) | changed
        init = start_points(plan, plan.chains, seed)
        chains = _core.Chains(init=init, draws=draws, warmup=0, thin=1, seed=seed)
        return _core.BarkerRun(core_target(plan, data), chains, **arguments), draws

    return build
