"""How long it takes to price a run, from an empty cache, and to plan one."""

import math

import pydpmc as dp
from pydpmc import accounting as acc

from . import common

EVENTS = {
    "accept_bit": lambda steps: acc.AcceptBit(shift=1.0 / math.sqrt(steps)),
    "minibatch_accept_bit": lambda steps: acc.MinibatchAcceptBit(b=1000, n=10**6, v_max=0.5, c=1.0),
}


class Query:
    params = (tuple(EVENTS), (10**3, 10**4, 10**6))
    param_names = ("event", "steps")
    number, repeat, warmup_time, timeout = 1, (1, 3, 10.0), 0, 120

    def setup(self, event, steps):
        self.uses = [(EVENTS[event](steps), steps)]
        common.forget()

    def time_epsilon(self, event, steps):
        acc.compose(self.uses).epsilon(1e-6)

    def track_epsilon(self, event, steps):
        return acc.compose(self.uses).epsilon(1e-6)

    track_epsilon.unit = "epsilon at delta = 1e-6"


class Planning:
    params = (("full", "minibatch"),)
    param_names = ("test",)
    number, repeat, warmup_time, timeout = 1, (1, 3, 10.0), 0, 120

    def setup(self, test):
        self.public = dp.Public(n=10**6, columns=tuple("abcdefghij"), has_target=True, row_norm=1.0)
        self.sampler = dp.Barker(batch_size=1000 if test == "minibatch" else None, n0=10_000)
        common.forget()

    def time_plan(self, test):
        dp.plan(dp.LogisticRegression(), self.public, self.sampler, epsilon=1.0, delta=1e-6)
