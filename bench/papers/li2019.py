"""Repeat figures 1 to 3 of Li, Chen, Liu and Carin (2019), priced by our accountant.

python li2019.py [--runs 10] [--methods ...]   runs what is missing, and keeps it in li2019.json (resumable)
python li2019.py --quick                       one run of each method on 4,000 records; nothing is kept
python li2019.py --table                       prints the tables
python li2019.py --plot DIRECTORY              draws them (matplotlib)

Figures 1 and 2 are step sizes (minutes, most of them for N = 1e6). Figure 3 is test accuracy on Adult at delta = 1e-4:
a run takes one to five seconds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import erm
import numpy as np
import pate
import posterior_sample
import uci
from results import Found, Results, command, markdown, picture

import pydpmc as dp
from pydpmc.samplers.base import Sampler

EPSILONS_OF_STEPS = (0.02, 0.1, 0.5, 1.0, 1.7)
EPSILONS = (0.01, 0.03, 0.06, 0.1)
DELTA = 1e-4
OPS_SCALE, RADIUS = 10.0, 8.0


def wang2015(epsilon: float, delta: float, n: int, steps: int, clip: float) -> float:
    """Return the bound of Wang et al. (2015) as Li et al. (2019) print it."""
    return epsilon**2 * n / (128 * clip**2 * steps * math.log(2.5 * steps / delta) * math.log(2 / delta))


def largest(epsilon: float, delta: float, n: int, steps: int, clip: float, decay: float, batch: int) -> float:
    options = {"batch_size": batch, "decay": decay, "noise": "paper", "adjacency": "add_remove"}
    return dp.max_step_size(epsilon, delta, n, steps, clip, **options)


def figure_1(quick: bool) -> list[dict[str, float]]:
    """N = 50,000, T = 10,000, L = 1, delta = 1e-5; the paper names no batch size, so we take 100."""
    facts = (1e-5, 50_000, 1000 if quick else 10_000, 1.0)
    return [
        {
            "epsilon": epsilon,
            "fixed": largest(epsilon, *facts, decay=0.0, batch=100),
            "decreasing": largest(epsilon, *facts, decay=1.0 / 3.0, batch=100),
            "wang2015": wang2015(epsilon, *facts),
        }
        for epsilon in EPSILONS_OF_STEPS
    ]


def batches(quick: bool) -> list[list[float]]:
    """The first of decreasing steps at epsilon = 0.1, where the paper prints 0.103, over batch sizes."""
    facts = (0.1, 1e-5, 50_000, 1000 if quick else 10_000, 1.0)
    options = {"decay": 1.0 / 3.0, "noise": "paper"}
    return [
        [b, *(dp.max_step_size(*facts, batch_size=b, adjacency=a, **options) for a in ("add_remove", "replace"))]
        for b in ((100,) if quick else (50, 100, 500, 2000))
    ]


def figure_2(quick: bool) -> dict[str, list[dict[str, float]]]:
    """Step sizes t^-1/3 over N at L = 1, and over L at N = 1e4; T = N, delta = 1 / N, batches of 100."""
    sizes, clips = ((10**3,), (1.0,)) if quick else ((10**3, 10**4, 10**5, 10**6), (0.1, 0.5, 1.0, 10.0))

    def eta(epsilon: float, n: int, clip: float) -> float:
        return largest(epsilon, 1.0 / n, n, n, clip, decay=1.0 / 3.0, batch=100)

    return {
        "N": [{"n": n, **{str(e): eta(e, n, 1.0) for e in (0.1, 1.0)}} for n in sizes],
        "L": [{"clip": c, **{str(e): eta(e, 10**4, c) for e in (0.1, 1.0)}} for c in clips],
    }


Fit = Callable[[uci.Split, float, np.random.Generator], Callable[[np.ndarray], np.ndarray]]


def linear(theta: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x @ theta > 0


def private(make: Callable[[], Sampler | None]) -> Fit:
    """Return a fit by one of our samplers, under add_remove like the paper, with n public."""

    def fit(split: uci.Split, epsilon: float, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
        data = dp.Data(split.x, split.y, row_norm=1.0, public_n=len(split.y))
        budget = {"epsilon": epsilon, "delta": DELTA, "adjacency": "add_remove", "purpose": "prediction"}
        post = dp.sample(dp.LogisticRegression(), data, make(), progress=False, anyway=True, **budget)
        return linear(post.draws["beta"].mean(axis=(0, 1)))

    return fit


def ops(split: uci.Split, epsilon: float, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    weight = posterior_sample.ops_weight(epsilon, RADIUS)
    return linear(posterior_sample.ops_draw(split.x, split.y, weight, OPS_SCALE, RADIUS, rng))


def hybrid(split: uci.Split, epsilon: float, rng: np.random.Generator) -> Callable[[np.ndarray], np.ndarray]:
    weight = posterior_sample.ops_weight(epsilon / 2, RADIUS)
    start = posterior_sample.ops_draw(split.x, split.y, weight, OPS_SCALE, RADIUS, rng)
    return linear(posterior_sample.hybrid_sgnht(split.x, split.y, start, epsilon / 2, DELTA, OPS_SCALE, rng))


METHODS: dict[str, Fit] = {
    "non-private": lambda s, e, rng: linear(erm.minimiser(s.x, s.y, 1.0)),
    "OPS": ops,
    "hybrid": hybrid,
    "Confident-GNMax": lambda s, e, rng: pate.student(s.x, s.y, e, DELTA, rng),
    "DP-SGLD (Li et al.)": private(lambda: dp.SGLD(calibration="li2019", steps=2000, batch_size=500)),
    "pydpmc SGLD": private(lambda: dp.SGLD(w=0.05)),
    "pydpmc DPVI": private(dp.DPVI),
    "pydpmc, default": private(lambda: None),
}


def figure_3(kept: Results, options: argparse.Namespace) -> None:
    split = uci.adult()
    if options.quick:
        split = split._replace(x=split.x[:4000], y=split.y[:4000])
    for method in options.methods:
        for epsilon in EPSILONS if method != "non-private" else (1.0,):
            cell = kept.found.setdefault("3", {}).setdefault(method, {}).setdefault(str(epsilon), [])

            def run(k: int, method: str = method, epsilon: float = epsilon) -> float:
                predict = METHODS[method](split, epsilon, np.random.default_rng([k, 11]))
                return float((predict(split.held_out) == split.truth).mean())

            runs = 1 if method == "non-private" or options.quick else options.runs
            kept.repeat(cell, runs, run, f"{method}, epsilon {epsilon:g}")


def measure(kept: Results, options: argparse.Namespace) -> None:
    kept.fill("1", lambda: figure_1(options.quick))
    kept.fill("batches", lambda: batches(options.quick))
    kept.fill("2", lambda: figure_2(options.quick))
    figure_3(kept, options)


def tables(found: Found) -> list[str]:
    names = ("fixed", "decreasing", "wang2015")
    header = ["epsilon", "fixed step", "first of decreasing steps", "bound of Wang et al. (2015)"]
    lines = markdown(header, ([f"{r['epsilon']:g}", *(f"{r[name]:.3g}" for name in names)] for r in found["1"]))
    rows = ([f"{b:g}", *(f"{eta:.3g}" for eta in etas)] for b, *etas in found["batches"])
    lines += ["", *markdown(["batch size, epsilon 0.1", "add_remove", "replace"], rows)]
    for key, name in (("N", "n"), ("L", "clip")):
        rows = ([f"{r[name]:g}", f"{r['0.1']:.3g}", f"{r['1.0']:.3g}"] for r in found["2"][key])
        lines += ["", *markdown([key, "epsilon 0.1", "epsilon 1"], rows)]
    accuracies = []
    for method in (m for m in METHODS if m in found["3"]):
        cells = found["3"][method]
        runs = [np.array(cells.get(str(e)) or next(iter(cells.values()))) for e in EPSILONS]
        text = [f"{v.mean():.3f} ± {v.std():.3f}" if len(v) > 1 else f"{v.mean():.3f}" for v in runs]
        accuracies.append([method, *text, str(min(len(v) for v in runs))])
    return [*lines, "", *markdown(["Adult, delta 1e-4", *(f"{e:g}" for e in EPSILONS), "runs"], accuracies)]


def plot(found: Found, directory: Path) -> None:
    def draw(axes: Any) -> None:
        for name in ("fixed", "decreasing", "wang2015"):
            axes[0].loglog([r["epsilon"] for r in found["1"]], [r[name] for r in found["1"]], "o-", label=name)
        axes[0].set(title="largest step sizes (figure 1)", xlabel="epsilon", ylabel="eta")
        axes[0].legend(fontsize=7)
        for method, cells in found["3"].items():
            values = [np.mean(cells.get(str(e)) or next(iter(cells.values()))) for e in EPSILONS]
            axes[1].semilogx(EPSILONS, values, "o-", label=method)
        axes[1].set(title="Adult, delta = 1e-4 (figure 3)", xlabel="epsilon", ylabel="test accuracy")
        axes[1].legend(fontsize=6)

    picture(directory / "li2019.png", draw, ncols=2, figsize=(9, 3.6))


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables, plot, arguments)
