"""Compare W1 of pydpmc with the limit kernel and its peers in interleaved rounds. See ../README.md."""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "peers")]

from benchmarks import common as ours  # noqa: E402
from limit_kernels import find_anchors  # noqa: E402

LIMIT = "C++ limit, without replacement, 1 thread"
OURS = "pydpmc, ChaCha20, exact integer sums"


def pydpmc_case(steps, data):
    plan = ours.w1_plan(data.public, steps)
    return lambda: lambda: plan.run(data, threads=1, progress=False, anyway=True)


def alone(steps, data, rounds=5):
    run = pydpmc_case(steps, data)()
    run()
    rates = []
    for _ in range(rounds):
        started = time.perf_counter()
        run()
        rates.append(steps / (time.perf_counter() - started))
    print(f"pydpmc, W1: {max(rates):,.0f} steps/s best, {np.median(rates):,.0f} median of {rounds}")


def beside(anchors, divide, data):
    sys.path.insert(0, str(anchors))
    import common

    reference = LIMIT
    try:
        common.lib()
    except (OSError, subprocess.CalledProcessError):
        print("the limit kernel does not compile here (it needs AVX-512): ratios are to pydpmc")
        common.lib, reference = lambda: None, OURS
    import w1

    if w1.N != ours.N or w1.b != ours.BATCH or w1.N0 != ours.EFFECTIVE_RECORDS:
        raise SystemExit("the anchors measure another W1 than ours")
    cases = [
        (LIMIT, lambda: w1.cpp(100_000 // divide, 0), 100_000 // divide),
        (OURS, pydpmc_case(50_000 // divide, data), 50_000 // divide),
        ("numba f64", lambda: w1.numba_chain(20_000 // divide), 20_000 // divide),
        ("numpy f64", lambda: w1.numpy_chain(5_000 // divide), 5_000 // divide),
        ("scipy.stats style", lambda: w1.scipy_style(600 // divide), 600 // divide),
    ]
    cases = [case for case in cases if reference == LIMIT or case[0] != LIMIT]
    common.run("W1, one chain, one thread", common.pick(cases, reference), reference, rounds=5)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anchors", help="folder with limit.cpp, common.py and w1.py")
    parser.add_argument("--quick", action="store_true", help="a fifth of the steps")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]  # the anchors read it too
    divide = 5 if options.quick else 1
    data = ours.mixture_data()
    anchors = find_anchors(options.anchors)
    if anchors is None:
        print("the shared anchors was not found: no limit kernel and no peers; pydpmc alone")
        return alone(50_000 // divide, data)
    return beside(anchors, divide, data)


if __name__ == "__main__":
    main()
