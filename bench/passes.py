"""Print ns per record of each pass over all records: every instruction set, storage and number of columns.

The rows fit into the second-level cache and one thread works. A time is the shortest of many, in processor time, so
that other processes disturb it little; they still share caches and the clock. See README.md.
"""

import argparse
import ctypes as ct
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

from limit_kernels import BarkerLimit, compiled  # noqa: E402
from pass_peers import PEERS, pass_times  # noqa: E402

import pydpmc as dp  # noqa: E402
from pydpmc import _core  # noqa: E402

PASSES = ("barker", "gradient", "clipped", "density", "look", "chains")
LIMITS = {"barker": 0, "gradient": 1, "clipped": 2, "density": 3}
MARCH = {"baseline": "x86-64", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}  # with fused multiply-adds
STORAGES = ("float64", "float32", "fixed16")
COLUMNS = (1, 4, 10, 20, 30, 100)
CHAINS = 20
CACHE = 400_000  # bytes of rows


def workload(columns):
    random = np.random.default_rng(19)
    n = max(1024, min(4096, CACHE // (8 * (columns + 2)) // 64 * 64))
    x = random.standard_normal((n, columns)) / np.sqrt(2.0 * columns)
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    theta = np.r_[0.1, np.linspace(-1.0, 1.0, columns)]
    y = (random.random(n) < 1.0 / (1.0 + np.exp(-theta[0] - x @ theta[1:]))).astype(float)
    return x, y, theta


def pydpmc_times(x, y, theta, storage, isa, repeats):
    """Return {pass: ns per record and theta}."""
    data = dp.Data(x, y, row_norm=1.0, storage=storage)
    before = _core.isa()
    if not _core.use_isa(isa):
        raise SystemExit(f"this CPU or build has no {isa} kernels")
    try:
        seconds = _core.pass_seconds(
            rows=data._rows, columns=x.shape[1], intercept=True, theta=list(theta), chains=CHAINS, repeats=repeats
        )
    finally:
        _core.use_isa(before)
    scale = {"chains": CHAINS}
    return {name: 1e9 * value / len(y) / scale.get(name, 1) for name, value in seconds.items()}


class LimitPasses:
    """The same work without exactness or secrecy, by peers/portable_passes.cpp."""

    def __init__(self, isa):
        self.lib = compiled("portable_passes.cpp", MARCH[isa])
        for bits in ("64", "32"):
            make, drop, run = (getattr(self.lib, name + bits) for name in ("make_passes", "drop_passes", "time_pass"))
            make.restype, make.argtypes = ct.c_void_p, [ct.c_void_p, ct.c_void_p, ct.c_int64, ct.c_int]
            drop.restype, drop.argtypes = None, [ct.c_void_p]
            run.restype, run.argtypes = ct.c_double, [ct.c_void_p, ct.c_int, *3 * [ct.c_void_p], ct.c_int]

    def times(self, x, y, theta, bits, repeats):
        n, columns = x.shape
        make, drop, run = (getattr(self.lib, name + bits) for name in ("make_passes", "drop_passes", "time_pass"))
        blocks = make(np.ascontiguousarray(x).ctypes.data, y.ctypes.data, n, columns)
        given, out = np.ones(n + 64), np.zeros(max(n + 64, columns + 8))
        best = {
            name: run(blocks, number, theta.ctypes.data, given.ctypes.data, out.ctypes.data, repeats)
            for name, number in LIMITS.items()
        }
        drop(blocks)
        return {name: 1e9 * value / n for name, value in best.items()}


def row(label, columns, storage, times):
    cells = " | ".join(f"{times[name]:.2f}" if name in times else "" for name in PASSES)
    print(f"| {columns} | {storage} | {label} | {cells} |", flush=True)


def shares(limit, times):
    """Return the speed of each pass as a share of the limit's."""
    return {name: limit[name] / times[name] for name in limit}


def merged(rounds):
    """Return the shortest time of each pass over several rounds."""
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def tables(arguments):
    limits = {isa: LimitPasses(isa) for isa in arguments.isa}
    print(f"load {os.getloadavg()[0]:.0f}; {_core.isa()} is chosen; ns per record, `chains`: per record and chain\n")
    print("| d | storage | | " + " | ".join(PASSES) + " |\n|---:|---|---|" + "---:|" * len(PASSES))
    for columns in arguments.columns:
        x, y, theta = workload(columns)
        for storage in arguments.storage:
            rounds = {(who, isa): [] for isa in arguments.isa for who in ("pydpmc", "limit")}
            bits = "64" if storage == "float64" else "32"
            for _ in range(arguments.rounds):  # interleaved, so that a busy second hits all alike
                for isa, limit in limits.items():
                    rounds["pydpmc", isa].append(pydpmc_times(x, y, theta, storage, isa, arguments.repeats))
                    rounds["limit", isa].append(limit.times(x, y, theta, bits, arguments.repeats))
            for isa in limits:
                ours, best = merged(rounds["pydpmc", isa]), merged(rounds["limit", isa])
                row(isa, columns, storage, ours)
                row(f"limit, {isa}", columns, storage, best)
                row(f"share of the limit, {isa}", columns, storage, shares(best, ours))
        for name in PEERS if arguments.peers else ():
            try:
                times = pass_times(name, x, y, theta, 0.9, arguments.repeats)
            except ImportError as missing:
                print(f"{name} is left out: {missing}", file=sys.stderr)
                continue
            row(name, columns, "float64", {label: 1e9 * value / len(y) for label, value in times.items()})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", nargs="*", type=int, default=list(COLUMNS))
    parser.add_argument("--storage", nargs="*", default=list(STORAGES))
    parser.add_argument("--isa", nargs="*", default=[isa for isa in _core.available_isas() if isa != "baseline"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--peers", action="store_true", help="numba, JAX and scikit-learn too, in float64")
    tables(parser.parse_args())
    print(f"\nsequential read of the cached rows: {BarkerLimit().bandwidth(CACHE, 1) / 1e9:.0f} bytes per ns")
