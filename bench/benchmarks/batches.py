"""Indices of batches in increasing order, ns each; a step draws from a stream of its own, as here."""

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
        sampler = _core.random.Subsampler(n=n, **batch_arguments(_core, sampling, n, b, b / n))
        self.draw = sampler.draw_poisson if sampling == "poisson" else lambda stream: sampler.draw_exactly(b, stream)

    def track_nanoseconds(self, shape, sampling):
        random = _core.random
        key, best = random.key_from_seed(1), np.inf
        for _ in range(30):
            streams = [random.Stream(key, random.purposes["test"], 0, step) for step in range(BATCHES)]
            started = time.perf_counter()
            for stream in streams:
                self.draw(stream)
            best = min(best, time.perf_counter() - started)
        return best / BATCHES / shape[1] * 1e9

    track_nanoseconds.unit = "ns"
