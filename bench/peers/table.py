"""Compare pydpmc with its peers and the limit kernels, on one core each: tables in Markdown, figures in JSON.

python table.py [--quick] [--only W1 W2 ...] [--json FILE] [--anchors DIR]
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import peer_cases  # noqa: E402
from benchmarks import batches  # noqa: E402
from clock import available, one_core, rates, ratio  # noqa: E402
from limit_kernels import BarkerLimit, find_anchors, sgld_limit  # noqa: E402

SECTIONS = ("W1", "W2", "W3", "categories", "W4", "indices", "W1-full", "threads")


def shown(rate):
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def heading(title, *columns):
    print(f"\n### {title}\n\n| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")


def on_one_core(title, unit, makers, rounds):
    """Time each case on one core; print its best rate, its ratio to the limit kernel's, and pydpmc's ratio to it."""
    with one_core():
        found = rates(available(makers), rounds)
    limit = next(iter(found.values()))
    ours = [name for name in found if name.startswith("pydpmc")]
    heading(title, unit, "of the limit kernel", *(f"{name} / this" for name in ours))
    for name, taken in found.items():
        times = (ratio(found[own], taken) for own in ours)
        cells = (shown(max(taken)), f"{ratio(taken, limit):.3g}", *(f"{value:.3g}" for value in times))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return found


def indices():
    heading("Indices of a batch, in increasing order", "ns each, Poisson", "ns each, b of n")
    found = {}
    with one_core():
        for shape in batches.Indices.params[0]:
            for sampling in batches.Indices.params[1]:
                bench = batches.Indices()
                bench.setup(shape, sampling)
                found[f"{shape} {sampling}"] = bench.track_nanoseconds(shape, sampling)
            cells = " | ".join(f"{found[f'{shape} {sampling}']:.2f}" for sampling in batches.Indices.params[1])
            print(f"| n = {shape[0]:,}, b = {shape[1]:,} | {cells} |", flush=True)
    return found


def full_pass(barker, rounds):
    """W1-full: bytes that a step moves per second of wall-clock time, and the rate of a sequential read of as many."""
    found = {}
    for threads in (1, 2):
        run, steps, size = peer_cases.w1_full(threads)
        run()
        read, ours = [], []
        for _ in range(rounds):
            read.append(barker.bandwidth(size, threads) / 1e9)
            started = time.perf_counter()
            run()
            ours.append(steps * size / (time.perf_counter() - started) / 1e9)
        found[f"sequential read, {threads} thread(s)"] = read, read
        found[f"pydpmc, {threads} thread(s)"] = ours, read
    heading(f"W1-full, N = 1e6, d = 10: {size / 1e6:.0f} MB a step", "GB/s", "of a sequential read")
    for name, (taken, read) in found.items():
        print(f"| {name} | {shown(max(taken))} | {ratio(taken, read):.3g} |", flush=True)
    return found


def two_threads(barker, rounds):
    heading("Two threads", "steps/s on two threads", "of one thread", "of two processes")
    found = {}
    for name, cases in peer_cases.scaling_cases(barker).items():
        found[name] = taken = rates(available(cases), rounds, time.perf_counter)
        beside = f"{ratio(taken['2'], taken['processes']):.3g}" if "processes" in taken else ""
        print(f"| {name} | {shown(max(taken['2']))} | {ratio(taken['2'], taken['1']):.3g} | {beside} |", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the steps")
    parser.add_argument("--only", nargs="*", default=SECTIONS, choices=SECTIONS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--anchors")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]  # the anchors read it too
    anchors = find_anchors(options.anchors)
    share = 0.2 if options.quick else 1.0
    found, barker, limit = {}, BarkerLimit(), sgld_limit(anchors)
    if "W1" in options.only:
        makers = peer_cases.w1(anchors, barker, share)
        found["W1"] = on_one_core("W1: minibatch Barker, N = 1e6, b = 1000", "steps/s", makers, options.rounds)
    for workload in ("W2", "W3"):
        for bits in ("64", "32") if workload in options.only else ():
            makers = peer_cases.sgld(workload, bits, anchors, limit, share)
            title = f"{workload}: SGLD, {peer_cases.SHAPES[workload]}, limit kernel and peers in float{bits}"
            found[f"{workload} float{bits}"] = on_one_core(title, "steps/s", makers, options.rounds)
    for workload in ("W2", "W3") if "categories" in options.only else ():
        makers = peer_cases.categories(workload, anchors, limit, share)
        numbers, levels = peer_cases.gradients.CATEGORIES[workload]
        shape = f"{peer_cases.SHAPES[workload]} or one less: {numbers} numbers and {len(levels)} categories"
        found[f"{workload} categories"] = on_one_core(f"Categories, {shape}", "steps/s", makers, options.rounds)
    if "W4" in options.only:
        found["W4"] = on_one_core("W4: normals", "million/s", peer_cases.w4(barker), 8 * options.rounds)
    if "indices" in options.only:
        found["indices"] = indices()
    if "W1-full" in options.only:
        found["W1-full"] = full_pass(barker, options.rounds)
    if "threads" in options.only:
        found["threads"] = two_threads(barker, 6 * options.rounds)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
