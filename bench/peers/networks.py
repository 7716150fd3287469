"""The cost of clipped gradients of an MLP 784-128-10 at b = 256 on one thread, interleaved with peers.

    OMP_NUM_THREADS=1 python bench/peers/networks.py [--rounds 15]

Prints the median CPU time of each case in ms and its ratio to the bare matrix products (numpy's BLAS, single
precision). A step of pydpmc includes sampling, the prior, 101,770 Gaussians and the move; the peers compute sums of
clipped gradients alone. Peers that are not installed are left out, by name.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

import pydpmc as dp
from pydpmc import _core
from pydpmc.nn import Dense, Network, Tanh
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target

BATCH, INPUTS, HIDDEN, CLASSES, CLIP, STEPS = 256, 784, 128, 10, 0.5, 20
RNG = np.random.default_rng(0)
X = RNG.random((20_000, INPUTS))
Y = RNG.integers(0, CLASSES, len(X))


def step_of_pydpmc() -> Callable[[], Any]:
    data = dp.Data(X, Y, x_bounds=(0.0, 1.0), storage="float32", public_n=len(X))
    net = Network([Dense(HIDDEN), Tanh(), Dense(CLASSES)])
    sampler = dp.SGLD(clip=CLIP, step_size=1e-7, w=50.0, steps=100_000, batch_size=BATCH)
    plan = dp.plan(net, data.public, sampler, adjacency="add_remove")
    init, draws = start_points(plan, 1, 0), np.empty((1, 0, plan.settings.dim))
    chains = _core.Chains(init=init, draws=draws, warmup=0, thin=1, seed=1)
    core = plan.settings.start(_core, core_target(plan, data), chains, data)
    return lambda: core.advance(STEPS, 1, 4096)


def products() -> Callable[[], Any]:
    x, w, e = (RNG.random(s).astype(np.float32) for s in ((BATCH, INPUTS), (INPUTS, HIDDEN), (BATCH, HIDDEN)))
    v, r = (RNG.random(s).astype(np.float32) for s in ((HIDDEN, CLASSES), (BATCH, CLASSES)))

    def work() -> None:
        for _ in range(STEPS):
            x @ w, e @ v, r @ v.T, e.T @ r, x.T @ e

    return work


def jax_case(ghost: bool) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    theta = [jnp.asarray(RNG.normal(size=s), jnp.float32) * 0.03 for s in ((INPUTS, HIDDEN), (HIDDEN, CLASSES))]
    theta += [jnp.zeros(HIDDEN), jnp.zeros(CLASSES)]
    x, y = jnp.asarray(X[:BATCH], jnp.float32), jnp.asarray(Y[:BATCH])

    def loss(theta: Any, x: Any, y: Any, a: Any = 0.0, b: Any = 0.0) -> Any:
        hidden = jnp.tanh(x @ theta[0] + theta[2] + a)
        return -jax.nn.log_softmax(hidden @ theta[1] + theta[3] + b)[y], hidden

    def by_vmap(theta: Any) -> Any:
        each = jax.vmap(jax.grad(lambda *args: loss(*args)[0]), (None, 0, 0))(theta, x, y)
        norm = jnp.sqrt(sum((g.reshape(BATCH, -1) ** 2).sum(1) for g in each))
        scale = jnp.minimum(1.0, CLIP / norm)
        return [jnp.tensordot(scale, g, 1) for g in each]

    def by_ghost(theta: Any) -> Any:
        zero = jnp.zeros((BATCH, HIDDEN)), jnp.zeros((BATCH, CLASSES))

        def slopes(x: Any, y: Any, a: Any, b: Any) -> Any:
            return jax.grad(lambda a, b: loss(theta, x, y, a, b), (0, 1), has_aux=True)(a, b)

        (e, r), hidden = jax.vmap(slopes)(x, y, *zero)
        norm2 = (e**2).sum(1) * ((x**2).sum(1) + 1) + (r**2).sum(1) * ((hidden**2).sum(1) + 1)
        scale = jnp.minimum(1.0, CLIP / jnp.sqrt(norm2))[:, None]
        return [x.T @ (e * scale), hidden.T @ (r * scale), (e * scale).sum(0), (r * scale).sum(0)]

    compiled = jax.jit(by_ghost if ghost else by_vmap)

    def work() -> None:
        for _ in range(STEPS):
            jax.block_until_ready(compiled(theta))

    return work


CASES: dict[str, Callable[[], Callable[[], Any]]] = {
    "matrix products": products,
    "pydpmc step": step_of_pydpmc,
    "JAX ghost": lambda: jax_case(True),
    "JAX vmap(grad)": lambda: jax_case(False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    works = {}
    for name, make in CASES.items():
        try:
            works[name] = make()
            works[name]()
        except ImportError as absent:
            print(f"{name}: left out, {absent}")
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            times[name].append((time.process_time() - start) / STEPS * 1e3)
    base = float(np.median(times["matrix products"]))
    for name, found in times.items():
        middle = float(np.median(found))
        print(f"{name:18} {middle:8.3f} ms  (least {min(found):.3f})  {middle / base:6.2f} x the products")


if __name__ == "__main__":
    main()
