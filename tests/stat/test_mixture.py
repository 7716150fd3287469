"""The mixture of Heikkilä et al. (2019) at N0 = 100: minibatch chains that clip nothing have the tempered posterior."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import pydpmc as dp

Floats = npt.NDArray[np.float64]

N0 = 100
VARIANCE = 2.0
SHAPE = np.array([[0.200, -0.354], [-0.354, 0.716]])  # of the posterior, rounded: only the speed depends on it


class Size(NamedTuple):
    n: int
    batch: int
    clip: float
    c: float
    scale: float
    steps: int
    fewest: int
    mean_within: float
    sd_within: float


SMALL = Size(20_000, 4_000, 0.80, 1.5, 0.55, 60_000, 800, 0.13, 0.08)
PAPER = Size(1_000_000, 10_000, 1.15, 1.5, 0.60, 160_000, 2500, 0.1, 0.05)


def records(n: int) -> Floats:
    rng = np.random.default_rng(3)
    return rng.normal((rng.random(n) < 0.5).astype(float), VARIANCE**0.5)


def grid_moments(x: Floats, w: float) -> tuple[Floats, Floats]:
    """Return means and sds of the tempered posterior; records are binned finely, each bin at its mean."""
    counts, edges = np.histogram(x, bins=500)
    sums, _ = np.histogram(x, bins=edges, weights=x)
    kept = counts > 0
    points, counts = sums[kept] / counts[kept], counts[kept]
    first, gap = np.linspace(-2.5, 3.5, 151), np.linspace(-4.5, 4.5, 151)
    near = -((points - first[:, None]) ** 2) / (2 * VARIANCE)
    far = -((points - (first[:, None, None] + gap[:, None])) ** 2) / (2 * VARIANCE)
    total = w * (np.logaddexp(near[:, None, :], far) @ counts) - first[:, None] ** 2 / 20 - gap**2 / 2
    density = np.exp(total - total.max())
    density /= density.sum()
    margins = [(first, density.sum(axis=1)), (gap, density.sum(axis=0))]
    means = np.array([p @ t for t, p in margins])
    return means, np.array([(p @ (t - m) ** 2) ** 0.5 for (t, p), m in zip(margins, means, strict=True)])


@pytest.mark.parametrize("size", [SMALL, pytest.param(PAPER, marks=pytest.mark.slow)], ids=["small", "paper"])
def test_unclipped_minibatches_have_the_tempered_posterior(close_moments: Any, size: Size) -> None:
    x = records(size.n)
    means, sds = grid_moments(x, N0 / size.n)
    sampler = dp.Barker(
        steps=size.steps,
        batch_size=size.batch,
        proposal="ball",
        scale=SHAPE * size.scale**2,
        clip=size.clip,
        n0=N0,
        c=size.c,
    )
    post = dp.sample(
        dp.GaussianMixture(variance=VARIANCE),
        dp.Data(x, x_bounds=(-10.0, 10.0)),
        sampler,
        chains=2,
        init=means,
        seed=11,
        draws=40_000,
        warmup=1000,
        progress=False,
        unsafe_diagnostics=True,
    )
    assert post.plan["private"]
    assert post.unsafe is not None
    assert post.unsafe.clipped_share == 0.0
    close_moments(post, means, sds, fewest=size.fewest, mean_within=size.mean_within, sd_within=size.sd_within)
