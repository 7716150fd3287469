"""Steps per second of SGLD on one chain and one thread."""

import time

import numpy as np

import pydpmc as dp

from . import common


def logistic_arrays(n, columns):
    random = np.random.default_rng(3)
    x = random.standard_normal((n, columns)) / np.sqrt(columns)
    return x, (random.random(n) < 0.5).astype(float)


def logistic_data(n, columns, storage="float64"):
    return dp.Data(*logistic_arrays(n, columns), row_norm=2.0, y_bounds=(0.0, 1.0), storage=storage)


CATEGORIES = {"W2": (6, (8, 16, 7, 14, 6, 5, 41, 5)), "W3": (10, (99,) * 10)}  # numbers, and levels with a column


def category_arrays(n, numbers, levels):
    """Return features of which most are one-hot, the target, and the blocks."""
    random = np.random.default_rng(4)
    columns = [random.uniform(-1.0, 1.0, (n, numbers))]
    blocks, width = [], numbers
    for count in levels:
        code = np.minimum(random.integers(0, count + 1, n), random.integers(0, count + 1, n))
        columns.append(np.eye(count + 1)[code][:, :count])
        blocks.append(range(width, width + count))
        width += count
    return np.concatenate(columns, axis=1) / np.sqrt(numbers + len(levels)), (random.random(n) < 0.5) * 1.0, blocks


class Sgld:
    """W2: N = 32561, d = 109, b = 256 (the shape of Adult). W3: N = 1e5, d = 1000, b = 1024."""

    timeout = 300
    params = (("W2", "W3"), common.STORAGES_OF_REGRESSIONS)
    param_names = ("workload", "storage")
    workloads = {"W2": (32_561, 109, 256, 20_000), "W3": (100_000, 1000, 1024, 800)}  # noqa: RUF012

    def setup(self, workload, storage):
        n, columns, batch, steps = self.workloads[workload]
        self.data = logistic_data(n, columns, storage)
        self.plans = {
            sampling: dp.plan(
                dp.LogisticRegression(),
                self.data.public,
                dp.SGLD(steps=steps, step_size=1e-5, batch_size=batch, sampling=sampling),
            )
            for sampling in ("poisson", "without_replacement")
        }
        self.plans["poisson"].run(self.data, draws=1, threads=1, progress=False, anyway=True)

    def _steps_per_second(self, sampling):
        plan = self.plans[sampling]
        started = time.perf_counter()
        plan.run(self.data, draws=100, threads=1, progress=False, anyway=True)
        return plan.settings.steps / (time.perf_counter() - started)

    def track_poisson(self, workload, storage):
        return self._steps_per_second("poisson")

    def track_without_replacement(self, workload, storage):
        return self._steps_per_second("without_replacement")

    track_poisson.unit = "steps/s"
    track_without_replacement.unit = "steps/s"


class Categories:
    """The shapes of W2 and W3 with columns that are mostly one-hot: stored as codes, or as full rows."""

    timeout = 300
    params = (("W2", "W3"), ("codes", "multiplied out"))
    param_names = ("shape", "rows")

    def setup(self, workload, rows):
        n, _, batch, self.steps = Sgld.workloads[workload]
        x, y, blocks = category_arrays(n, *CATEGORIES[workload])
        self.data = dp.Data(x, y, row_norm=1.0, y_bounds=(0.0, 1.0), one_hot=blocks if rows == "codes" else None)
        self.plan = dp.plan(
            dp.LogisticRegression(), self.data.public, dp.SGLD(steps=self.steps, step_size=1e-5, batch_size=batch)
        )
        self.plan.run(self.data, draws=1, threads=1, progress=False, anyway=True)

    def track_steps_per_second(self, workload, rows):
        started = time.perf_counter()
        self.plan.run(self.data, draws=100, threads=1, progress=False, anyway=True)
        return self.steps / (time.perf_counter() - started)
