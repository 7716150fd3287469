"""The cost of clipped gradients of an MLP 784-128-10 at b = 256 on one thread, interleaved with peers.

    OMP_NUM_THREADS=1 python bench/peers/networks.py [--rounds 15] [--out networks.json]

Prints the median CPU time of each case in ms, its ratio to the bare matrix products (by the fastest of numpy, torch
and JAX, single precision) and to a step of pydpmc. That step includes sampling, reading the rows, the prior, 101,770
Gaussians and the move; the peers compute sums of clipped gradients of one batch alone. Before it measures, it checks
that the sums of all peers agree. Peers that are not installed are left out, by name.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np
from network_cases import BATCH, CLASSES, CLIP, HIDDEN, INPUTS, RNG, STEPS, X, Y, jax_case, opacus_case

import pydpmc as dp
from pydpmc import _core
from pydpmc.nn import Dense, Network, Tanh
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

Case = tuple[Callable[[], Any], Callable[[], Any] | None]  # the work, and the sums of clipped gradients


def step_of_pydpmc() -> Case:
    data = dp.Data(X, Y, x_bounds=(0.0, 1.0), storage="float32", public_n=len(X))
    net = Network([Dense(HIDDEN), Tanh(), Dense(CLASSES)])
    sampler = dp.SGLD(clip=CLIP, step_size=1e-7, w=50.0, steps=100_000, batch_size=BATCH)
    plan = dp.plan(net, data.public, sampler, adjacency="add_remove")
    init, draws = start_points(plan, 1, 0), np.empty((1, 0, plan.settings.dim))
    chains = _core.Chains(init=init, draws=draws, warmup=0, thin=1, seed=1)
    core = plan.settings.start(_core, core_target(plan, data), chains, data)
    return lambda: core.advance(STEPS, 1, 4096), None


def factors() -> list[Any]:
    """Return inputs, weights, hidden values, weights of the last layer and slopes in its outputs."""
    shapes = (BATCH, INPUTS), (INPUTS, HIDDEN), (BATCH, HIDDEN), (HIDDEN, CLASSES), (BATCH, CLASSES)
    return [RNG.random(shape).astype(np.float32) for shape in shapes]


def products(library: Any) -> Case:
    x, w, e, v, r = (library(one) for one in factors())

    def work() -> None:
        for _ in range(STEPS):
            x @ w, e @ v, r @ v.T, e.T @ r, x.T @ e

    return work, None


def torch_products() -> Case:
    import torch

    torch.set_num_threads(1)
    return products(torch.as_tensor)


def jax_products() -> Case:
    import jax

    compiled = jax.jit(lambda x, w, e, v, r: (x @ w, e @ v, r @ v.T, e.T @ r, x.T @ e))
    given = [jax.numpy.asarray(one) for one in factors()]

    def work() -> None:
        for _ in range(STEPS):
            jax.block_until_ready(compiled(*given))

    return work, None


CASES: dict[str, Callable[[], Case]] = {
    "products, numpy": lambda: products(np.asarray),
    "products, torch": torch_products,
    "products, JAX": jax_products,
    "pydpmc step": step_of_pydpmc,
    "JAX ghost": lambda: jax_case(True),
    "JAX vmap(grad)": lambda: jax_case(False),
    "Opacus ghost": lambda: opacus_case(True),
    "Opacus default": lambda: opacus_case(False),
}


def available() -> dict[str, Callable[[], Any]]:
    """Return the cases that run here, after a comparison of their sums."""
    works, reference = {}, None
    for name, make in CASES.items():
        try:
            work, sums = make()
            work()
        except ImportError as absent:
            print(f"{name}: left out, {absent}")
            continue
        works[name] = work
        if sums is not None:
            found = np.concatenate([np.ravel(part) for part in sums()])
            if reference is not None:
                assert np.abs(found - reference).max() < 1e-3 * np.abs(reference).max(), name
            reference = found
    return works


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Full backward hook")  # of Opacus, in every step
    works = available()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(options.rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            times[name].append((time.process_time() - start) / STEPS * 1e3)
    median = {name: float(np.median(found)) for name, found in times.items()}
    bare = min(value for name, value in median.items() if name.startswith("products"))
    for name, value in median.items():
        print(
            f"{name:18} {value:8.3f} ms  (least {min(times[name]):.3f})  {value / bare:6.2f} x the products"
            f"  {value / median['pydpmc step']:6.2f} x our step"
        )
    if options.out:
        facts = {"machine": platform.processor() or platform.machine(), "isa": _core.isa(), "rounds": options.rounds}
        options.out.write_text(json.dumps({**facts, "median_ms": median}, indent=1) + "\n")


if __name__ == "__main__":
    main()
