"""Compare NUTS of pydpmc with PyMC, nutpie and NumPyro on one logistic regression. See ../README.md.

Effective draws per second: the least bulk ESS over the coefficients (the same estimator for all), over the wall-clock
time of warm-up and draws, and over the processor time, which means more on a machine that others use. Compilation is
left out: each peer compiles first, or runs once before the clock starts.
"""

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from typing import NamedTuple

import numpy as np

import pydpmc as dp
from pydpmc.diagnostics import ess, rhat

CHAINS = 4
PRIOR_SCALE = 1.0


def problem(n, d):
    random = np.random.default_rng(3)
    x = random.standard_normal((n, d)) / np.sqrt(d)
    beta = random.standard_normal(d)
    return x, (random.random(n) < 1.0 / (1.0 + np.exp(-x @ beta))).astype(float)


def pydpmc_run(x, y, draws, warmup, threads):
    data = dp.Data(x, y)
    model = dp.LogisticRegression(prior=dp.Normal(scale=PRIOR_SCALE))

    def run():
        sampler = dp.NUTS(draws=draws, warmup=warmup)
        post = dp.sample(model, data, sampler, private=False, chains=CHAINS, threads=threads, progress=False)
        return post.draws["beta"]

    return run


def pymc_model(x, y):
    import pymc as pm

    with pm.Model() as model:
        beta = pm.Normal("beta", 0.0, PRIOR_SCALE, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=pm.math.dot(x, beta), observed=y)
    return model


def pymc_run(x, y, draws, warmup, threads):
    import pymc as pm

    model = pymc_model(x, y)

    def run():
        with model:
            trace = pm.sample(
                draws, tune=warmup, chains=CHAINS, cores=threads, progressbar=False, compute_convergence_checks=False
            )
        return trace.posterior["beta"].to_numpy()

    return run


def nutpie_run(x, y, draws, warmup, threads):
    import nutpie

    compiled = nutpie.compile_pymc_model(pymc_model(x, y))

    def run():
        trace = nutpie.sample(
            compiled, draws=draws, tune=warmup, chains=CHAINS, cores=threads, progress_bar=False, seed=1
        )
        return trace.posterior["beta"].to_numpy()

    return run


def numpyro_run(x, y, draws, warmup, threads):
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={threads}")
    import jax
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC
    from numpyro.infer import NUTS as Kernel

    xs, ys = jax.numpy.asarray(x), jax.numpy.asarray(y)

    def model(x, y):
        beta = numpyro.sample("beta", dist.Normal(0.0, PRIOR_SCALE).expand([x.shape[1]]).to_event(1))
        numpyro.sample("y", dist.BernoulliLogits(x @ beta), obs=y)

    mcmc = MCMC(
        Kernel(model),
        num_warmup=warmup,
        num_samples=draws,
        num_chains=CHAINS,
        chain_method="vectorized",
        progress_bar=False,
    )

    def run():
        mcmc.run(jax.random.PRNGKey(0), xs, ys)
        return np.asarray(mcmc.get_samples(group_by_chain=True)["beta"], dtype=float)

    return run


PEERS = {
    "pydpmc": ("pydpmc", pydpmc_run),
    "PyMC": ("pymc", pymc_run),
    "nutpie": ("nutpie", nutpie_run),
    "NumPyro": ("numpyro", numpyro_run),
}


class Row(NamedTuple):
    elapsed: float
    work: float
    effective: float
    worst_rhat: float
    mean: list[float]


def processor_seconds():
    """Of this process and of its children that have ended (PyMC has one per chain)."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def measured(name, options):
    """Run one peer in this process."""
    build = PEERS[name][1]
    x, y = problem(options.n, options.d)
    run = build(x, y, options.draws, options.warmup, options.threads)
    if name != "nutpie":  # which is compiled by now
        build(x[:1000], y[:1000], 10, 20, options.threads)()
    started, worked = time.perf_counter(), processor_seconds()
    draws = run()
    elapsed, work = time.perf_counter() - started, processor_seconds() - worked
    columns = [draws[:, :, j] for j in range(draws.shape[2])]
    return Row(elapsed, work, min(map(ess, columns)), max(map(rhat, columns)), draws.mean(axis=(0, 1)).tolist())


def apart(name, options):
    """Run one peer in a process of its own, because the thread pools of several peers can conflict."""
    numbers = [f"--{key}={getattr(options, key)}" for key in ("n", "d", "draws", "warmup", "threads")]
    command = [sys.executable, __file__, *numbers, "--inside", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"  {name}: failed and left out\n{done.stderr[-2000:]}")
        return None
    return Row(*json.loads(done.stdout.splitlines()[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--d", type=int, default=50)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--inside", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if options.inside:
        print(json.dumps(measured(options.inside, options)))
        return
    print(f"N = {options.n:,}, d = {options.d}, {CHAINS} chains of {options.warmup} + {options.draws}")
    rows = {}
    for name in options.only:
        if importlib.util.find_spec(PEERS[name][0]) is None:
            print(f"  {name}: not installed, left out (pip install {PEERS[name][0]})")
            continue
        row = apart(name, options)
        if row is not None:
            rows[name] = row
            print(
                f"  {name}: {row.effective:.0f} effective draws, {row.elapsed:.1f} s, {row.work:.1f} s CPU", flush=True
            )
    if rows:
        report(rows)


def report(rows):
    best = max(row.effective / row.elapsed for row in rows.values())
    least_work = max(row.effective / row.work for row in rows.values())
    heads = ("wall s", "CPU s", "least ESS", "R-hat", "ESS/s", "of best", "ESS/CPU s", "of best")
    widths = (9, 9, 11, 8, 9, 9, 11, 9)
    print(" " * 10 + "".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    for name, row in rows.items():
        rate, thrift = row.effective / row.elapsed, row.effective / row.work
        print(f"{name:10}{row.elapsed:9.1f}{row.work:9.1f}{row.effective:11.0f}{row.worst_rhat:8.3f}", end="")
        print(f"{rate:9.2f}{rate / best:9.2f}{thrift:11.2f}{thrift / least_work:9.2f}")
    means = np.array([row.mean for row in rows.values()])
    print(f"largest difference of posterior means: {np.ptp(means, axis=0).max():.4f}")


if __name__ == "__main__":
    main()
