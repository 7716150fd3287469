"""Gradients and effective draws per second of NUTS."""

import time

import numpy as np

import pydpmc as dp

from . import common


class NutsLogistic:
    """Logistic regression, N = 1e5, d = 50, one chain."""

    timeout = 300
    params = (1, 2)
    param_names = ("threads",)

    def setup(self, threads):
        common.require_threads(threads)
        random = np.random.default_rng(3)
        x = random.standard_normal((100_000, 50)) / np.sqrt(50)
        y = random.random(100_000) < 1.0 / (1.0 + np.exp(-x @ random.standard_normal(50)))
        self.data = dp.Data(x, y.astype(float))

    def run(self, threads, draws, warmup):
        started = time.perf_counter()
        sampler = dp.NUTS(draws=draws, warmup=warmup)
        post = dp.sample(
            dp.LogisticRegression(), self.data, sampler, private=False, seed=1, threads=threads, progress=False
        )
        return post, time.perf_counter() - started

    def track_gradients_per_second(self, threads):
        post, elapsed = self.run(threads, draws=50, warmup=50)
        return sum(post.sampler_stats.gradients) / elapsed

    def track_ess_per_second(self, threads):
        post, elapsed = self.run(threads, draws=200, warmup=200)
        return float(post.summary().column("ess").min()) / elapsed

    track_gradients_per_second.unit = "gradients/s"
    track_ess_per_second.unit = "effective draws/s"
