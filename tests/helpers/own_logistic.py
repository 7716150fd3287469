"""Logistic regression written in every way that a model of one's own can be written in."""

import ctypes
import importlib
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp

C_SOURCE = """
#include <math.h>
#include <pydpmc/model.h>

static double dot(const double* a, const double* b, int64_t n) {
  double part[8] = {0}, rest = 0.0; /* several sums at once: one alone waits for each addition */
  int64_t j = 0;
  for (; j + 8 <= n; j += 8)
    for (int k = 0; k < 8; ++k) part[k] += a[j + k] * b[j + k];
  for (; j < n; ++j) rest += a[j] * b[j];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7])) + rest;
}

int log_lik(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x, const double* y,
            double* out, void* user) {
  for (int64_t i = 0; i < count; ++i) {
    const double* row = x + i * columns;
    const double eta = dot(theta, row, columns);
    const double s = y[i] > 0.5 ? eta : -eta;
    out[i] = s > 0 ? -log1p(exp(-s)) : s - log1p(exp(s));
  }
  return 0;
}

int grad(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x, const double* y,
         double* out, void* user) {
  for (int64_t i = 0; i < count; ++i) {
    const double* row = x + i * columns;
    const double eta = dot(theta, row, columns);
    const double residual = y[i] - 1.0 / (1.0 + exp(-eta));
    for (int64_t j = 0; j < columns; ++j) out[i * dim + j] = residual * row[j];
  }
  return 0;
}

double prior(int64_t dim, const double* theta, double* slopes, void* user) {
  double total = 0.0;
  for (int64_t j = 0; j < dim; ++j) {
    total -= 0.5 * theta[j] * theta[j];
    if (slopes) slopes[j] = -theta[j];
  }
  return total;
}
"""

CYTHON_SOURCE = """
# cython: language_level=3, boundscheck=False, cdivision=True
from libc.math cimport exp, log1p
from libc.stdint cimport int64_t
from pydpmc.models.own.abi cimport pydpmc_function

cdef api int log_lik(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x,
                     const double* y, double* out, void* user) noexcept nogil:
    cdef int64_t i, j
    cdef double eta, s
    for i in range(count):
        eta = 0.0
        for j in range(columns):
            eta += theta[j] * x[i * columns + j]
        s = eta if y[i] > 0.5 else -eta
        out[i] = -log1p(exp(-s)) if s > 0 else s - log1p(exp(s))
    return 0

cdef api int grad(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x,
                  const double* y, double* out, void* user) noexcept nogil:
    cdef int64_t i, j
    cdef double eta, residual
    for i in range(count):
        eta = 0.0
        for j in range(columns):
            eta += theta[j] * x[i * columns + j]
        residual = y[i] - 1.0 / (1.0 + exp(-eta))
        for j in range(columns):
            out[i * dim + j] = residual * x[i * columns + j]
    return 0

cdef pydpmc_function checked = grad  # does not compile unless the signature is that of the header
"""

_folders = []


def folder():
    """Return a folder that lasts as long as the process."""
    import tempfile

    made = tempfile.TemporaryDirectory()
    _folders.append(made)
    return made.name


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    try:
        importlib.import_module(module)
    except Exception as error:  # of an environment whose parts do not fit: it says nothing of pydpmc
        pytest.skip(f"{module} is installed but cannot be imported: {error}")


def compiled(source, language="c", extra=()):
    """Compile a shared library with the machine's C compiler."""
    compiler = shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0]) or shutil.which("cc")
    if compiler is None or sys.platform == "win32":
        pytest.skip("there is no C compiler")
    where = folder()
    with open(f"{where}/model.{language}", "w") as file:
        file.write(source)
    command = [compiler, "-O3", "-shared", "-fPIC", f"-I{dp.get_include()}", *extra, f"{where}/model.{language}"]
    subprocess.run([*command, "-o", f"{where}/model.so", "-lm"], check=True)
    return f"{where}/model.so"


@cache
def c_library():
    return ctypes.CDLL(compiled(C_SOURCE))


def in_c(d, **options):
    library = c_library()
    return dp.models.from_pointer(library.log_lik, library.grad, parameters={"beta": d}, **options)


@cache
def cython_module():
    needs("Cython")
    where = folder()
    with open(f"{where}/own_cython.pyx", "w") as file:
        file.write(CYTHON_SOURCE)
    site_packages = str(Path(dp.get_include()).parents[1])
    subprocess.run([sys.executable, "-m", "cython", "-I", site_packages, f"{where}/own_cython.pyx"], check=True)
    with open(f"{where}/own_cython.c") as file:
        library = compiled(file.read(), extra=(f"-I{sysconfig.get_paths()['include']}",))
    spec = importlib.util.spec_from_file_location("own_cython", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_cython(d):
    functions = cython_module().__pyx_capi__
    return dp.models.from_pointer(functions["log_lik"], functions["grad"], parameters={"beta": d})


def in_low_level_callable(d):
    from scipy import LowLevelCallable

    functions = cython_module().__pyx_capi__
    low = [LowLevelCallable(functions[name]) for name in ("log_lik", "grad")]
    return dp.models.from_pointer(*low, parameters={"beta": d})


@cache
def numba_functions():
    needs("numba")
    import math

    from numba import cfunc, types

    pointer = types.CPointer(types.float64)
    signature = types.intc(types.int64, types.int64, types.int64, pointer, pointer, pointer, pointer, types.voidptr)

    @cfunc(signature)
    def log_lik(count, columns, dim, theta, x, y, out, user):
        for i in range(count):
            eta = 0.0
            for j in range(columns):
                eta += theta[j] * x[i * columns + j]
            s = eta if y[i] > 0.5 else -eta
            out[i] = -math.log1p(math.exp(-s)) if s > 0 else s - math.log1p(math.exp(s))
        return 0

    @cfunc(signature)
    def grad(count, columns, dim, theta, x, y, out, user):
        for i in range(count):
            eta = 0.0
            for j in range(columns):
                eta += theta[j] * x[i * columns + j]
            residual = y[i] - 1.0 / (1.0 + math.exp(-eta))
            for j in range(columns):
                out[i * dim + j] = residual * x[i * columns + j]
        return 0

    return log_lik, grad


def in_numba(d):
    return dp.models.from_pointer(*numba_functions(), parameters={"beta": d})


def numpy_log_lik(theta, record):
    sign = 2.0 * record["y"] - 1.0
    return -np.logaddexp(0.0, -sign * (record["x"] @ theta["beta"]))


def numpy_grad(theta, record):
    residual = record["y"] - 1.0 / (1.0 + np.exp(-(record["x"] @ theta["beta"])))
    return {"beta": residual[:, None] * record["x"]}


def in_numpy(d, **options):
    return dp.models.from_numpy(numpy_log_lik, numpy_grad, parameters={"beta": d}, **options)


def in_jax(d, **options):
    needs("jax")
    import jax

    def log_lik(theta, record):
        return jax.nn.log_sigmoid((2.0 * record["y"] - 1.0) * (record["x"] @ theta["beta"]))

    return dp.models.from_jax(log_lik, parameters={"beta": d}, **options)


def in_numpyro(d):
    needs("numpyro")
    import numpyro
    import numpyro.distributions as dist

    def logistic(x, y=None):
        beta = numpyro.sample("beta", dist.Normal(0.0, 1.0).expand([d]).to_event(1))
        with numpyro.plate("records", x.shape[0]):
            numpyro.sample("obs", dist.Bernoulli(logits=x @ beta), obs=y)

    return dp.models.from_numpyro(logistic, record={"x": np.zeros(d), "y": 0})


def in_torch(d):
    needs("torch")
    import torch

    class Logistic(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.beta = torch.nn.Parameter(torch.zeros(d))

        def forward(self, x):
            return x @ self.beta

    return dp.models.from_torch(Logistic(), torch.nn.functional.binary_cross_entropy_with_logits)


def in_pymc(d):
    needs("pymc")
    import pymc as pm

    with pm.Model() as model:
        x, y = pm.Data("X", np.zeros((2, d))), pm.Data("Y", np.zeros(2))
        beta = pm.Normal("beta", 0.0, 1.0, shape=d)
        pm.Bernoulli("obs", logit_p=x @ beta, observed=y)
    return dp.models.from_pymc(model, observed=["obs"], inputs=["X", "Y"])


WAYS = {
    "c": in_c,
    "numba": in_numba,
    "cython": in_cython,
    "LowLevelCallable": in_low_level_callable,
    "numpy": in_numpy,
    "jax": in_jax,
    "numpyro": in_numpyro,
    "torch": in_torch,
    "pymc": in_pymc,
}
