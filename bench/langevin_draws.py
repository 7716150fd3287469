"""Print the time of ``Langevin(draws=20)`` on a table of the shape of Adult, and its passes for a given bias.

The planner chooses w, the step size and the number of passes for the budget. Rows are kept as codes, or multiplied out.
Times are processor seconds of the whole call `plan.run`, on so many threads. See README.md.
"""

import argparse
import time
import warnings

import numpy as np

import pydpmc as dp
from pydpmc import _core

N, NUMBERS, BLOCKS, LEVELS = 32_561, 6, 8, 12  # 102 columns
DRAWS, DELTA = 20, 1e-5


def table(coded):
    random = np.random.default_rng(8)
    codes = random.integers(0, LEVELS, (N, BLOCKS))
    hot = [codes[:, [b]] == np.arange(LEVELS) for b in range(BLOCKS)]
    x = np.concatenate([random.uniform(-1.0, 1.0, (N, NUMBERS)), *hot], axis=1)
    y = (random.random(N) < 1.0 / (1.0 + np.exp(1.0 - x[:, 0] - codes[:, 0] / LEVELS))).astype(float)
    blocks = [list(range(NUMBERS + b * LEVELS, NUMBERS + (b + 1) * LEVELS)) for b in range(BLOCKS)]
    return dp.Data(x, y, row_norm=1.0, **({"one_hot": blocks} if coded else {}))


def plan_of(data, epsilon, bias=0.1):
    return dp.plan(
        dp.LogisticRegression(), data.public, dp.Langevin(draws=DRAWS, bias=bias), epsilon=epsilon, delta=DELTA
    )


def seconds(plan, data, threads):
    """Return wall-clock and processor seconds of one run."""
    wall, processor = time.perf_counter(), time.process_time()
    plan.run(data, threads=threads, progress=False)
    return time.perf_counter() - wall, time.process_time() - processor


def main(arguments):
    warnings.simplefilter("ignore")
    print(f"{DRAWS} draws, N = {N}, {NUMBERS + BLOCKS * LEVELS} columns, delta = {DELTA:g}, {_core.isa()}\n")
    print("| epsilon | rows | threads | passes | seconds | processor seconds |\n|---:|---|---:|---:|---:|---:|")
    tables = {name: table(name == "codes") for name in arguments.rows}
    for epsilon in arguments.epsilon:
        for name, data in tables.items():
            plan = plan_of(data, epsilon)
            data.row_squares()
            for threads in arguments.threads:
                wall, processor = seconds(plan, data, threads)
                steps = plan.settings.steps
                print(f"| {epsilon:g} | {name} | {threads} | {steps} | {wall:.2f} | {processor:.2f} |", flush=True)
    print("\n| bias | " + " | ".join(f"passes at epsilon {e:g}" for e in arguments.epsilon) + " |")
    print("|---:|" + "---:|" * len(arguments.epsilon))
    data = next(iter(tables.values()))
    for bias in (0.3, 0.1, 0.03, 0.01):
        steps = [f"{plan_of(data, epsilon, bias).settings.steps}" for epsilon in arguments.epsilon]
        print(f"| {bias:g} | " + " | ".join(steps) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", nargs="*", type=float, default=[1.0, 10.0])
    parser.add_argument("--rows", nargs="*", default=["codes", "numbers"])
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    main(parser.parse_args())
