"""DPVI beside SGLD, SGHMC, Langevin and Newton at the same budget: Adult, a mixture, and how often intervals hold.

python dpvi.py [--runs 10]     runs what dpvi.json lacks (ten minutes of CPU time)
python dpvi.py --quick         one run of each cell on few records, nothing is kept (half a minute)
python dpvi.py --table         prints what is kept

Settings are the planner's, but for w where it is named, and step sizes on the mixture, where no public bound on the
curvature gives them. Langevin needs a convex loss, which the mixture has not. Adult: test accuracy of the posterior's
mean, prior Normal(1), delta = 1e-5. Mixture: that of Heikkilä et al. (2019), 100,000 records, against the exact
posterior on a grid.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from typing import Any

import erm
import numpy as np
import uci
from results import Found, Results, command, markdown, mean_and_error

import pydpmc as dp
from pydpmc.samplers.base import Sampler

EPSILONS = (0.1, 0.3, 1.0, 3.0)
ADJACENCIES = ("add_remove", "replace")
DELTA = 1e-5
ON_ADULT: dict[str, Callable[[], Sampler | str | None]] = {
    "DPVI": dp.DPVI,
    "SGLD": dp.SGLD,
    "SGHMC": dp.SGHMC,
    "Newton": dp.Newton,
    "no sampler named": lambda: None,
    "DP-SGD, no draws": lambda: "dp_sgd",
    "Langevin": lambda: dp.Langevin(bias=0.3),
}
FEWER = {
    "SGLD": 5,
    "SGHMC": 5,
    "DP-SGD, no draws": 5,
    "Langevin": 3,
}  # slower than DPVI
ON_MIXTURE: dict[str, Callable[[], Sampler]] = {
    "DPVI": lambda: dp.DPVI(clip=5.0),
    "SGLD": lambda: dp.SGLD(clip=5.0, step_size=2e-6),
    "SGLD, w = 0.1": lambda: dp.SGLD(clip=5.0, step_size=2e-5, w=0.1),
    "SGHMC": lambda: dp.SGHMC(clip=5.0, step_size=2e-6),
    "SGHMC, w = 0.1": lambda: dp.SGHMC(clip=5.0, step_size=2e-5, w=0.1),
}
COVERED: dict[str, Callable[[], Sampler]] = {"DPVI": dp.DPVI, "Newton": dp.Newton}
DESIGNS = {"independent columns": 0.0, "columns with correlation 0.8": 0.8}
TRUTH = np.array([1.0, -0.5, 0.3, 0.0, 0.7])


@cache
def adult(rows: int | None) -> tuple[uci.Split, dp.Data]:
    split = uci.adult()
    x, y = split.x[:rows], split.y[:rows]
    return split, dp.Data(x, y, row_norm=1.0, storage="float32", public_n=len(y))


def accuracy(sampler: Sampler | str | None, epsilon: float, adjacency: str, rows: int | None, run: int) -> float:
    """Return the share of held out records on the right side of the mean of the draws."""
    split, data = adult(rows)
    if isinstance(sampler, str):
        theta = erm.dp_sgd(split.x[:rows], split.y[:rows], epsilon, DELTA, adjacency, np.random.default_rng([run, 5]))
        return float(((split.held_out @ theta > 0) == split.truth).mean())
    budget = {"epsilon": epsilon, "delta": DELTA, "adjacency": adjacency, "purpose": "prediction"}
    model = dp.LogisticRegression(prior=dp.Normal(1.0))
    post = dp.sample(model, data, sampler, progress=False, anyway=True, **budget)
    theta = post.draws["beta"].mean(axis=(0, 1))
    return float(((split.held_out @ theta > 0) == split.truth).mean())


@cache
def mixture(n: int) -> tuple[dp.Data, np.ndarray, np.ndarray]:
    """Return records, and mean and standard deviation of their exact posterior, by quadrature around the truth."""
    rng = np.random.default_rng(3)
    x = np.clip(rng.normal((rng.random(n) < 0.5).astype(float), 2.0**0.5), -10.0, 10.0)
    data = dp.Data(x, x_bounds=(-10.0, 10.0), public_n=n)
    counts, edges = np.histogram(x, bins=500)
    sums, _ = np.histogram(x, bins=edges, weights=x)
    points, counts = sums[counts > 0] / counts[counts > 0], counts[counts > 0]
    first, gap = np.linspace(-0.6, 1.6, 221), np.linspace(-2.2, 2.2, 221)
    total = np.empty((len(first), len(gap)))
    for i, theta in enumerate(first):
        far = -((points - (theta + gap[:, None])) ** 2) / 4.0
        total[i] = np.logaddexp(-((points - theta) ** 2) / 4.0, far) @ counts - theta**2 / 20 - gap**2 / 2
    law = np.exp(total - total.max())
    law[:, gap < 0.0] = 0.0  # one of the two modes, which are mirror images
    law /= law.sum()
    moments = [(law.sum(axis=1 - k), grid) for k, grid in enumerate((first, gap))]
    mean = np.array([weight @ grid for weight, grid in moments])
    return data, mean, np.array([(w @ (g - m) ** 2) ** 0.5 for (w, g), m in zip(moments, mean, strict=True)])


def on_mixture(sampler: Sampler, epsilon: float, n: int) -> list[float]:
    """Return the distance of means in exact standard deviations, and the standard deviations over the exact ones."""
    data, mean, sd = mixture(n)
    budget = {"epsilon": epsilon, "delta": 1e-6, "adjacency": "add_remove", "init": [0.3, 0.4]}
    post = dp.sample(dp.GaussianMixture(), data, sampler, progress=False, anyway=True, **budget)
    draws = post.draws["theta"].reshape(-1, 2)
    mirrored = np.column_stack([draws.sum(axis=1), -draws[:, 1]])
    draws = np.where(draws[:, 1:] < 0.0, mirrored, draws)
    off = float(np.sqrt(np.mean(((draws.mean(axis=0) - mean) / sd) ** 2)))
    return [round(off, 4), round(float(np.mean(draws.std(axis=0) / sd)), 4)]


def one_table(sampler: Sampler, correlation: float, epsilon: float, rng: np.random.Generator) -> list[float]:
    """Return the share of coefficients that their 90 % interval holds, and its width over the best without privacy."""
    n, d = 10_000, len(TRUTH)
    root = np.linalg.cholesky((1 - correlation) * np.eye(d) + correlation)
    x = 0.35 * rng.normal(size=(n, d)) @ root.T
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True) / 1.5)
    p = 1 / (1 + np.exp(-x @ TRUTH))
    y = (rng.random(n) < p).astype(float)
    data = dp.Data(x, y, row_norm=1.5)
    budget = {"epsilon": epsilon, "delta": 1e-6, "progress": False, "anyway": True}
    post = dp.sample(dp.LogisticRegression(prior=dp.Normal(3.0)), data, sampler, **budget)
    low, high = np.quantile(post.draws["beta"].reshape(-1, d), (0.05, 0.95), axis=0)
    exact = 2 * 1.645 * np.sqrt(np.diag(np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)))
    return [float(np.mean((low < TRUTH) & (high > TRUTH))), round(float(np.mean((high - low) / exact)), 3)]


def pairs(kept: Results, key: str, name: str, runs: int, make: Callable[[int], list[float]]) -> None:
    cell = kept.found.setdefault(key, {}).setdefault(name, [])
    while len(cell) < runs:
        cell.append(make(len(cell)))
        kept.save()


def measure(kept: Results, options: argparse.Namespace) -> None:
    for part in (measure_adult, measure_coverage, measure_mixture):
        part(kept, options.runs, options.quick)


def measure_adult(kept: Results, runs: int, quick: bool) -> None:
    for name, sampler in ON_ADULT.items():
        for adjacency in ADJACENCIES:
            for epsilon in EPSILONS:
                cell = kept.found.setdefault(adjacency, {}).setdefault(name, {}).setdefault(str(epsilon), [])

                def run(k: int) -> float:
                    return accuracy(sampler(), epsilon, adjacency, 4000 if quick else None, k)  # noqa: B023

                count = 1 if quick else min(runs, FEWER.get(name, runs))
                kept.repeat(cell, count, run, f"{adjacency}, {name}, epsilon {epsilon:g}")


def measure_coverage(kept: Results, runs: int, quick: bool) -> None:
    for design, correlation in DESIGNS.items():
        for name, make in COVERED.items():
            for epsilon in (0.3, 1.0, 3.0):

                def table(k: int) -> list[float]:
                    return one_table(make(), correlation, epsilon, np.random.default_rng([k, 17]))  # noqa: B023

                pairs(kept, design, f"{name}, {epsilon:g}", 2 if quick else 4 * runs, table)


def measure_mixture(kept: Results, runs: int, quick: bool) -> None:
    n, count = (10_000, 1) if quick else (100_000, max(runs // 3, 1))
    for epsilon in (0.3, 1.0):
        for name, make in ON_MIXTURE.items():
            pairs(kept, "mixture", f"{name}, {epsilon:g}", count, lambda k: on_mixture(make(), epsilon, n))  # noqa: B023


def tables(found: Found) -> list[str]:
    lines = []
    for adjacency in (a for a in ADJACENCIES if a in found):
        rows = []
        for name, cells in found[adjacency].items():
            shown = [mean_and_error(cells[str(e)], 4) if cells.get(str(e)) else "" for e in EPSILONS]
            rows.append([name, *shown, str(min(map(len, cells.values())))])
        header = [f"Adult, {adjacency}, delta 1e-5", *(f"{e:g}" for e in EPSILONS), "runs"]
        lines += [*markdown(header, rows), ""]
    header = ["sampler, epsilon", "error of the mean, exact sds", "sd over the exact one", "runs"]
    lines += markdown(header, means(found["mixture"]))
    for design in DESIGNS:
        header = [f"{design}: sampler, epsilon", "coverage of 90 %", "width over that without privacy", "tables"]
        lines += ["", *markdown(header, means(found[design]))]
    return lines


def means(cells: dict[str, Any]) -> list[list[str]]:
    return [
        [name, *(mean_and_error([run[k] for run in runs]) for k in (0, 1)), str(len(runs))]
        for name, runs in cells.items()
    ]


if __name__ == "__main__":
    command(
        __file__, __doc__, measure, tables, arguments=lambda parser: parser.add_argument("--runs", type=int, default=10)
    )
