"""Pack and use a table larger than memory should hold: 1e8 rows x 10 columns, made on the spot.

python large_table.py FOLDER [--rows N] [--json FILE] [--only pack run rate limited]

pack      makes the records batch by batch and packs them; prints the peak of anonymous memory and CPU time per row
run       runs five samplers on the mapped file within the same bound
rate      a full pass over the mapped file, in the page cache, against one over the same rows in memory
limited   a run of a few steps in a cgroup whose memory is smaller than the file, so that every pass reads the disk
Each stage is a process of its own, and writes its figures when it ends; those of other stages are kept.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "helpers")]

from peak_memory import Peak, anonymous  # noqa: E402

import pydpmc as dp  # noqa: E402

COLUMNS, BATCH, PASSES = 10, 2**15, 4
NAMES = [f"x{j}" for j in range(COLUMNS)]
STAGES = ("pack", "run", "rate", "limited")
LIMIT = 0.4  # of the file's size


def schema():
    columns = {**{name: dp.Number(-1, 1) for name in NAMES}, "y": dp.Binary()}
    return dp.Schema(columns, target="y", missing="drop")


def batches(rows):
    """Yield Arrow batches: slices of a few million random numbers, which cost little to make."""
    import pyarrow as pa

    rng = np.random.default_rng(1)
    pool = rng.uniform(-1, 1, size=2**21).astype(np.float32)
    for start in range(0, rows, BATCH):
        count = min(BATCH, rows - start)
        x = [pool[k : k + count] for k in rng.integers(0, len(pool) - BATCH, COLUMNS)]
        y = (x[0] > rng.uniform(-1, 1, count).astype(np.float32)).astype(np.int8)
        yield pa.record_batch([*x, y], names=[*NAMES, "y"])


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def pack(path, rows):
    path.unlink(missing_ok=True)
    started, before = time.perf_counter(), cpu()
    with Peak() as peak:
        data = dp.Data.from_batches(batches(rows), schema(), cache=path, storage="float32", progress="rows")
    return {
        "rows": len(data),
        "bytes": path.stat().st_size,
        "peak MB": peak.largest,
        "seconds": time.perf_counter() - started,
        "CPU us per row": 1e6 * (cpu() - before) / rows,
    }


def planned(data, sampler):
    return dp.plan(dp.LogisticRegression(), data.public, sampler, epsilon=1.0, delta=1e-10)


def run(path, rows):
    found = {}
    started = time.perf_counter()
    with Peak() as peak:
        data = dp.Data.from_cache(path)
    found["opening"] = {"peak MB": peak.largest, "seconds": time.perf_counter() - started}
    samplers = {
        "Newton": dp.Newton(),
        "Langevin, 3 steps": dp.Langevin(draws=1, steps=3),
        "Barker, 3 steps": dp.Barker(steps=3),
        "SGLD, 3 steps on all records": dp.SGLD(steps=3, sampling="full"),
        "SGLD, 50 steps on Poisson samples": dp.SGLD(steps=50, sampling="poisson", batch_size=2000),
    }
    for name, sampler in samplers.items():
        plan = planned(data, sampler)
        started, after = time.perf_counter(), anonymous()
        with Peak() as peak:
            plan.run(data, progress=False, anyway=True)
        seconds = time.perf_counter() - started
        found[name] = {"after planning MB": after, "peak MB": peak.largest, "seconds": seconds}
    return found


def mapped_without_reading(path):
    """Return the records of a file that this script has just written: `from_cache` would read it all first."""
    from pydpmc.data.packed.layout import read_header
    from pydpmc.data.packed.opening import Mapping, data_of

    with path.open("rb") as file:
        header, _, digest, _ = read_header(file, path)
        return data_of(Mapping(file, header, digest.hex()))


def seconds_a_pass(data, threads, steps=4):
    """Return wall-clock seconds of a step of one chain on all records, without those of the start of a run."""
    found = []
    for count in (1, 1 + steps):
        plan = planned(data, dp.SGLD(steps=count, sampling="full"))
        started = time.perf_counter()
        plan.run(data, progress=False, anyway=True, threads=threads)
        found.append(time.perf_counter() - started)
    return (found[1] - found[0]) / steps


def rate(path, rows):
    """Return the passes in turn, first of the file, then of memory."""
    mapped = mapped_without_reading(path)
    memory = object.__new__(dp.Data)
    memory.__dict__.update(mapped.__dict__)
    memory._rows = np.empty_like(mapped._rows)
    memory._rows[:] = mapped._rows  # which brings the file into the page cache too
    memory._squares, memory._mapping = mapped.row_squares().copy(), None
    found = {}
    for threads in (1, 2):
        times = {"mapped": [], "memory": []}
        for _ in range(PASSES):
            for name, data in (("mapped", mapped), ("memory", memory)):
                times[name].append(seconds_a_pass(data, threads))
        ratio = float(np.median(np.array(times["memory"]) / np.array(times["mapped"])))
        found[f"{threads} thread(s)"] = {**times, "rate of the file over that of memory": ratio}
    return found


def limited(path, rows):
    """Return passes in a cgroup of this process's own; it is removed when this process has ended."""
    size = path.stat().st_size
    group = own_group("pydpmc-large-table")
    (group / "memory.limit_in_bytes").write_text(str(int(LIMIT * size)))
    (group / "cgroup.procs").write_text(str(os.getpid()))
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # pages of others would not count as ours
    data = mapped_without_reading(path)
    before = disk_bytes()
    with Peak() as peak:
        started = time.perf_counter()
        planned(data, dp.SGLD(steps=PASSES, sampling="full")).run(data, progress=False, anyway=True, threads=1)
        seconds = time.perf_counter() - started
    read = disk_bytes() - before
    return {
        "limit, bytes": int(LIMIT * size),
        "most memory, bytes": int((group / "memory.max_usage_in_bytes").read_text()),
        "peak MB": peak.largest,
        "seconds of a run": seconds,
        "read from the disk, bytes": read,
        "MB/s": read / seconds / 2**20,
    }


def disk_bytes():
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().strip().split("\n"))
    return int(lines["read_bytes"])


def own_group(name):
    """Return a new memory cgroup (version 1) below this process's own; root may make one."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().strip().split("\n")]
    own = next((path for _, kinds, path in lines if kinds == "memory"), None)
    if own is None:
        raise SystemExit("limited: there is no memory controller of cgroups version 1 here")
    group = Path("/sys/fs/cgroup/memory" + own) / name
    group.mkdir(exist_ok=True)
    return group


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--json", type=Path, default=HERE / "large_table.json")
    parser.add_argument("--only", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--here", action="store_true", help="run the stage in this process")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for stage in options.only:
        if not options.here:
            again = [sys.executable, __file__, str(options.folder), "--rows", str(options.rows), "--here"]
            subprocess.run([*again, "--json", str(options.json), "--only", stage], check=True)
            if stage == "limited":
                own_group("pydpmc-large-table").rmdir()
            continue
        found = json.loads(options.json.read_text()) if options.json.exists() else {}
        found[stage] = globals()[stage](options.folder / "large.dpmc", options.rows)
        found["load"] = {**found.get("load", {}), stage: os.getloadavg()}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
        print(stage, json.dumps(found[stage], indent=1), flush=True)


if __name__ == "__main__":
    main()
