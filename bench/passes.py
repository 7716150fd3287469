"""Print ns per record of each pass over all records: every instruction set, storage and number of columns.

The rows fit into the second-level cache and one thread works. A time is the shortest of many, in processor time, so
that other processes disturb it little; they still share caches and the clock. See README.md.
"""

import argparse
import ctypes as ct
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

from limit_kernels import compiled  # noqa: E402
from pass_peers import held_to, workload  # noqa: E402

import pydpmc as dp  # noqa: E402
from pydpmc import _core  # noqa: E402

LIMITS = {"barker": 0, "gradient": 1, "clipped": 2, "density": 3, "look": 4}
MARCH = {"baseline": "x86-64", "avx2": "x86-64-v3", "avx512": "x86-64-v4"}  # with fused multiply-adds
STORAGES = ("float64", "float32", "fixed16")
COLUMNS = (1, 4, 10, 20, 30, 100, 300)
CHAINS = 20


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
        given, out = np.ones(n + 64), np.zeros(max(n + 64, (columns + 32) ** 2))
        best = {
            name: run(blocks, number, theta.ctypes.data, given.ctypes.data, out.ctypes.data, repeats)
            for name, number in LIMITS.items()
        }
        drop(blocks)
        return {name: 1e9 * value / n for name, value in best.items()}


def merged(rounds):
    """Return the shortest time of each pass over several rounds."""
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def measure(arguments):
    """Return a list of {columns, storage, isa, who, times}, times being {pass: ns per record}."""
    limits, found = {isa: LimitPasses(isa) for isa in arguments.isa}, []

    def keep(columns, storage, isa, who, times):
        found.append({"columns": columns, "storage": storage, "isa": isa, "who": who, "times": times})

    for columns in arguments.columns:
        x, y, theta = workload(columns)
        for storage in arguments.storage:
            rounds = {(who, isa): [] for isa in arguments.isa for who in ("pydpmc", "limit")}
            bits = "64" if storage == "float64" else "32"
            for _ in range(arguments.rounds):  # interleaved, so that a busy second hits all alike
                for isa, limit in limits.items():
                    rounds["pydpmc", isa].append(pydpmc_times(x, y, theta, storage, isa, arguments.repeats))
                    rounds["limit", isa].append(limit.times(x, y, theta, bits, arguments.repeats))
            for (who, isa), times in rounds.items():
                keep(columns, storage, isa, who, merged(times))
            for isa in limits if arguments.peers else ():
                for name, times in peer_times(columns, storage, isa, arguments).items():
                    keep(columns, storage, isa, name, times)
    return found


def page(found):
    """Return two tables with a column per instruction set: passes and their limits, and peers."""
    isas = list(dict.fromkeys(entry["isa"] for entry in found))
    times = {(e["columns"], e["storage"], e["who"], e["isa"]): e["times"] for e in found}
    cases = list(dict.fromkeys((e["columns"], e["storage"]) for e in found))
    heads = " | ".join(f"{isa} | its limit | share of it" for isa in isas)
    lines = [f"| d | storage | pass | {heads} |", "|---:|---|---|" + "---:|---:|---:|" * len(isas)]
    for columns, storage in cases:
        for name in times[columns, storage, "pydpmc", isas[0]]:
            cells = []
            for isa in isas:
                ours = times[columns, storage, "pydpmc", isa][name]
                limit = times[columns, storage, "limit", isa].get(name)
                cells += [f"{ours:.2f}", f"{limit:.2f}", f"{limit / ours:.2f}"] if limit else [f"{ours:.2f}", "", ""]
            lines.append(f"| {columns} | {storage} | {name} | {' | '.join(cells)} |")
    peers = list(dict.fromkeys(e["who"] for e in found if e["who"] not in ("pydpmc", "limit")))
    heads = " | ".join(f"held to {isa} | times pydpmc's | times the limit" for isa in isas)
    lines += ["", f"| d | storage | pass | peer | {heads} |", "|---:|---|---|---|" + "---:|---:|---:|" * len(isas)]
    for (columns, storage), peer in itertools.product(cases, peers):
        for name in times.get((columns, storage, peer, isas[0]), ()):
            if name not in times[columns, storage, "pydpmc", isas[0]]:  # gradients of long rows have no pass by columns
                continue
            cells = []
            for isa in isas:
                theirs, ours, limit = (times[columns, storage, who, isa][name] for who in (peer, "pydpmc", "limit"))
                cells += [f"{theirs:.2f}", f"{theirs / ours:.1f}", f"{theirs / limit:.1f}"]
            lines.append(f"| {columns} | {storage} | {name} | {peer} | {' | '.join(cells)} |")
    return "\n".join(lines if peers else lines[:-3])


def peer_times(columns, storage, isa, arguments):
    """Return {peer: {pass: ns per record}} with vectors as wide as those of the kernels, shortest of some processes."""
    script, repeats = str(HERE / "peers" / "pass_peers.py"), str(10 * arguments.repeats)
    command = [sys.executable, script, str(columns), repeats, storage]
    processes = min(2, arguments.rounds - 1)
    rounds = [json.loads(subprocess.check_output(command, env=held_to(isa))) for _ in range(processes)]
    return {name: merged([times[name] for times in rounds]) for name in rounds[0]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", nargs="*", type=int, default=list(COLUMNS))
    parser.add_argument("--storage", nargs="*", default=list(STORAGES))
    parser.add_argument("--isa", nargs="*", default=[isa for isa in _core.available_isas() if isa != "baseline"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--peers", action="store_true", help="numba, JAX, scikit-learn and nutpie too")
    parser.add_argument("--json", type=Path, help="write the figures to a file instead of tables")
    given = parser.parse_args()
    figures = measure(given)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    else:
        print(
            f"load {os.getloadavg()[0]:.0f}; {_core.isa()} is chosen; ns per record, `chains`: per record and chain\n"
        )
        print(page(figures))
