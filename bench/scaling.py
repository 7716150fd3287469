"""Measure and plot steps per second against N, d, b, threads and storage, with the bandwidth bound.

python scaling.py out.png [--quick] [--json FILE]; without matplotlib the figures are printed only.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

from benchmarks import common, gradients  # noqa: E402
from limit_kernels import BarkerLimit  # noqa: E402

import pydpmc as dp  # noqa: E402

SWEEPS = {
    "N": ("records N (d = 109, b = 256)", [1000, 4000, 16_000, 64_000, 256_000]),
    "d": ("columns d (N = 2e7 / d, b = 256)", [8, 16, 32, 64, 128, 256, 512, 1024]),
    "b": ("batch b (N = 1e5, d = 109)", [16, 64, 256, 1024, 4096, 16_384]),
    "T": ("steps T of a run (N = 32561, d = 109, b = 256)", [100, 1000, 10_000, 100_000]),
    "full N": ("records N of W1-full (d = 10)", [3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]),
}
MOST_RECORDS = 400_000


def shape(sweep, value):
    """Return (N, d, b)."""
    if sweep == "N":
        return value, 109, 256
    if sweep == "d":
        return min(MOST_RECORDS, 20_000_000 // value), value, 256
    return (32_561, 109, 256) if sweep == "T" else (100_000, 109, value)


def best_rate(run, steps, seconds):
    """Return the best steps per second of wall-clock of a few runs that fill so many seconds."""
    run()
    best, until = 0.0, time.perf_counter() + seconds
    while best == 0.0 or time.perf_counter() < until:
        started = time.perf_counter()
        run()
        best = max(best, steps / (time.perf_counter() - started))
    return best


def sgld_rate(sweep, value, storage, threads, seconds):
    """Return steps per second of all chains, and the bytes that a step reads."""
    n, columns, batch = shape(sweep, value)
    data = gradients.logistic_data(n, columns, storage)
    steps = value if sweep == "T" else max(20, int(2e7 / (batch * columns)))
    sampler = dp.SGLD(steps=steps, step_size=1e-5, batch_size=batch, clip=1.0)
    plan = dp.plan(dp.LogisticRegression(), data.public, sampler, chains=threads)
    rate = best_rate(
        lambda: plan.run(data, draws=2, threads=threads, progress=False, anyway=True), steps * threads, seconds
    )
    return rate, batch * data._rows.strides[0], data._rows.nbytes


def full_rate(value, storage, threads, seconds):
    data = common.logistic_data(value, storage)
    steps = max(20, int(3e6 / value))
    plan = common.w1_full_plan(data.public, steps)
    rate = best_rate(lambda: plan.run(data, draws=2, threads=threads, progress=False, anyway=True), steps, seconds)
    return rate, data._rows.nbytes + 16 * value, data._rows.nbytes + 16 * value


def measured(seconds):
    """Return {sweep: {label: [(value, steps/s, bound)]}}."""
    read, found = BarkerLimit(), {}
    lines = [("float64", 1), ("float64", 2), ("float32", 1), ("fixed16", 1)]
    for sweep, (_, values) in SWEEPS.items():
        found[sweep] = {}
        for storage, threads in lines:
            points = []
            for value in values:
                if sweep == "full N":
                    rate, moved, size = full_rate(value, storage, threads, seconds)
                else:
                    rate, moved, size = sgld_rate(sweep, value, storage, threads, seconds)
                points.append((value, rate, read.bandwidth(max(size, 1 << 20), threads) / moved))
            found[sweep][f"{storage}, {threads} thread(s)"] = points
            print(sweep, storage, threads, " ".join(f"{v}: {r:,.0f}/{b:,.0f}" for v, r, b in points), flush=True)
    return found


def growth(found):
    """Return rows (sweep, line, exponent of the cost of a step, or of a run for T, over the last two points)."""
    rows = []
    for sweep, lines in found.items():
        for label, points in lines.items():
            (start, slow, _), (end, fast, _) = points[-2:]
            exponent = math.log(slow / fast) / math.log(end / start) + (sweep == "T")
            rows.append((sweep, label, exponent))
    return rows


def cache_sizes():
    """Return the sizes in bytes of the second and third level, as the system reports them."""
    files = [Path(f"/sys/devices/system/cpu/cpu0/cache/index{k}/size") for k in (2, 3)]
    return [1024 * int(file.read_text().strip().removesuffix("K")) for file in files if file.exists()]


def mark_caches(axis, row_bytes):
    """Mark where a table with rows of so many bytes exceeds a cache."""
    for colour, size in row_bytes.items():
        for cache in cache_sizes():
            axis.axvline(cache / size, color=colour, linewidth=0.7, linestyle="--", alpha=0.6)


def draw(found, path):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(15, 8))
    for axis, (sweep, lines) in zip(axes.flat, found.items(), strict=False):
        for (label, points), colour in zip(lines.items(), ("C0", "C1", "C2", "C3"), strict=True):
            values, rates, bounds = zip(*points, strict=True)
            axis.loglog(values, rates, "o-", color=colour, label=label, markersize=4)
            axis.loglog(values, bounds, ":", color=colour, linewidth=1)
        if sweep == "N":
            mark_caches(axis, {"C0": 896, "C2": 448, "C3": 256})
        axis.set_xlabel(SWEEPS[sweep][0])
        axis.set_ylabel("steps/s, all chains")
        axis.grid(alpha=0.3)
    axes.flat[-1].axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[-1].legend(
        handles,
        labels,
        title="dotted: sequential read of as many bytes\ndashed: table as large as a cache (2nd, 3rd level)",
        loc="center",
    )
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("plot", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    found = measured(0.05 if options.quick else 0.25)
    if options.json:
        options.json.write_text(json.dumps({"points": found, "growth": growth(found)}, indent=1))
    try:
        draw(found, options.plot)
    except ImportError:
        print("matplotlib is not installed: no plot")


if __name__ == "__main__":
    main()
