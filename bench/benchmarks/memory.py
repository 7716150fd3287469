"""Peak memory of gradient runs, records included: data + draws + at most 50 MB."""

import pydpmc as dp

from . import common
from .gradients import logistic_data


class Gradients:
    """SGLD on N = 2e5, d = 100, in each storage."""

    timeout = 120
    params = common.STORAGES_OF_REGRESSIONS
    param_names = ("storage",)

    def setup(self, storage):
        self.data = logistic_data(200_000, 100, storage)
        sampler = dp.SGLD(steps=100, step_size=1e-6, batch_size=256)
        self.plan = dp.plan(dp.LogisticRegression(), self.data.public, sampler)

    def peakmem_run(self, storage):
        self.plan.run(self.data, draws=10, threads=1, progress=False, anyway=True)

    def track_records(self, storage):
        return self.data._rows.nbytes

    track_records.unit = "bytes"
