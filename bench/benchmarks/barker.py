"""Steps per second, effective draws per second and peak memory of Barker runs."""

from . import common


class MinibatchMixture:
    """W1: N = 1e6, b = 1000, w = 100/N, one chain on one thread."""

    timeout = 120
    params = common.STORAGES
    param_names = ("storage",)
    steps = 40_000

    def setup(self, storage):
        self.data = common.mixture_data(storage=storage)
        common.w1_plan(self.data.public, 100).run(self.data, threads=1, progress=False, anyway=True)
        self.plan = common.w1_plan(self.data.public, self.steps)

    def track_steps_per_second(self, storage):
        return common.run_for_speed(self.plan, self.data, 1)[0]

    def track_ess_per_second(self, storage):
        return common.run_for_speed(self.plan, self.data, 1)[1]

    track_steps_per_second.unit = "steps/s"
    track_ess_per_second.unit = "effective draws/s"

    def peakmem_run(self, storage):
        common.w1_plan(self.data.public, 1000).run(self.data, threads=1, progress=False, anyway=True)


class FullLogistic:
    """W1-full: N = 1e6, d = 10, the exact test on all records, one chain."""

    timeout = 120
    params = ((1, 2), common.STORAGES_OF_REGRESSIONS)
    param_names = ("threads", "storage")
    steps = 1000

    def setup(self, threads, storage):
        common.require_threads(threads)
        self.data = common.logistic_data(storage=storage)
        self.plan = common.w1_full_plan(self.data.public, self.steps)

    def track_steps_per_second(self, threads, storage):
        return common.run_for_speed(common.w1_full_plan(self.data.public, 200), self.data, threads)[0]

    def track_ess_per_second(self, threads, storage):
        return common.run_for_speed(self.plan, self.data, threads)[1]

    track_steps_per_second.unit = "steps/s"
    track_ess_per_second.unit = "effective draws/s"

    def peakmem_run(self, threads, storage):
        common.w1_full_plan(self.data.public, 20).run(self.data, threads=threads, progress=False, anyway=True)
