"""The section of docs/benchmarks.md on large tables and clusters, from figures that were kept.

The figures take minutes and gigabytes: `large_table.py` and `cluster.py` write them, and report.py only shows them.
"""

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent


def section():
    """Return the text, of whatever was measured."""
    large, cluster = (_read(name) for name in ("large_table.json", "cluster.json"))
    rows = [*_large(large), *_cluster(cluster)]
    head = "| what | asked | measured |\n|---|---|---|"
    return "\n".join([head, *(f"| {what} | {asked} | {found} |" for what, asked, found in rows)])


def _read(name):
    path = HERE / name
    return json.loads(path.read_text()) if path.exists() else {}


def _large(found):
    if "pack" in found:
        pack = found["pack"]
        size = f"{pack['rows']:.0e} rows x 10 columns, `float32`, {pack['bytes'] / 1e9:.1f} GB"
        yield f"packing {size}: peak of anonymous memory", "300 MB", f"{pack['peak MB']:.0f} MB"
        yield "packing: processor time a row", "", f"{pack['CPU us per row']:.2f} us"
    if "run" in found:
        for name, run in found["run"].items():
            planning = run.get("after planning MB", 0.0)
            note = f" ({planning:.0f} MB of it are the accountant's, from planning)" if planning > 200 else ""
            yield f"{name}: peak of anonymous memory", "300 MB", f"{run['peak MB']:.0f} MB{note}"
    for threads, rate in found.get("rate", {}).items():
        ratio = rate["rate of the file over that of memory"]
        yield (
            f"rate of a pass over the mapped file, in the page cache, over one in memory, {threads}",
            "0.8",
            f"{ratio:.2f}",
        )
    if "limited" in found:
        limited = found["limited"]
        memory = f"{limited['limit, bytes'] / 1e9:.1f} GB for all memory and page cache"
        told = f"ends; {limited['read from the disk, bytes'] / 1e9:.1f} GB read at {limited['MB/s']:,.0f} MB/s"
        yield f"the same file in a cgroup with {memory}: four passes", "ends", told


def _cluster(found):
    if "overhead" in found:
        engine = found["overhead"]["engine, median ms"]
        yield "engine of a Dask step, d = 100, two local workers with TLS (median)", "5 ms", f"{engine:.1f} ms"
    if "speedup" in found:
        gain = found["speedup"]
        yield "pass over 1e7 x 10: gain of two threads over one", "", f"{gain['gain of two threads']:.2f}"
        yield "the same: gain of two workers of one thread", "", f"{gain['gain of two workers']:.2f}"
        yield "the same: workers over threads (median of paired rounds)", "0.85", f"{gain['workers over threads']:.2f}"


if __name__ == "__main__":
    print(section())
