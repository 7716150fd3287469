"""Seconds from arrays to the draws of Newton: Data, plan, looks and 4,000 draws, on two threads.

``python benchmarks/newton.py`` prints them: 1e6 x 10 is to take less than 1 s, 1e5 x 100 less than 5 s.
"""

import time

import numpy as np

import pydpmc as dp

SIZES = ("1e6 x 10", "1e5 x 100")


class FromDataToDraws:
    """A logistic regression at epsilon 1, settings from the planner."""

    timeout = 120
    params = (SIZES, ("float64", "float32"))
    param_names = ("size", "storage")
    unit = "s"

    def setup(self, size, storage):
        random = np.random.default_rng(16)
        n, columns = (int(float(number)) for number in size.split(" x "))
        self.x = random.standard_normal((n, columns)) / np.sqrt(2.0 * columns)
        p = 1.0 / (1.0 + np.exp(-self.x @ np.linspace(-1.0, 1.0, columns)))
        self.y = (random.random(n) < p).astype(float)

    def track_seconds(self, size, storage):
        started = time.perf_counter()
        data = dp.Data(self.x, self.y, row_norm=1.0, storage=storage)
        dp.sample(
            dp.LogisticRegression(), data, dp.Newton(), epsilon=1.0, delta=1e-6, threads=2, progress=False, anyway=True
        )
        return time.perf_counter() - started


if __name__ == "__main__":
    for size in SIZES:
        for storage in FromDataToDraws.params[1]:
            benchmark = FromDataToDraws()
            benchmark.setup(size, storage)
            times = [benchmark.track_seconds(size, storage) for _ in range(3)]
            print(f"{size}, {storage}: {min(times):.2f} s ({', '.join(f'{t:.2f}' for t in times)})", flush=True)
