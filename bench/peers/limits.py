"""SGLD (W2, W3) of pydpmc beside the limit kernels, one thread, in interleaved rounds. See ../README.md."""

import argparse
import ctypes as ct
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from benchmarks import gradients  # noqa: E402
from w1 import find_anchors  # noqa: E402

import pydpmc as dp  # noqa: E402

DTYPES = {"float64": (np.float64, "64"), "float32": (np.float32, "32"), "fixed16": (np.float32, "32")}
STEP_SIZE, CLIP = 1e-5, 1.0


class AnchorLimit:
    """The limit kernel of shared/anchors; it needs AVX-512."""

    name = "limit kernel of shared/anchors"

    def __init__(self, anchors):
        sys.path.insert(0, str(anchors))
        import common

        self.lib = common.lib()

    def run(self, table, bits, batch, steps, out):
        run = getattr(self.lib, f"sgld{bits}")
        run(table, batch, steps, CLIP, 2 * STEP_SIZE, 1.0, 2, 1, 1, 1, 3, out.ctypes.data)


class PortableLimit:
    """bench/peers/portable_limit.cpp."""

    name = "portable limit kernel"

    def __init__(self):
        target = Path(tempfile.gettempdir()) / f"pydpmc-portable-limit-{HERE.stat().st_ino}.so"
        flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp-simd", "-std=c++20", "-w", "-shared", "-fPIC"]
        subprocess.check_call(["g++", *flags, "-o", str(target), str(HERE / "portable_limit.cpp")])
        self.lib = ct.CDLL(str(target))
        for bits in ("64", "32"):
            make, drop, run = (getattr(self.lib, f"{verb}{bits}") for verb in ("make", "drop", "sgld"))
            make.restype, make.argtypes = ct.c_void_p, [ct.c_void_p, ct.c_void_p, ct.c_int64, ct.c_int]
            drop.restype, drop.argtypes = None, [ct.c_void_p]
            run.restype = None
            run.argtypes = [ct.c_void_p, ct.c_int, ct.c_int64, ct.c_double, ct.c_double, ct.c_uint64, ct.c_void_p]

    def run(self, table, bits, batch, steps, out):
        getattr(self.lib, f"sgld{bits}")(table, batch, steps, CLIP, STEP_SIZE, 3, out.ctypes.data)


def limit_kernel(given):
    anchors = find_anchors(given)
    if anchors is None:
        print("shared/anchors is not here: its limit kernels are skipped, the portable one is used")
        return PortableLimit()
    try:
        return AnchorLimit(anchors)
    except (OSError, subprocess.CalledProcessError):
        print("the limit kernels of shared/anchors do not compile here (they need AVX-512): the portable one is used")
        return PortableLimit()


def seconds(run):
    """Return CPU seconds of this thread, which other processes on the machine disturb less than the clock."""
    started = time.thread_time()
    run()
    return time.thread_time() - started


def compare(limit, workload, storage, share, rounds):
    n, columns, batch, steps = gradients.Sgld.workloads[workload]
    steps = max(2, int(steps * share))
    dtype, bits = DTYPES[storage]
    x, y = gradients.logistic_arrays(n, columns)
    data = gradients.logistic_data(n, columns, storage)
    x, y = x.astype(dtype), y.astype(dtype)
    table = getattr(limit.lib, f"make{bits}")(x.ctypes.data, y.ctypes.data, n, columns)
    out = np.zeros(columns)
    sampler = dp.SGLD(steps=steps, step_size=STEP_SIZE, batch_size=batch, clip=CLIP)
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler)
    cases = (
        lambda: limit.run(table, bits, batch, steps, out),
        lambda: plan.run(data, draws=10, threads=1, progress=False),
    )
    times = [[seconds(case) for case in cases] for _ in range(rounds + 1)][1:]
    getattr(limit.lib, f"drop{bits}")(table)
    best = [steps / min(column) for column in zip(*times, strict=True)]
    ratio = statistics.median(a / b for a, b in times)
    print(f"| {workload} | {storage} | {best[0]:,.0f} | {best[1]:,.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anchors", help="folder with limit.cpp and common.py")
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--storage", nargs="*", default=list(gradients.common.STORAGES_OF_REGRESSIONS))
    parser.add_argument("--workload", nargs="*", default=["W2", "W3"])
    arguments = parser.parse_args()
    kernel = limit_kernel(arguments.anchors)
    print(f"\n{kernel.name}, float32 for fixed16; steps per second of CPU time, best; ratio: median inside a round\n")
    print("| workload | storage | limit | pydpmc | pydpmc / limit |\n|---|---|---:|---:|---:|")
    for workload in arguments.workload:
        for storage in arguments.storage:
            compare(kernel, workload, storage, 0.1 if arguments.quick else 1.0, arguments.rounds)
