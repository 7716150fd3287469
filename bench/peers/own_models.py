"""Cost of an SGLD step of a model written elsewhere, in units of the built-in logistic regression's.

One chain and one thread, cases interleaved, CPU time: python bench/peers/own_models.py [rounds] [--inline]

With --inline JAX computes in the thread that calls it (jax_cpu_enable_async_dispatch=False), not in one of its own.
"""

import argparse
import sys
from pathlib import Path

import clock
import numpy as np

import pydpmc as dp
from pydpmc import _core
from pydpmc.samplers.base import target_arguments

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))
import own_logistic

N = 50_000
SHAPES = ((10, 256), (10, 1000), (50, 256), (50, 1000))
WAYS = ("c", "numba", "numpy", "jax", "numpyro", "torch")
TARGETS = {  # of issue 18, at d = 10
    ("c", 256): 2.5, ("c", 1000): 2.5, ("numba", 256): 3.5, ("numba", 1000): 3.5,
    ("jax", 256): 8.0, ("jax", 1000): 5.0, ("numpyro", 256): 8.0, ("numpyro", 1000): 5.0,
}  # fmt: skip


def table(d):
    random = np.random.default_rng(3)
    x = random.standard_normal((N, d)) / np.sqrt(d)
    return dp.Data(x, (random.random(N) < 0.5) * 1.0, row_norm=2.0, y_bounds=(0.0, 1.0))


def case(model, data, b, steps):
    """Return a function that makes `steps` steps in the core, without what surrounds a run."""
    sampler = dp.SGLD(steps=10**6, step_size=1e-5, batch_size=b, clip=2.0)
    settings = dp.plan(model, data.public, sampler).settings
    target = _core.Target(**target_arguments(model, data, settings.batch_size, settings.sampling))
    chains = _core.Chains(
        init=np.full((1, settings.dim), 0.1), draws=np.empty((1, 1, settings.dim)), warmup=0, thin=1, seed=1
    )
    run = settings.start(_core, target, chains, data)
    return lambda: run.advance(steps, 1, 4096)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=15)
    parser.add_argument("--inline", action="store_true")
    options = parser.parse_args()
    if options.inline:
        import jax

        jax.config.update("jax_cpu_enable_async_dispatch", False)
    print(f"{'d':>4}{'b':>6}  {'model':<10}{'us a step':>10}{'ratio':>8}{'wanted':>8}")
    with clock.one_core():
        for d, b in SHAPES:
            data, steps = table(d), max(20, 100_000 // b)
            makers = {"built-in": (lambda: case(dp.LogisticRegression(), data, b, steps), steps)}  # noqa: B023
            for way in WAYS:
                makers[way] = (lambda way=way: case(own_logistic.WAYS[way](d), data, b, steps), steps)  # noqa: B023
            rates = clock.rates(clock.available(makers), options.rounds)
            for name, seen in rates.items():
                ratio = float(np.median(np.array(rates["built-in"]) / np.array(seen)))
                wanted = TARGETS.get((name, b), "") if d == 10 or name == "c" else ""
                print(f"{d:>4}{b:>6}  {name:<10}{1e6 / np.median(seen):>10.1f}{ratio:>8.2f}{wanted:>8}", flush=True)


if __name__ == "__main__":
    main()
