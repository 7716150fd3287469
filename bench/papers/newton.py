"""Newton on Abalone and Adult, settings from the planner alone, as a row of docs/papers/wang2015.md.

    python newton.py --runs 10 [--data abalone adult] [--adjacency replace add_remove]

The prior is Normal(scale=10) on Abalone and Normal(scale=1.8) on Adult. Accuracy of the posterior's mean on the records
that were held out: mean, standard error over runs.
"""

from __future__ import annotations

import argparse

import numpy as np
import uci
from wang2015 import DELTA, EPSILONS, split_of

import pydpmc as dp

SCALES = {"abalone": 10.0, "adult": 1.8}


def accuracy(split: uci.Split, scale: float, epsilon: float, adjacency: str) -> float:
    """Return the share of held out records on the right side of the posterior's mean."""
    data = dp.Data(split.x, split.y, row_norm=1.0, storage="float32", public_n=len(split.y))
    model = dp.LogisticRegression(prior=dp.Normal(scale=scale))
    post = dp.sample(model, data, dp.Newton(), epsilon=epsilon, delta=DELTA, adjacency=adjacency, progress=False)
    theta = post.draws["beta"].mean(axis=(0, 1))
    return float(((split.held_out @ theta > 0) == split.truth).mean())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--data", nargs="+", default=list(SCALES), choices=list(SCALES))
    parser.add_argument("--adjacency", nargs="+", default=["replace"], choices=["replace", "add_remove"])
    options = parser.parse_args()
    print("| Newton | " + " | ".join(f"{epsilon:g}" for epsilon in EPSILONS) + " |")
    print("|---" * (len(EPSILONS) + 1) + "|")
    for name in options.data:
        for adjacency in options.adjacency:
            cells = []
            for epsilon in EPSILONS:
                found = [accuracy(split_of(name, k), SCALES[name], epsilon, adjacency) for k in range(options.runs)]
                cells.append(f"{np.mean(found):.4f} ± {np.std(found, ddof=1) / len(found) ** 0.5:.4f}")
            print(f"| {name}, {adjacency} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
