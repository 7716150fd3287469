"""Measure what a Dask cluster on this machine costs and gains.

python cluster.py [--json FILE] [--only overhead speedup]

overhead  milliseconds of a step, of which the work is next to nothing: d = 100, two workers with TLS
speedup   a pass over 1e7 records x 10 columns by one thread, by two threads of one process, and by two workers of one
          thread each, in turn
"""

import argparse
import json
import logging
import os
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import pydpmc as dp

HERE = Path(__file__).resolve().parent
ROUNDS, STEPS = 15, 400


def schema(columns):
    names = {f"x{j}": dp.Number(-1, 1) for j in range(columns)}
    return dp.Schema({**names, "y": dp.Binary()}, target="y", missing="drop")


def write(folder, rows, columns, piece=2**18):
    """Write a Parquet file of random records."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    pool = rng.uniform(-1, 1, size=2**22).astype(np.float32)
    names = [*(f"x{j}" for j in range(columns)), "y"]
    kinds = pa.schema([*((name, pa.float32()) for name in names[:-1]), ("y", pa.int8())])
    with pq.ParquetWriter(folder / "rows.parquet", kinds, compression="none", use_dictionary=False) as writer:
        for start in range(0, rows, piece):
            count = min(piece, rows - start)
            x = [pool[k : k + count] for k in rng.integers(0, len(pool) - piece, columns)]
            writer.write_table(pa.table([*x, (x[0] > 0).astype(np.int8)], schema=kinds))
    return folder / "rows.parquet"


def started(workers):
    from distributed import Client, LocalCluster, Security

    options = {"dashboard_address": None, "silence_logs": logging.ERROR, "threads_per_worker": 1}
    cluster = LocalCluster(n_workers=workers, security=Security.temporary(), **options)
    return cluster, Client(cluster)


def planned(data, steps):
    sampler = dp.SGLD(steps=steps, sampling="full")
    return dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-10)


def step_times(data, steps, threads):
    """Return the seconds of each step: what is asked of the records, and answered."""
    from pydpmc.running.shards import core

    true, times = core.StepRun.advance, []

    def advance(self, count, threads, block):
        for _ in range(count):
            before = time.perf_counter()
            true(self, 1, threads, block)
            times.append(time.perf_counter() - before)

    core.StepRun.advance = advance
    try:
        planned(data, steps).run(data, progress=False, anyway=True, threads=threads)
    finally:
        core.StepRun.advance = true
    return np.array(times)


def overhead(client, folder):
    path, facts = write(folder, 2000, 100), schema(100)
    there = dp.Data.from_parquet(path, facts, client=client, cells=2)
    here = dp.Data.from_parquet(path, facts, progress=False).in_cells(2)
    found = {}
    for name, data in (("two workers", there), ("two cells in one process", here)):
        times = 1e3 * step_times(data, STEPS, 1)[20:]
        found[name] = {"median ms": float(np.median(times)), "p05 ms": float(np.quantile(times, 0.05))}
    found["engine, median ms"] = found["two workers"]["median ms"] - found["two cells in one process"]["median ms"]
    return found


def speedup(client, folder):
    path, facts = write(folder, 10**7, 10), schema(10)
    there = dp.Data.from_parquet(path, facts, client=client, cells=2, storage="float32")
    here = dp.Data.from_parquet(path, facts, progress=False, storage="float32")
    ways = {"one thread": (here, 1), "two threads": (here, 2), "two workers": (there, 1)}
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, (data, threads) in ways.items():
            times[name].append(pass_seconds(data, threads))

    def ratio(above, below):
        """Return the median over rounds, because whoever else uses the machine disturbs a round as a whole."""
        return float(np.median(np.array(times[above]) / np.array(times[below])))

    return {
        "seconds a pass": times,
        "gain of two threads": ratio("one thread", "two threads"),
        "gain of two workers": ratio("one thread", "two workers"),
        "workers over threads": ratio("two threads", "two workers"),
    }


def pass_seconds(data, threads, steps=10):
    """Return the mean seconds of a pass, without those of the start of a run."""
    times = []
    for count in (1, steps + 1):
        plan = planned(data, count)
        before = time.perf_counter()
        plan.run(data, progress=False, anyway=True, threads=threads)
        times.append(time.perf_counter() - before)
    return (times[1] - times[0]) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--json", type=Path, default=HERE / "cluster.json")
    parser.add_argument("--only", nargs="+", choices=("overhead", "speedup"), default=("overhead", "speedup"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cluster, client = started(2)
    with cluster, client, tempfile.TemporaryDirectory() as folder:
        for stage in options.only:
            found = json.loads(options.json.read_text()) if options.json.exists() else {}
            found[stage] = globals()[stage](client, Path(folder))
            found["load"] = {**found.get("load", {}), stage: os.getloadavg()}
            options.json.write_text(json.dumps(found, indent=1) + "\n")
            print(stage, json.dumps(found[stage], indent=1), flush=True)


if __name__ == "__main__":
    main()
