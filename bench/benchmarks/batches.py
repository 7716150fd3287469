"""Indices of batches in increasing order, ns each; a step draws from a stream of its own, as in a run."""

import time

import numpy as np

from pydpmc import _core
from pydpmc.samplers.batches import batch_arguments

BATCHES = 200


class Indices:
    params = (
        [(1_000_000, 1000), (32_561, 256), (100_000, 1024), (10_000_000, 1000)],
        ["poisson", "without_replacement"],
    )
    param_names = ("n and b", "sampling")

    def setup(self, shape, sampling):
        n, b = shape
        self.sampler = _core.random.Subsampler(n=n, **batch_arguments(_core, sampling, n, b, b / n))

    def track_nanoseconds(self, shape, sampling):
        b = None if sampling == "poisson" else shape[1]
        best = np.inf
        for seed in range(30):
            started = time.perf_counter()
            count = self.sampler.count_of_steps(b, seed, BATCHES)
            best = min(best, (time.perf_counter() - started) / count)
        return best * 1e9

    track_nanoseconds.unit = "ns"
