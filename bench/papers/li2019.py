"""Repeat figures 1 to 3 of Li, Chen, Liu and Carin (2019), priced by our accountant.

python li2019.py [--quick] [--runs 10] [--methods ...]   runs what is missing, and keeps it in li2019.json (resumable)
python li2019.py --table                                 prints the tables
python li2019.py --plot DIRECTORY                        draws them (matplotlib)

Figures 1 and 2 are step sizes (a minute). Figure 3 is test accuracy on Adult at delta = 1e-4: OPS and the hybrid take
about ten seconds a run, everything else about one.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import erm
import numpy as np
import pate
import posterior_sample
import uci

import pydpmc as dp
from pydpmc.samplers.base import Sampler

RESULTS = Path(__file__).with_suffix(".json")
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


def figure_2(quick: bool) -> dict[str, list[dict[str, float]]]:
    """Step sizes t^-1/3 over N at L = 1, and over L at N = 1e4; T = N, delta = 1 / N, batches of 100."""
    sizes = (10**3, 10**4) if quick else (10**3, 10**4, 10**5)  # the paper also has 1e6, which takes minutes

    def eta(epsilon: float, n: int, clip: float) -> float:
        return largest(epsilon, 1.0 / n, n, n, clip, decay=1.0 / 3.0, batch=100)

    return {
        "N": [{"n": n, **{str(e): eta(e, n, 1.0) for e in (0.1, 1.0)}} for n in sizes],
        "L": [{"clip": c, **{str(e): eta(e, 10**4, c) for e in (0.1, 1.0)}} for c in (0.1, 0.5, 1.0, 10.0)],
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


def figure_3(results: dict[str, dict[str, list[float]]], methods: list[str], runs: int, quick: bool) -> None:
    split = uci.adult()
    if quick:
        split = split._replace(x=split.x[:4000], y=split.y[:4000])
    for method in methods:
        for epsilon in EPSILONS if method != "non-private" else (1.0,):
            cell = results.setdefault(method, {}).setdefault(str(epsilon), [])
            while len(cell) < (1 if method == "non-private" else runs):
                started = time.perf_counter()
                predict = METHODS[method](split, epsilon, np.random.default_rng([len(cell), 11]))
                cell.append(round(float((predict(split.held_out) == split.truth).mean()), 5))
                spent = time.perf_counter() - started
                print(f"{method}, epsilon {epsilon:g}: {cell[-1]:.4f} ({spent:.1f} s)", flush=True)
                yield


def measure(quick: bool, methods: list[str], runs: int) -> None:
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() and not quick else {}
    for name, made in (("1", figure_1), ("2", figure_2)):
        if name not in results:
            results[name] = made(quick)
            keep(results, quick)
    for _ in figure_3(results.setdefault("3", {}), methods, runs, quick):
        keep(results, quick)


def keep(results: dict[str, object], quick: bool) -> None:
    if not quick:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def table() -> None:
    found = json.loads(RESULTS.read_text())
    print("| epsilon | fixed step | first of decreasing steps | bound of Wang et al. (2015) |\n|---|---|---|---|")
    for row in found["1"]:
        print(f"| {row['epsilon']:g} | {row['fixed']:.3g} | {row['decreasing']:.3g} | {row['wang2015']:.3g} |")
    for key, name in (("N", "n"), ("L", "clip")):
        print(f"\n| {key} | epsilon 0.1 | epsilon 1 |\n|---|---|---|")
        for row in found["2"][key]:
            print(f"| {row[name]:g} | {row['0.1']:.3g} | {row['1.0']:.3g} |")
    print("\n| Adult, delta 1e-4 | " + " | ".join(f"{e:g}" for e in EPSILONS) + " | runs |\n|---|" + "---|" * 5)
    for method in (m for m in METHODS if m in found["3"]):
        cells = found["3"][method]
        shown = [np.array(cells.get(str(e)) or next(iter(cells.values()))) for e in EPSILONS]
        text = [f"{v.mean():.3f} ± {v.std():.3f}" if len(v) > 1 else f"{v.mean():.3f}" for v in shown]
        print(f"| {method} | " + " | ".join(text) + f" | {min(len(v) for v in shown)} |")


def plot(directory: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found = json.loads(RESULTS.read_text())
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for name in ("fixed", "decreasing", "wang2015"):
        axes[0].loglog([r["epsilon"] for r in found["1"]], [r[name] for r in found["1"]], "o-", label=name)
    axes[0].set(title="largest step sizes (figure 1)", xlabel="epsilon", ylabel="eta")
    axes[0].legend(fontsize=7)
    for method, cells in found["3"].items():
        values = [np.mean(cells.get(str(e)) or next(iter(cells.values()))) for e in EPSILONS]
        axes[1].semilogx(EPSILONS, values, "o-", label=method)
    axes[1].set(title="Adult, delta = 1e-4 (figure 3)", xlabel="epsilon", ylabel="test accuracy")
    axes[1].legend(fontsize=6)
    figure.savefig(Path(directory) / "li2019.png", dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing is kept")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plot", metavar="DIRECTORY")
    given = parser.parse_args()
    if given.table:
        table()
    elif given.plot:
        plot(given.plot)
    else:
        measure(given.quick, given.methods, 1 if given.quick else given.runs)
