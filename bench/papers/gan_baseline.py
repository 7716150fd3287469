"""A plug-in baseline for synthetic images: a Gaussian per class from noised moments, priced by our accountant."""

from __future__ import annotations

from typing import Any

import numpy as np

from pydpmc import accounting as acc

RADIUS = 5.0  # rows are shortened to this norm; digits of 14 x 14 pixels seldom exceed it
SHARES = (0.05, 0.25, 0.7)  # of the squared sensitivity: counts, sums, second moments


def class_gaussians(x: Any, y: Any, epsilon: float, delta: float, seed: int) -> tuple[Any, Any, float]:
    """Return 10,000 made images, their digits, and epsilon.

    A record adds (a, b x, c x x^T) to its class, of norm at most 1, and one Gaussian mechanism releases all sums. The
    noise comes from numpy with a seed: this is a benchmark, and no release.
    """
    random = np.random.default_rng(seed)

    def guarantee(z: float) -> list[Any]:
        return [acc.compose([(acc.Gaussian(z), 1)], adjacency="add_remove")]

    z = 1.0 / acc.calibrate(
        lambda inverse: guarantee(1.0 / inverse),
        epsilon=epsilon, delta=delta, adjacency="add_remove", bracket=(1e-3, 10.0), integer=False,
    )  # fmt: skip
    x = x * np.minimum(1.0, RADIUS / np.maximum(np.linalg.norm(x, axis=1), 1e-12))[:, None]
    scale = [np.sqrt(share) / RADIUS**power for power, share in enumerate(SHARES)]
    width, made, digits = x.shape[1], [], np.repeat(np.arange(10), 1000)
    for digit in range(10):
        here = x[y == digit]
        count = max(1.0, len(here) + z / scale[0] * random.normal())
        mean = (here.sum(axis=0) + z / scale[1] * random.normal(size=width)) / count
        noise = np.triu(random.normal(size=(width, width)))
        noise = np.where(np.eye(width) > 0, noise, noise / np.sqrt(2.0))  # off the diagonal a value counts twice
        second = (here.T @ here + z / scale[2] * (np.triu(noise) + np.triu(noise, 1).T)) / count
        values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
        half = vectors * np.sqrt(np.clip(values, 0.0, None))
        made.append(np.clip(mean + random.normal(size=(1000, width)) @ half.T, 0.0, 1.0))
    return np.concatenate(made), digits, float(guarantee(z)[0].epsilon(delta))
