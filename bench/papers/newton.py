"""Newton on Abalone and Adult, settings from the planner alone, as rows of docs/papers/wang2015.md.

python newton.py [--runs 10] [--data abalone adult] [--adjacency replace add_remove]   runs what newton.json lacks
python newton.py --quick                                                              one run on Abalone
python newton.py --known [--runs 20] --data abalone                                   the most that can be asked for
python newton.py --table                                                              prints what is kept

The prior is Normal(scale=10) on Abalone and Normal(scale=1.8) on Adult. Accuracy of the posterior's mean on the records
that were held out: mean, standard error over runs. A run on Adult takes seconds. With `--known` the curvature is known
without noise and the whole budget is spent on one look at the optimum, which no private method can do: the best that
the posterior's mean under this prior can be, as far as the posterior is normal.
"""

from __future__ import annotations

import argparse

import erm
import numpy as np
import uci
from results import Found, Results, command, markdown, mean_and_error
from scipy.special import expit
from wang2015 import DELTA, EPSILONS, split_of

import pydpmc as dp
from pydpmc.accounting.events.gaussian import largest_mu

SCALES = {"abalone": 10.0, "adult": 1.8}
ADJACENCIES = ("replace", "add_remove")


def accuracy(split: uci.Split, scale: float, epsilon: float, adjacency: str) -> float:
    """Return the share of held out records on the right side of the posterior's mean."""
    data = dp.Data(split.x, split.y, row_norm=1.0, storage="float32", public_n=len(split.y))
    model = dp.LogisticRegression(prior=dp.Normal(scale=scale))
    budget = {"epsilon": epsilon, "delta": DELTA, "adjacency": adjacency}
    post = dp.sample(model, data, dp.Newton(), progress=False, anyway=True, **budget)
    theta = post.draws["beta"].mean(axis=(0, 1))
    return float(((split.held_out @ theta > 0) == split.truth).mean())


def best_accuracy(split: uci.Split, scale: float, epsilon: float, adjacency: str, run: int) -> float:
    """Return the same for one look at the optimum, with the curvature known: not private."""
    rng, dim = np.random.default_rng([run, 11]), split.x.shape[1]
    sigma = (2.0 if adjacency == "replace" else 1.0) / largest_mu(epsilon, DELTA)
    best = erm.minimiser(split.x, split.y, scale**-2.0)
    p = expit(split.x @ best)
    curvature = (split.x.T * (p * (1.0 - p))) @ split.x
    gain = curvature @ np.linalg.inv(curvature + sigma**2 * np.eye(dim))
    measured = split.x.T @ (split.y - p) + curvature @ best + sigma * rng.normal(size=dim)
    theta = np.linalg.solve(gain @ curvature + scale**-2.0 * np.eye(dim), gain @ measured)
    return float(((split.held_out @ theta > 0) == split.truth).mean())


def measure(kept: Results, options: argparse.Namespace) -> None:
    if options.quick:
        options.data, options.runs = ["abalone"], 1
    for name in options.data:
        for adjacency in options.adjacency:
            for epsilon in EPSILONS:
                row = f"{name}, {adjacency}" + (", curvature known" if options.known else "")
                cell = kept.found.setdefault(row, {}).setdefault(str(epsilon), [])

                def run(k: int, name: str = name, adjacency: str = adjacency, epsilon: float = epsilon) -> float:
                    split = split_of(name, k)
                    if options.known:
                        return best_accuracy(split, SCALES[name], epsilon, adjacency, k)
                    return accuracy(split, SCALES[name], epsilon, adjacency)

                kept.repeat(cell, options.runs, run, f"{row}, epsilon {epsilon:g}")


def tables(found: Found) -> list[str]:
    rows = []
    for name, cells in found.items():
        counts = sorted({len(cell) for cell in cells.values()})
        shown = [mean_and_error(cells.get(str(e), []), 4) if cells.get(str(e)) else "" for e in EPSILONS]
        rows.append([name, *shown, ", ".join(map(str, counts))])
    return markdown(["Newton", *(f"{e:g}" for e in EPSILONS), "runs"], rows)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--known", action="store_true", help="the curvature without noise, all looks at the optimum")
    parser.add_argument("--data", nargs="+", default=list(SCALES), choices=list(SCALES))
    parser.add_argument("--adjacency", nargs="+", default=list(ADJACENCIES), choices=ADJACENCIES)


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables, arguments=arguments)
