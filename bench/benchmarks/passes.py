"""ns per record of each pass over all records, in the second-level cache, one thread: see ../passes.py."""

import time

import numpy as np

import pydpmc as dp
from pydpmc import _core

from .common import require_threads

COLUMNS = (1, 4, 10, 30, 100, 300)
STORAGES = ("float64", "float32", "fixed16")


class Passes:
    """Barker, gradient of Langevin, clipped gradient, NUTS, look of Newton, and 20 chains of Langevin (per chain)."""

    timeout = 120
    params = (COLUMNS, STORAGES, tuple(_core.available_isas()))
    param_names = ("columns", "storage", "isa")
    unit = "ns/record"

    def setup(self, columns, storage, isa):
        random = np.random.default_rng(19)
        n = max(256, min(4096, 50_000 // (columns + 2) // 64 * 64))
        x = random.standard_normal((n, columns)) / np.sqrt(columns)
        data = dp.Data(x, random.integers(0, 2, n).astype(float), row_norm=1.0, storage=storage)
        before = _core.isa()
        _core.use_isa(isa)
        theta = [0.1, *np.linspace(-1.0, 1.0, columns)]
        self.seconds = _core.pass_seconds(
            rows=data._rows, columns=columns, intercept=True, theta=theta, chains=20, repeats=30
        )
        _core.use_isa(before)
        self.n = n

    def of(self, name, chains=1):
        if name not in self.seconds:
            raise NotImplementedError("rows so long have no such pass")
        return 1e9 * self.seconds[name] / self.n / chains

    def track_barker(self, *_):
        return self.of("barker")

    def track_gradient(self, *_):
        return self.of("gradient")

    def track_clipped(self, *_):
        return self.of("clipped")

    def track_density(self, *_):
        return self.of("density")

    def track_look(self, *_):
        return self.of("look")

    def track_chains(self, *_):
        return self.of("chains", 20)


class Shared:
    """Passes of whole runs whose records one thread reads, or two share: ns per record, wall-clock time."""

    timeout = 300
    params = (COLUMNS, STORAGES, (1, 2))
    param_names = ("columns", "storage", "threads")
    unit = "ns/record"
    n = 40_000  # the fewest that two threads share

    def setup(self, columns, storage, threads):
        require_threads(threads)
        random = np.random.default_rng(20)
        x = random.standard_normal((self.n, columns)) / np.sqrt(columns)
        self.data = dp.Data(x, random.integers(0, 2, self.n).astype(float), row_norm=1.0, storage=storage)
        self.threads = threads

    def of(self, sampler, steps):
        """Return the time of a step; what a run takes before its first step is subtracted."""
        plans = [dp.plan(dp.LogisticRegression(), self.data.public, sampler(k), private=False) for k in (1, steps + 1)]
        best = []
        for plan in plans:
            times = []
            for _ in range(5):
                started = time.perf_counter()
                plan.run(self.data, threads=self.threads, progress=False, anyway=True)
                times.append(time.perf_counter() - started)
            best.append(min(times))
        return 1e9 * (best[1] - best[0]) / steps / self.n

    def track_barker(self, *_):
        return self.of(lambda steps: dp.Barker(steps=steps, proposal="ball", scale=0.01, w=0.1), 50)

    def track_gradient(self, *_):
        return self.of(lambda steps: dp.Langevin(steps=steps, w=0.1), 50)

    def track_clipped(self, *_):
        return self.of(lambda steps: dp.SGLD(steps=steps, step_size=1e-5, clip=0.5, sampling="full"), 50)
