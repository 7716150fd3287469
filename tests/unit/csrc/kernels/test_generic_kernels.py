"""Kernels without vector instructions, as an unknown CPU would run them, give the same integers as those installed.

All instruction sets of one build could share a fault; a second compilation, without optimisation, would not.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core

HERE = Path(__file__).parent
FLAGS = ["-std=c++20", "-O1", "-ffp-contract=off", "-w", "-U__SSE2__", "-U__AVX2__", "-DPYDPMC_ISA=baseline"]
STORAGES = {"float64": (0, 1e9), "float32": (1, 1e6), "fixed16": (2, 16384.0 * 4000)}
MODELS = ("logistic_regression", "linear_regression", "poisson_regression", "huber_regression")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not here to compile the kernels once more")
    made = tmp_path_factory.mktemp("kernels") / "generic"
    source = HERE / "generic_kernels.cpp"
    subprocess.run([compiler, *FLAGS, f"-I{HERE.parents[3] / 'csrc'}", str(source), "-o", str(made)], check=True)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("width", [3, 8, 17, 109, 300])
@pytest.mark.parametrize("intercept", [False, True])
def test_sums_are_those_of_the_generic_kernels(program, storage, model, width, intercept, rng):
    x, y = rng.normal(size=(203, width)) / np.sqrt(width), rng.integers(0, 2, 203)
    data = dp.Data(x, y, row_norm=2.0, storage=storage)
    code, per_unit = STORAGES[storage]
    thetas = rng.normal(size=(20, width + intercept))
    for narrow in [False, True] if storage != "float64" and width >= 16 else [False]:
        numbers = [
            model,
            width,
            int(intercept),
            code,
            data._rows.shape[1],
            203,
            0.7,
            repr(per_unit),
            int(narrow),
        ]
        printed = subprocess.run(
            [program, *map(str, numbers)],
            input=data._rows.tobytes() + thetas.tobytes(),
            capture_output=True,
            check=True,
        ).stdout
        expected = [[int(v) for v in line.split()] for line in printed.splitlines()]
        for theta, sums in zip(thetas, expected, strict=True):
            found = _core.gradient_sum(
                rows=data._rows,
                columns=width,
                has_target=True,
                model=model,
                intercept=intercept,
                constants=(0.5, 1.345),
                theta=theta.tolist(),
                clip=0.7,
                per_unit=per_unit,
                index=None,
                narrow=narrow,
            )
            assert found.tolist() == sums
