"""One pass over all records of a logistic regression by other libraries, for ../passes.py."""

import os
import time

import numpy as np


def _shortest(run, repeats):
    run()  # compiles
    best = float("inf")
    for _ in range(repeats):
        started = time.process_time()  # all threads: JAX has some of its own
        run()
        best = min(best, time.process_time() - started)
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

    following, sums = np.empty(len(y)), np.zeros(len(theta))
    return {
        "barker": lambda: barker(x, y, theta, now, following),
        "gradient": lambda: gradient(x, y, theta, norms, 0.0, sums),
        "clipped": lambda: gradient(x, y, theta, norms, clip, sums),
    }


def _jax(x, y, theta, clip, norms, now):
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
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


PEERS = {"numba": _numba, "JAX jit": _jax, "scikit-learn's loss": _sklearn}


def pass_times(name, x, y, theta, clip, repeats):
    """Return {pass: seconds} of one peer in float64; raises ImportError if it is not installed."""
    norms, now = np.sqrt(1.0 + (x * x).sum(axis=1)), np.full(len(y), -0.7)
    passes = PEERS[name](x, y, theta, clip, norms, now)
    return {label: _shortest(run, repeats) for label, run in passes.items()}
