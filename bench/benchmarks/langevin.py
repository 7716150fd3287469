"""Full passes per second of Langevin: one chain on one and on two threads, in double precision."""

import time

import numpy as np

import pydpmc as dp

from .common import require_threads
from .gradients import logistic_data


class Langevin:
    """The shape of Adult, N = 32561, d = 108."""

    timeout = 300
    params = (1, 2)
    param_names = ("threads",)
    steps = 400

    def setup(self, threads):
        require_threads(threads)
        self.data = logistic_data(32_561, 108)
        self.plan = dp.plan(dp.LogisticRegression(), self.data.public, dp.Langevin(w=0.1, steps=self.steps))
        self.plan.run(self.data, threads=threads, progress=False, anyway=True)

    def track_passes(self, threads):
        started = time.perf_counter()
        self.plan.run(self.data, threads=threads, progress=False, anyway=True)
        return self.steps / (time.perf_counter() - started)

    track_passes.unit = "passes/s"


class LangevinDraws:
    """Twenty chains of the shape of Adult: passes per second, summed over the chains."""

    timeout = 600
    params = ((1, 2), ("dense", "codes"))
    param_names = ("threads", "rows")
    steps, draws = 60, 20

    def setup(self, threads, rows):
        require_threads(threads)
        self.data = logistic_data(32_561, 108) if rows == "dense" else categorical_data()
        sampler = dp.Langevin(w=0.1, steps=self.steps, draws=self.draws)
        self.plan = dp.plan(dp.LogisticRegression(), self.data.public, sampler)

    def track_passes(self, threads, rows):
        started = time.perf_counter()
        self.plan.run(self.data, threads=threads, progress=False, anyway=True)
        return self.draws * self.steps / (time.perf_counter() - started)

    track_passes.unit = "passes/s"


def categorical_data(n=32_561, numbers=6, blocks=8, levels=12):
    """Six numbers and eight categories, 102 columns: the shape of Adult with its categories as codes."""
    random = np.random.default_rng(8)
    codes = random.integers(0, levels, (n, blocks))
    hot = [codes[:, [b]] == np.arange(levels) for b in range(blocks)]
    x = np.concatenate([random.uniform(-1.0, 1.0, (n, numbers)), *hot], axis=1)
    columns = [list(range(numbers + b * levels, numbers + (b + 1) * levels)) for b in range(blocks)]
    return dp.Data(x, random.integers(0, 2, n).astype(float), x_bounds=(-1.0, 1.0), one_hot=columns)
