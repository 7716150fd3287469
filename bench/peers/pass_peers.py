"""One pass over all records of a logistic regression by other libraries, for ../passes.py.

They read the same numbers as pydpmc, stored in as many bits, and compute in doubles as it does: that is what a user of
numba or JAX writes whose rows are of single precision or of sixteen-bit integers.
"""

import json
import os
import sys
import time

import numpy as np

CACHE = 400_000  # bytes of rows
FIXED16_UNITS = 2.0**14  # of the storage fixed16 in one


def workload(columns):
    """Return x, y and theta; the rows fit into the second-level cache."""
    random = np.random.default_rng(19)
    n = max(1024, min(4096, CACHE // (8 * (columns + 2)) // 64 * 64))
    x = random.standard_normal((n, columns)) / np.sqrt(2.0 * columns)
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    theta = np.r_[0.1, np.linspace(-1.0, 1.0, columns)]
    y = (random.random(n) < 1.0 / (1.0 + np.exp(-theta[0] - x @ theta[1:]))).astype(float)
    return x, y, theta


def stored(x, theta, storage):
    """Return x in the storage, and theta for its units."""
    if storage != "fixed16":
        return x.astype(storage), theta
    return np.rint(x * FIXED16_UNITS).astype(np.int16), np.r_[theta[0], theta[1:] / FIXED16_UNITS]


def _shortest(run, repeats):
    run()  # compiles
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()  # JAX works in threads of its own, whose processor time is counted late
        run()
        best = min(best, time.perf_counter() - started)
    return best


def _numba(x, y, theta, clip, norms, now):
    import numba

    @numba.njit(fastmath=True)
    def barker(x, y, theta, now, following):
        total = 0.0
        for i in range(len(y)):
            eta = theta[0]
            for j in range(x.shape[1]):
                eta += theta[j + 1] * x[i, j]
            z = -eta if y[i] > 0.5 else eta
            following[i] = -(max(z, 0.0) + np.log(1.0 + np.exp(-abs(z))))
            total += min(max(following[i] - now[i], -1.0), 1.0)
        return total

    @numba.njit(fastmath=True)
    def gradient(x, y, theta, norms, clip, sums):
        for i in range(len(y)):
            eta = theta[0]
            for j in range(x.shape[1]):
                eta += theta[j + 1] * x[i, j]
            f = y[i] - 1.0 / (1.0 + np.exp(-eta))
            if clip > 0.0:
                f *= min(1.0, clip / (abs(f) * norms[i]))
            sums[0] += f
            for j in range(x.shape[1]):
                sums[j + 1] += f * x[i, j]

    @numba.njit(fastmath=True)
    def density(x, y, theta, sums):
        total = 0.0
        for i in range(len(y)):
            eta = theta[0]
            for j in range(x.shape[1]):
                eta += theta[j + 1] * x[i, j]
            e = np.exp(-abs(eta))
            f = y[i] - (1.0 if eta > 0.0 else e) / (1.0 + e)
            total -= max(-eta if y[i] > 0.5 else eta, 0.0) + np.log(1.0 + e)
            sums[0] += f
            for j in range(x.shape[1]):
                sums[j + 1] += f * x[i, j]
        return total

    following, sums = np.empty(len(y)), np.zeros(len(theta))
    return {
        "barker": lambda: barker(x, y, theta, now, following),
        "gradient": lambda: gradient(x, y, theta, norms, 0.0, sums),
        "clipped": lambda: gradient(x, y, theta, norms, clip, sums),
        "density": lambda: density(x, y, theta, sums),
    }


def _jax(x, y, theta, clip, norms, now):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    x, y, theta, norms, now = (jnp.asarray(a) for a in (x, y, theta, norms, now))

    @jax.jit
    def barker(theta):
        eta = theta[0] + x @ theta[1:]
        following = -jax.nn.softplus(jnp.where(y > 0.5, -eta, eta))
        return jnp.clip(following - now, -1.0, 1.0).sum(), following

    @jax.jit
    def gradient(theta):
        f = y - jax.nn.sigmoid(theta[0] + x @ theta[1:])
        return f.sum(), f @ x

    @jax.jit
    def clipped(theta):
        f = y - jax.nn.sigmoid(theta[0] + x @ theta[1:])
        f = f * jnp.minimum(1.0, clip / (jnp.abs(f) * norms))
        return f.sum(), f @ x

    def loglik(theta):
        eta = theta[0] + x @ theta[1:]
        return -jax.nn.softplus(jnp.where(y > 0.5, -eta, eta)).sum()

    density = jax.jit(jax.value_and_grad(loglik))
    passes = {"barker": barker, "gradient": gradient, "clipped": clipped, "density": density}
    return {name: lambda run=run: jax.block_until_ready(run(theta)) for name, run in passes.items()}


def _sklearn(x, y, theta, clip, norms, now):
    from sklearn._loss import HalfBinomialLoss
    from sklearn.linear_model._linear_loss import LinearModelLoss

    loss = LinearModelLoss(base_loss=HalfBinomialLoss(), fit_intercept=True)
    coefficients = np.append(theta[1:], theta[0])
    return {"density": lambda: loss.loss_gradient(coefficients, x, y, n_threads=1)}


def _nutpie(x, y, theta, clip, norms, now):
    import ctypes

    import nutpie
    import pymc as pm

    with pm.Model() as model:
        intercept = pm.Normal("intercept", 0.0, 1.0)
        slopes = pm.Normal("slopes", 0.0, 1.0, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=intercept + pm.math.dot(x, slopes), observed=y)
    compiled = nutpie.compile_pymc_model(model)
    slope, value = np.zeros(len(theta)), ctypes.c_double()
    at, data = np.ascontiguousarray(theta), compiled.user_data
    arguments = (len(theta), at.ctypes.data, slope.ctypes.data, ctypes.addressof(value), data.ctypes.data)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *4 * [ctypes.c_void_p])
    function = prototype(compiled.compiled_logp_func.address)
    if function(*arguments) != 0:
        raise SystemExit("nutpie's function failed")
    return {"density": lambda: function(*arguments)}


PEERS = {"numba": _numba, "JAX jit": _jax, "scikit-learn's loss": _sklearn, "nutpie's logp": _nutpie}
NARROW = ("numba", "JAX jit")  # those that read other rows than doubles


def pass_times(name, x, y, theta, clip, repeats, storage="float64"):
    """Return {pass: seconds} of one peer; raises ImportError if it is not installed."""
    norms, now = np.sqrt(1.0 + (x * x).sum(axis=1)), np.full(len(y), -0.7)
    x, theta = stored(x, theta, storage)
    passes = PEERS[name](x, y, theta, clip, norms, now)
    return {label: _shortest(run, repeats) for label, run in passes.items()}


def held_to(isa):
    """Return an environment in which compilers use one thread and no wider vectors than those of the kernels."""
    most = {"avx2": "AVX2", "avx512": "AVX512"}.get(isa, "SSE4_2")
    flags = f"--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 --xla_cpu_max_isa={most}"
    names = {"baseline": "x86-64", "avx2": "x86-64-v3"}  # with AVX-512 numba may use whatever this CPU has
    numba = {"NUMBA_CPU_NAME": names[isa], "NUMBA_CPU_FEATURES": ""} if isa in names else {}
    return os.environ | {"XLA_FLAGS": flags, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | numba


def main():
    """Print {peer: {pass: ns per record}}: called by ../passes.py in an environment of held_to."""
    columns, repeats, storage = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    x, y, theta = workload(columns)
    found = {}
    for name in PEERS if storage == "float64" else NARROW:
        try:
            times = pass_times(name, x, y, theta, 0.9, repeats, storage)
        except ImportError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)
            continue
        found[name] = {label: 1e9 * value / len(y) for label, value in times.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
