"""Full passes per second of Langevin: one chain on one and on two threads, in double precision."""

import time

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
        self.plan.run(self.data, threads=threads, progress=False)

    def track_passes(self, threads):
        started = time.perf_counter()
        self.plan.run(self.data, threads=threads, progress=False)
        return self.steps / (time.perf_counter() - started)

    track_passes.unit = "passes/s"
