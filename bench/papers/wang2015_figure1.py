"""Repeat figure 1 of Wang, Fienberg and Smola (2015): SGLD and SGNHT on a linear regression, and their private twins.

python wang2015_figure1.py [--plot DIRECTORY]     a few seconds; prints the table of docs/papers/wang2015.md

The paper draws a random regression and runs at epsilon = 10; it gives no sizes. Here: 2 columns, n records, the
posterior is a normal law in closed form. The clip is 2 norms of a row: residuals beyond two sigmas are shortened.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import pydpmc as dp

N, SIGMA, EPSILON, DELTA, STEPS = 20_000, 1.0, 10.0, 1e-6, 20_000
TRUTH = np.array([0.7, -0.4])


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N, 2)) @ [[0.5, 0.2], [0.0, 0.4]]
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    return x, x @ TRUTH + SIGMA * rng.normal(size=N)


def closed_form(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    precision = x.T @ x / SIGMA**2 + np.eye(2)
    return np.linalg.solve(precision, x.T @ y / SIGMA**2), np.linalg.inv(precision)


def chains(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    data = dp.Data(x, y, row_norm=1.0, y_bounds=(-6.0, 6.0))
    model = dp.LinearRegression(sigma=SIGMA)
    found = {}
    for kind in (dp.SGLD, dp.SGNHT):
        free = kind(steps=STEPS, step_size=2e-6, clip=1e3)
        post = dp.sample(model, data, free, private=False, warmup=0, draws=STEPS, progress=False, seed=1)
        found[f"{kind.__name__}, no privacy"] = np.asarray(post.draws["beta"][0])
        bound = kind(clip=2.0, step_size=2e-6)
        budget = {"epsilon": EPSILON, "delta": DELTA}
        post = dp.sample(model, data, bound, warmup=0, draws=STEPS, progress=False, anyway=True, **budget)
        found[f"{kind.__name__}, epsilon {EPSILON:g}"] = np.asarray(post.draws["beta"][0])
    return found


def show(found: dict[str, np.ndarray], mean: np.ndarray, covariance: np.ndarray) -> None:
    sd = np.sqrt(np.diag(covariance))
    print("| chain | draws | mean, in posterior sds from the exact one | sds, of the exact ones |\n|---|---|---|---|")
    for name, draws in found.items():
        kept = draws[len(draws) // 5 :]
        off, ratio = (kept.mean(axis=0) - mean) / sd, kept.std(axis=0) / sd
        print(f"| {name} | {len(draws):,} | {off[0]:+.2f}, {off[1]:+.2f} | {ratio[0]:.2f}, {ratio[1]:.2f} |")


def plot(found: dict[str, np.ndarray], mean: np.ndarray, covariance: np.ndarray, directory: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(13, 3.4), constrained_layout=True, sharex=True, sharey=True)
    circle = np.array([np.cos(t := np.linspace(0, 2 * np.pi, 100)), np.sin(t)])
    ring = mean[:, None] + 2.0 * np.linalg.cholesky(covariance) @ circle
    for axis, (name, draws) in zip(axes, found.items(), strict=True):
        axis.plot(*draws[: len(draws) // 5 : 20].T, "-", lw=0.5, color="tab:gray")
        axis.plot(*draws[len(draws) // 5 :: 20].T, ".", ms=2, alpha=0.5)
        axis.plot(*ring, "k-", lw=1)
        axis.set(title=name, xlabel="beta_1")
    axes[0].set(ylabel="beta_2")
    figure.savefig(Path(directory) / "wang2015_figure1.png", dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="DIRECTORY")
    given = parser.parse_args()
    records = table()
    exact = closed_form(*records)
    made = chains(*records)
    show(made, *exact)
    if given.plot:
        plot(made, *exact, given.plot)
