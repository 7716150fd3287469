"""Repeat figure 2 of Wang, Fienberg and Smola (2015) on Abalone, Adult and two normals, and add pydpmc's samplers.

python wang2015.py [--runs 10] [--data abalone ...] [--methods ...]   runs what wang2015.json lacks
python wang2015.py --quick                                           two runs on the normals at two epsilons, a minute
python wang2015.py --table                                           prints what is kept
python wang2015.py --plot DIRECTORY                                  draws it (matplotlib)

All of it takes hours on two cores, Adult above all; a cell that is kept is not run again unless --again is given.
Test accuracy of logistic regression at (epsilon, 1e-5), one record replaced. Constants that a method leaves to its user
(penalty, radius, prior scale, tempering weight) are picked per epsilon by mean test accuracy, for every method alike.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import erm
import numpy as np
import posterior_sample
import uci
from results import Found, Results, command, markdown, picture

import pydpmc as dp
from pydpmc.accounting.events.gaussian import largest_mu
from pydpmc.samplers.base import Sampler

DELTA = 1e-5
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
STEPS = 20_000  # of SGLD and SGNHT
BIAS = 0.3  # of Langevin, in posterior standard deviations: a third of the steps of the default
OPS_SCALE = 10.0  # of the prior that algorithm 1 raises to rho

Fit = Callable[[uci.Split, float, float, np.random.Generator], np.ndarray]


def private(split: uci.Split, epsilon: float, sampler: Sampler, scale: float) -> np.ndarray:
    """Return the mean of the draws of logistic regression with prior Normal(scale), by a pydpmc sampler."""
    data = dp.Data(split.x, split.y, row_norm=1.0, storage="float32")
    model = dp.LogisticRegression(prior=dp.Normal(scale=scale))
    post = dp.sample(model, data, sampler, epsilon=epsilon, delta=DELTA, progress=False, anyway=True)
    return np.asarray(post.draws["beta"].mean(axis=(0, 1)))


def ops(split: uci.Split, epsilon: float, radius: float, rng: np.random.Generator) -> np.ndarray:
    weight = posterior_sample.ops_weight(epsilon, radius)
    return posterior_sample.ops_draw(split.x, split.y, weight, OPS_SCALE, radius, rng)


def paper_hybrid(split: uci.Split, epsilon: float, radius: float, rng: np.random.Generator) -> np.ndarray:
    start = ops(split, epsilon / 2, radius, rng)
    return posterior_sample.hybrid_sgnht(split.x, split.y, start, epsilon / 2, DELTA, OPS_SCALE, rng)


def hybrid(split: uci.Split, epsilon: float, w: float, rng: np.random.Generator) -> np.ndarray:
    sampler = dp.Hybrid(dp.Langevin(bias=BIAS), dp.SGNHT(w=w, steps=STEPS), share=0.5)
    return private(split, epsilon, sampler, 1.0)


METHODS: dict[str, Fit] = {
    "non-private": lambda s, e, c, rng: erm.minimiser(s.x, s.y, c),
    "output perturbation": lambda s, e, c, rng: erm.output_perturbation(s.x, s.y, e, DELTA, c / e, rng),
    "objective perturbation": lambda s, e, c, rng: erm.objective_perturbation(s.x, s.y, e, DELTA, c / e, rng),
    "objective, pure": lambda s, e, c, rng: erm.objective_perturbation_pure(s.x, s.y, e, c / e, rng),
    "OPS": ops,
    "hybrid + SGNHT": paper_hybrid,
    "pydpmc SGLD": lambda s, e, c, rng: private(s, e, dp.SGLD(w=c, steps=STEPS), 10.0),
    "pydpmc Langevin": lambda s, e, c, rng: private(s, e, dp.Langevin(bias=BIAS), c),
    "pydpmc Hybrid": hybrid,
}
# The candidates for each method's constant: penalty (times epsilon if there is noise), radius, prior scale, or w. For
# Adult, where a fit takes seconds, values that were never best in a first trial of two runs each are left out.
CONSTANTS: dict[str, dict[str, tuple[float, ...]]] = {
    "abalone": {
        "non-private": (0.01, 0.1, 1.0),
        "output perturbation": (1.0, 3.0, 10.0, 30.0),
        "objective perturbation": (0.3, 1.0, 3.0, 10.0),
        "objective, pure": (0.3, 1.0, 3.0, 10.0),
        "OPS": (2.0, 8.0, 16.0),
        "hybrid + SGNHT": (2.0, 8.0, 16.0),
        "pydpmc SGLD": (0.03, 0.1, 0.5),
        "pydpmc Langevin": (1.0, 3.0, 10.0),
        "pydpmc Hybrid": (0.1,),
    },
    "adult": {
        "non-private": (0.1, 1.0),
        "output perturbation": (10.0, 30.0),
        "objective perturbation": (3.0, 10.0),
        "objective, pure": (10.0,),
        "OPS": (8.0,),
        "hybrid + SGNHT": (8.0,),
        "pydpmc SGLD": (0.1, 0.5),
        "pydpmc Langevin": (1.0,),
        "pydpmc Hybrid": (0.1,),
    },
}


CONSTANTS["normals"] = CONSTANTS["abalone"]


def normals(rng: np.random.Generator, n: int = 2000) -> uci.Split:
    """Return figure 2a's task: two normals in the plane, a standard deviation and a half apart, and a constant.

    The paper gives neither size nor distance. Rows are shortened to norm 1.
    """
    y = (rng.random(2 * n) < 0.5).astype(float)
    x = 0.3 * (rng.normal(size=(2 * n, 2)) + np.outer(2 * y - 1, [0.75, 0.0]))
    x = np.column_stack([x, np.full(2 * n, 0.5)])
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    return uci.Split(x[:n], y[:n], x[n:], y[n:])


def split_of(data: str, run: int) -> uci.Split:
    if data == "normals":
        return normals(np.random.default_rng([run, 1]))
    return uci.abalone(np.random.default_rng(run)) if data == "abalone" else uci.adult()


def accuracies(data: str, method: str, epsilon: float, constant: float, runs: int) -> list[float]:
    found = []
    for run in range(runs):
        split = split_of(data, run)
        theta = METHODS[method](split, epsilon, constant, np.random.default_rng([run, 7]))
        found.append(float(((split.held_out @ theta > 0) == split.truth).mean()))
    return found


def measure(kept: Results, options: argparse.Namespace) -> None:
    if options.quick:
        options.data, options.runs, options.epsilons = ["normals"], 2, [0.1, 1.0]
    if not options.quick:
        kept.fill("abalone directions", directions)
    for name in options.data:
        for method in options.methods:
            for epsilon in options.epsilons if method != "non-private" else (1.0,):
                cells = kept.found.setdefault(name, {}).setdefault(method, {})
                if str(epsilon) not in cells or options.again:
                    cells[str(epsilon)] = best_of(name, method, epsilon, options.runs)
                    kept.save()


def directions() -> dict[str, dict[str, list[float]]]:
    """Return, for Abalone without privacy, accuracy and four curvatures by penalty, means over 10 splits."""
    found = {}
    for penalty in (1.0, 0.01):
        accuracies, curvatures = [], []
        for split in (split_of("abalone", run) for run in range(10)):
            theta = erm.minimiser(split.x, split.y, penalty)
            p = 1 / (1 + np.exp(-split.x @ theta))
            accuracies.append(float(((split.held_out @ theta > 0) == split.truth).mean()))
            curvatures.append(np.linalg.eigvalsh((split.x.T * (p * (1 - p))) @ split.x)[::-1][:4])
        found[str(penalty)] = [float(np.mean(accuracies)), *np.mean(curvatures, axis=0).tolist()]
    return {"by penalty": found}


def best_of(name: str, method: str, epsilon: float, runs: int) -> dict[str, Any]:
    """Return the runs with the best of the method's constants."""
    started, candidates = time.perf_counter(), []
    for constant in CONSTANTS[name][method]:
        found = accuracies(name, method, epsilon, constant, runs)
        candidates.append({"constant": constant, "runs": [round(v, 5) for v in found]})
    best = max(candidates, key=lambda c: float(np.mean(c["runs"])))
    spent = time.perf_counter() - started
    print(f"{name}, {method}, epsilon {epsilon:g}: {np.mean(best['runs']):.4f} ({spent:.0f} s)", flush=True)
    return best


def curve(cells: dict[str, dict[str, list[float]]]) -> dict[float, tuple[float, float, int]]:
    """Return mean, standard error and number of runs by epsilon; a method without noise has the same for all."""
    found = {}
    for epsilon in EPSILONS:
        cell = cells.get(str(epsilon)) or (next(iter(cells.values())) if len(cells) == 1 else None)
        if cell is not None:
            runs = np.array(cell["runs"])
            error = float(runs.std(ddof=1)) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
            found[epsilon] = float(runs.mean()), error, len(runs)
    return found


def tables(found: Found) -> list[str]:
    lines = []
    for name, methods in ((name, found[name]) for name in CONSTANTS if name in found):
        rows = []
        for method in (m for m in METHODS if m in methods):
            points = curve(methods[method])
            cells = [f"{points[e][0]:.3f} ± {points[e][1]:.3f}" if e in points else "" for e in EPSILONS]
            rows.append([method, *cells, ", ".join(map(str, sorted({point[2] for point in points.values()})))])
        lines += ["", *markdown([name, *(f"{e:g}" for e in EPSILONS), "runs"], rows)]
    if "abalone directions" in found:
        header = ["Abalone without privacy: penalty", "accuracy", "four largest curvatures"]
        rows = [
            [f"{float(penalty):g}", f"{accuracy:.3f}", ", ".join(f"{v:.3g}" for v in curvatures)]
            for penalty, (accuracy, *curvatures) in found["abalone directions"]["by penalty"].items()
        ]
        lines += ["", *markdown(header, rows)]
    return [*lines, "", *constants()]


def constants(delta: float = DELTA) -> list[str]:
    """Return the constant of a draw's noise over objective perturbation's at the same shrinkage."""

    def ratio(epsilon: float) -> float:
        return 4 / (largest_mu(epsilon, delta) ** 2 * (8 * math.log(2 / delta) + 4 * epsilon) / epsilon**2)

    row = [f"4/(mu s)^2 at delta = {delta:g}", *(f"{ratio(e):.2f}" for e in EPSILONS)]
    return markdown(["epsilon", *(f"{e:g}" for e in EPSILONS)], [row])


def plot(found: Found, directory: Path) -> None:
    tasks = {name: found[name] for name in CONSTANTS if name in found}

    def draw(axes: Any) -> None:
        for axis, (name, methods) in zip(axes[0], tasks.items(), strict=True):
            for method in (m for m in METHODS if m in methods):
                points = curve(methods[method])
                means, errors, _ = zip(*points.values(), strict=True)
                style = {"linestyle": "-" if method.startswith("pydpmc") else "--"}
                if method == "non-private":
                    style = {"color": "black", "linestyle": ":"}
                axis.errorbar(list(points), means, errors, marker="o", markersize=3, capsize=2, label=method, **style)
            axis.set(title=name, xscale="log", xlabel=f"epsilon at delta = {DELTA:g}, one record replaced")
        axes[0][0].set_ylabel("test accuracy")
        axes[0][-1].legend(fontsize=7)

    picture(directory / "wang2015.png", draw, ncols=len(tasks), figsize=(11, 4.2), sharex=True, squeeze=False)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--data", nargs="+", default=list(CONSTANTS), choices=list(CONSTANTS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS), choices=EPSILONS)
    parser.add_argument("--again", action="store_true", help="run cells again that are kept")


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables, plot, arguments)
