"""The workloads: data and samplers that every benchmark shares, all parameters fixed."""

import functools
import sys
import time

import numpy as np

import pydpmc as dp

N = 10**6
BATCH = 1000
EFFECTIVE_RECORDS = 100.0  # w = 100 / N, as in Heikkilä et al. (2019)
COLUMNS = 10
STORAGES = ("float64", "float32")
STORAGES_OF_REGRESSIONS = (*STORAGES, "fixed16")


def mixture_data(n=N, storage="float64"):
    """Both components of Heikkilä et al. (2019): N(0, 2) and N(1, 2)."""
    random = np.random.default_rng(1)
    x = np.sqrt(2.0) * random.standard_normal(n) + random.integers(0, 2, n)
    return dp.Data(x, x_bounds=(-8.0, 9.0), storage=storage)


def logistic_truth():
    return np.linspace(-1.0, 1.0, COLUMNS)


def logistic_data(n=N, storage="float64"):
    random = np.random.default_rng(2)
    x = random.standard_normal((n, COLUMNS)) / np.sqrt(2.0 * COLUMNS)
    y = random.random(n) < 1.0 / (1.0 + np.exp(-x @ logistic_truth()))
    return dp.Data(x, y.astype(float), row_norm=1.0, storage=storage)


def w1_plan(public, steps, chains=1):
    """W1: the minibatch test on the mixture."""
    sampler = dp.Barker(
        steps=steps, batch_size=BATCH, n0=EFFECTIVE_RECORDS, proposal="gaussian", scale=0.1, v_max=0.5, c=1.0
    )
    return dp.plan(dp.GaussianMixture(), public, sampler, init=[0.5, 0.5], chains=chains)


def w1_full_plan(public, steps):
    """W1-full: the exact test on all records; near the scale that mixes best, from the truth."""
    return dp.plan(
        dp.LogisticRegression(), public, dp.Barker(steps=steps, proposal="ball", scale=0.02), init=logistic_truth()
    )


def run_for_speed(plan, data, threads):
    """Return (steps per second, effective draws per second, a mean over coefficients) of one run."""
    started = time.perf_counter()
    post = plan.run(data, threads=threads, progress=False, anyway=True)
    elapsed = time.perf_counter() - started
    return plan.settings.steps / elapsed, float(post.summary().column("ess").mean()) / elapsed


def require_threads(threads):
    if threads > dp._core.hardware_threads():
        raise NotImplementedError(f"this machine has fewer than {threads} cores")


def forget():
    """Empty every cache of the accountant, so that a query is timed and not a lookup."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pydpmc"):
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()
