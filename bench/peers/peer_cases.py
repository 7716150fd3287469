"""The cases of table.py: {name: (make, work)}, the limit kernel first. The peers are the shared anchors, each as its
own users would write it; JAX samples with replacement and BlackJAX does not clip."""

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
from benchmarks import common, gradients, noise
from limit_kernels import CLIP, STEP_SIZE

import pydpmc as dp

SHAPES = {"W2": "N = 32561, d = 109, b = 256", "W3": "N = 1e5, d = 1000, b = 1024"}
# Steps of one timing, by how fast a case is.
STEPS = {
    "W2": {"fast": 10_000, "numba": 3000, "numpy": 1000, "jax": 500, "opacus": 60},
    "W3": {"fast": 300, "numba": 60, "numpy": 30, "jax": 20, "opacus": 5},
}
NORMALS = noise.DRAWS
CHAIN_STEPS = {"W1": 20_000, "W2": 10_000}  # of the runs that compare one thread with two
FULL_STEPS = 60


def _anchor_w1(anchors):
    if anchors is None:
        raise ImportError("the shared anchors is not here")
    sys.path.insert(0, str(anchors))
    import common as anchor_common

    anchor_common.lib = lambda: None  # its limit kernel needs AVX-512
    import w1

    return w1


def _anchor_w23(anchors):
    if anchors is None:
        raise ImportError("the shared anchors is not here")
    sys.path.insert(0, str(anchors))
    import w23

    return w23


def w1(anchors, barker, share):
    """W1: pydpmc and its peers, each with its own number of steps."""
    data = common.mixture_data()
    x = np.ascontiguousarray(data._rows[:, 0])
    fast, slow = int(30_000 * share), int(3000 * share)
    out, clip = np.empty((fast, 2)), 0.99 * common.BATCH**0.5 / common.EFFECTIVE_RECORDS
    plan = common.w1_plan(data.public, fast)
    arguments = (common.N, common.BATCH, fast, common.EFFECTIVE_RECORDS, clip, 0.01, 5)

    def peer(name, *values):
        return lambda: getattr(_anchor_w1(anchors), name)(*values)

    def jax(dtype):
        return lambda: _anchor_w1(anchors).jax_chain(slow, dtype, True)

    return {
        "portable limit kernel": (lambda: lambda: barker.lib.w1(x.ctypes.data, *arguments, out.ctypes.data), fast),
        "pydpmc": (lambda: lambda: plan.run(data, threads=1, progress=False, anyway=True), fast),
        "numba": (peer("numba_chain", slow), slow),
        "numpy": (peer("numpy_chain", slow), slow),
        "JAX float32, with replacement": (jax(np.float32), slow),
        "scipy.stats, as in Heikkilä et al. (2019)": (peer("scipy_style", slow // 20), slow // 20),
    }


def _sgld_run(data, steps, batch, chains=1, threads=1):
    sampler = dp.SGLD(steps=steps, step_size=STEP_SIZE, batch_size=batch, clip=CLIP)
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=chains)
    return lambda: plan.run(data, draws=10, threads=threads, progress=False, anyway=True)


def sgld(workload, bits, anchors, limit, share):
    """W2 or W3 with peers in float64 or float32; pydpmc in float64, or in float32 and fixed16."""
    n, columns, batch, _ = gradients.Sgld.workloads[workload]
    steps = {name: max(2, int(count * share)) for name, count in STEPS[workload].items()}
    x, y = (a.astype(f"float{bits}") for a in gradients.logistic_arrays(n, columns))
    table = getattr(limit.lib, f"make{bits}")(x.ctypes.data, y.ctypes.data, n, columns)
    out, norms = np.zeros(columns), np.linalg.norm(x, axis=1)
    step = (CLIP, 2 * STEP_SIZE, 1.0)

    def peers():
        return _anchor_w23(anchors)

    def ours(storage):
        return lambda: _sgld_run(gradients.logistic_data(n, columns, storage), steps["fast"], batch)

    def numpy():
        return lambda: peers().numpy_chain(x, y, batch, steps["numpy"], *step, 1, norms)

    cases = {limit.name: (lambda: lambda: limit.run(table, bits, batch, steps["fast"], out), steps["fast"])}
    for storage in ("float64",) if bits == "64" else ("float32", "fixed16"):
        cases[f"pydpmc, {storage}"] = (ours(storage), steps["fast"])
    return cases | {
        "numba, clipping": (lambda: peers().numba_chain(x, y, batch, steps["numba"], *step), steps["numba"]),
        "numpy, clipping": (numpy, steps["numpy"]),
        "JAX, clipping": (lambda: peers().jax_chain(x, y, batch, steps["jax"], *step), steps["jax"]),
        "BlackJAX": (lambda: peers().blackjax_chain(x, y, batch, steps["jax"], *step[1:]), steps["jax"]),
        "Opacus": (lambda: peers().opacus_chain(x, y, batch, steps["opacus"], *step[:2]), steps["opacus"]),
    }


def categories(workload, anchors, limit, share):
    """The shape of W2 or W3 with mostly one-hot columns: pydpmc with codes and, like the peers, with full rows."""
    n, _, batch, _ = gradients.Sgld.workloads[workload]
    x, y, blocks = gradients.category_arrays(n, *gradients.CATEGORIES[workload])
    table = limit.lib.make64(x.ctypes.data, y.ctypes.data, *x.shape)
    steps = {name: max(2, int(count * share)) for name, count in STEPS[workload].items()}
    out, step = np.zeros(x.shape[1]), (CLIP, 2 * STEP_SIZE, 1.0)

    def peers():
        return _anchor_w23(anchors)

    def ours(storage, one_hot=None):
        data = dp.Data(x, y, row_norm=1.0, y_bounds=(0.0, 1.0), storage=storage, one_hot=one_hot)
        return lambda: _sgld_run(data, steps["fast"], batch)

    return {
        limit.name: (lambda: lambda: limit.run(table, "64", batch, steps["fast"], out), steps["fast"]),
        "pydpmc, codes": (ours("float64", blocks), steps["fast"]),
        "pydpmc, float64": (ours("float64"), steps["fast"]),
        "pydpmc, fixed16": (ours("fixed16"), steps["fast"]),
        "numba, clipping": (
            lambda: _anchor_w23(anchors).numba_chain(x, y, batch, steps["numba"], *step),
            steps["numba"],
        ),
        "JAX, clipping": (lambda: peers().jax_chain(x, y, batch, steps["jax"], *step), steps["jax"]),
    }


def w4(barker):
    """Millions of normals a second: ours are rounded, exact and from ChaCha20."""
    out = np.empty(NORMALS)
    stream = noise.secure_stream()
    random = np.random.default_rng(1)
    return {
        "portable limit kernel": (
            lambda: lambda: [barker.lib.normal_fill(out.ctypes.data, NORMALS, 9) for _ in range(80)],
            80 * NORMALS / 1e6,
        ),
        "pydpmc, rounded": (
            lambda: lambda: [dp._core.random.fill_rounded_normal(stream, NORMALS) for _ in range(80)],
            80 * NORMALS / 1e6,
        ),
        "numpy PCG64": (
            lambda: lambda: [random.standard_normal(out=out) for _ in range(80)],
            80 * NORMALS / 1e6,
        ),
    }


def w1_full(threads):
    """Return W1-full on so many threads as (run, steps, bytes that a step moves: rows and kept log-likelihoods)."""
    data, steps = common.logistic_data(), 100
    plan = common.w1_full_plan(data.public, steps)
    return (
        lambda: plan.run(data, threads=threads, progress=False, anyway=True),
        steps,
        data._rows.nbytes + 2 * 8 * len(data._rows),
    )


def _normals_on(barker, threads):
    """Normals of the limit kernel on so many threads, each within its own cache: what the machine itself can reach."""
    buffers = [np.empty(NORMALS) for _ in range(threads)]

    def fill(out):  # one call: between calls threads would wait for the interpreter
        barker.lib.normal_refill(out.ctypes.data, NORMALS, 2000, 9)

    def run():
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, buffers))

    return run


def _chains(workload, count):
    """W1 or W2 with so many chains, each on a thread of its own."""
    if workload == "W1":
        mixture = common.mixture_data()
        plan = common.w1_plan(mixture.public, CHAIN_STEPS[workload], chains=count)
        return lambda: plan.run(mixture, threads=count, progress=False, anyway=True)
    n, columns, batch, _ = gradients.Sgld.workloads[workload]
    return _sgld_run(gradients.logistic_data(n, columns), CHAIN_STEPS[workload], batch, chains=count, threads=count)


def _one_pass(threads, storage):
    full = common.logistic_data(storage=storage)
    plan = common.w1_full_plan(full.public, FULL_STEPS)
    return lambda: plan.run(full, threads=threads, progress=False, anyway=True)


def _serve(workload, pipe):
    run = _chains(workload, 1)
    run()
    with suppress(EOFError):  # at the end
        while pipe.recv():
            run()
            pipe.send(True)


def _in_two_processes(workload):
    """One chain in each of two simultaneous processes, which share nothing: the most that two threads could reach."""
    context = multiprocessing.get_context("spawn")
    pipes = []
    for _ in range(2):
        here, there = context.Pipe()
        context.Process(target=_serve, args=(workload, there), daemon=True).start()
        pipes.append(here)

    def run():
        for pipe in pipes:
            pipe.send(True)
        for pipe in pipes:
            pipe.recv()

    run()
    return run


def scaling_cases(barker):
    """Return {workload: {one chain on one thread, two on two, two in two processes}}, work in steps of all chains."""

    def chains(workload):
        steps = CHAIN_STEPS[workload]
        threads = {str(k): (lambda k=k: _chains(workload, k), k * steps) for k in (1, 2)}
        return threads | {"processes": (lambda: _in_two_processes(workload), 2 * steps)}

    def passes(storage):
        return {str(k): (lambda k=k: _one_pass(k, storage), FULL_STEPS) for k in (1, 2)}

    return {
        "limit kernel of W4, blocks of it (no memory, no pydpmc)": {
            str(k): (lambda k=k: _normals_on(barker, k), 2000 * k) for k in (1, 2)
        },
        "W1, two chains": chains("W1"),
        "W2, two chains": chains("W2"),
        **{f"W1-full, one chain, {storage}": passes(storage) for storage in common.STORAGES_OF_REGRESSIONS},
    }
