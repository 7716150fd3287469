"""ns per record of each pass over all records, in the second-level cache, one thread: see ../passes.py."""

import numpy as np

import pydpmc as dp
from pydpmc import _core


class Passes:
    """Barker, gradient, density of NUTS, look of Newton, and the gradients of 20 chains (per chain)."""

    timeout = 120
    params = ((1, 4, 10, 30, 100, 300), ("float64", "float32", "fixed16"), tuple(_core.available_isas()))
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

    def track_density(self, *_):
        return self.of("density")

    def track_look(self, columns, *_):
        if columns > 100:
            raise NotImplementedError("an outer product of 300 columns is a benchmark of its own")
        return self.of("look")

    def track_chains(self, *_):
        return self.of("chains", 20)
