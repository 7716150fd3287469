"""Nanoseconds per index of a batch, drawn in increasing order as in a run."""

import time

import numpy as np

from pydpmc import _core
from pydpmc.samplers.base import batch_arguments

BATCHES = 200


class Indices:
    params = (
        [(1_000_000, 1000), (32_561, 256), (100_000, 1024), (10_000_000, 1000)],
        ["poisson", "without_replacement"],
    )
    param_names = ("n and b", "sampling")

    def setup(self, shape, sampling):
        n, b = shape
        arguments = batch_arguments(_core, sampling, n, b, b / n)
        self.samples = _core.random.StepSamples(n=n, b=None if sampling == "poisson" else b, **arguments)

    def track_nanoseconds(self, shape, sampling):
        best = np.inf
        for seed in range(30):
            started = time.perf_counter()
            count = self.samples.count_of_steps(seed, BATCHES)
            best = min(best, (time.perf_counter() - started) / count)
        return best * 1e9

    track_nanoseconds.unit = "ns"
