"""Compare SGLD (W2, W3) of pydpmc with the limit kernels, on one thread, in interleaved rounds. See ../README.md."""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from benchmarks import gradients  # noqa: E402
from limit_kernels import CLIP, STEP_SIZE, find_anchors, sgld_limit  # noqa: E402

import pydpmc as dp  # noqa: E402

DTYPES = {"float64": (np.float64, "64"), "float32": (np.float32, "32"), "fixed16": (np.float32, "32")}


def seconds(run):
    """Return CPU seconds of this thread; other processes disturb them less than wall-clock time."""
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
        lambda: plan.run(data, draws=10, threads=1, progress=False, anyway=True),
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
    kernel = sgld_limit(find_anchors(arguments.anchors))
    print(f"\n{kernel.name}, float32 for fixed16; steps per second of CPU time, best; ratio: median inside a round\n")
    print("| workload | storage | limit | pydpmc | pydpmc / limit |\n|---|---|---:|---:|---:|")
    for workload in arguments.workload:
        for storage in arguments.storage:
            compare(kernel, workload, storage, 0.1 if arguments.quick else 1.0, arguments.rounds)
