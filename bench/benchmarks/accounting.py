"""How long it takes to price a run, from an empty cache, and to plan one."""

import math

import pydpmc as dp
from pydpmc import accounting as acc

from . import common

EVENTS = {
    "accept_bit": lambda steps: acc.AcceptBit(shift=1.0 / math.sqrt(steps)),
    "minibatch_accept_bit": lambda steps: acc.MinibatchAcceptBit(b=1000, n=10**6, v_max=0.5, c=1.0),
    "poisson_gaussian": lambda steps: acc.Gaussian(noise_multiplier=0.02 * math.sqrt(steps)).poisson(rate=0.01),
    "without_replacement_gaussian": lambda steps: acc.Gaussian(0.02 * math.sqrt(steps)).without_replacement(10, 1000),
}
MILLION = {"n": 10**6, "columns": tuple("abcdefghij")}
ADULT = {"n": 32_561, "columns": tuple(f"x{i}" for i in range(108))}
POLYNOMIAL = dp.Polynomial(a=1e-4, b=10.0, gamma=0.55)  # the budget pays for 1e6 steps
STEEP = dp.Polynomial(a=2e-2, b=10.0, gamma=0.55)  # more than the budget pays for: the chain is made hotter
START = dp.Langevin(bias=0.5)
PLANS = {
    "full Barker": (MILLION, dp.Barker(n0=10_000)),
    "full Barker, scale given": (ADULT, dp.Barker(n0=1000, scale=0.05)),
    "minibatch Barker": (MILLION, dp.Barker(batch_size=1000, n0=10_000)),
    "minibatch Barker, b = 100": (MILLION, dp.Barker(batch_size=100, n0=100)),
    "SGLD": (ADULT, dp.SGLD(w=0.25)),
    "SGLD, polynomial step sizes": (ADULT, dp.SGLD(w=0.25, step_size=POLYNOMIAL)),
    "SGLD, made hotter": (ADULT, dp.SGLD(w=0.25, steps=20_000, batch_size=3256, step_size=STEEP)),
    "SGLD, li2019": (ADULT, dp.SGLD(calibration="li2019", steps=10_000, batch_size=3256)),
    "SGLD, li2019, few steps": (ADULT, dp.SGLD(calibration="li2019", steps=200, batch_size=651)),
    "SGHMC": (ADULT, dp.SGHMC(w=0.25)),
    "Langevin": (ADULT, dp.Langevin()),
    "PosteriorSample": (ADULT, dp.PosteriorSample()),
    "Hybrid": (ADULT, dp.Hybrid(START, dp.SGNHT(w=0.2))),
    "Hybrid, polynomial step sizes": (ADULT, dp.Hybrid(START, dp.SGLD(w=0.25, step_size=POLYNOMIAL))),
    "Hybrid, minibatch Barker": (MILLION, dp.Hybrid(START, dp.Barker(batch_size=500, n0=100))),
}


def adjacencies(name):
    """Return the adjacencies under which this plan can be made: the minibatch test is accounted for under replace."""
    sampler = PLANS[name][1]
    chain = getattr(sampler, "chain", sampler)
    minibatch = isinstance(chain, dp.Barker) and chain.batch_size is not None
    return ("replace",) if minibatch else ("replace", "add_remove")


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
    params = (tuple(PLANS), ("replace", "add_remove"))
    param_names = ("sampler", "adjacency")
    number, repeat, warmup_time, timeout = 1, (1, 3, 10.0), 0, 120

    def setup(self, sampler, adjacency):
        table, self.sampler = PLANS[sampler]
        self.public = dp.Public(**table, has_target=True, row_norm=1.0, public_n=table["n"])
        if adjacency not in adjacencies(sampler):
            raise NotImplementedError("the minibatch test is accounted for under replace only")
        common.forget()

    def time_plan(self, sampler, adjacency):
        dp.plan(dp.LogisticRegression(), self.public, self.sampler, epsilon=1.0, delta=1e-6, adjacency=adjacency)
