"""Repeat figure 1 of Wang, Fienberg and Smola (2015): SGLD and SGNHT on a linear regression, and their private twins.

python wang2015_figure1.py [--quick]            a few seconds; keeps wang2015_figure1.json and prints its table
python wang2015_figure1.py --table              prints what is kept
python wang2015_figure1.py --plot DIRECTORY     draws it (matplotlib)

The paper draws a random regression and runs at epsilon = 10; it gives no sizes. Here: 2 columns, n records, the
posterior is a normal law in closed form. The clip is 2 norms of a row: residuals beyond two sigmas are shortened.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from results import Found, Results, command, markdown, picture

import pydpmc as dp

N, SIGMA, EPSILON, DELTA, STEPS = 20_000, 1.0, 10.0, 1e-6, 20_000
TRUTH = np.array([0.7, -0.4])


def records() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N, 2)) @ [[0.5, 0.2], [0.0, 0.4]]
    x /= np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    return x, x @ TRUTH + SIGMA * rng.normal(size=N)


def closed_form(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    precision = x.T @ x / SIGMA**2 + np.eye(2)
    return np.linalg.solve(precision, x.T @ y / SIGMA**2), np.linalg.inv(precision)


def chains(x: np.ndarray, y: np.ndarray, steps: int) -> dict[str, np.ndarray]:
    data = dp.Data(x, y, row_norm=1.0, y_bounds=(-6.0, 6.0))
    model = dp.LinearRegression(sigma=SIGMA)
    found = {}
    for kind in (dp.SGLD, dp.SGNHT):
        free = kind(steps=steps, step_size=2e-6, clip=1e3)
        post = dp.sample(model, data, free, private=False, warmup=0, draws=steps, progress=False, seed=1)
        found[f"{kind.__name__}, no privacy"] = np.asarray(post.draws["beta"][0])
        bound = kind(clip=2.0, step_size=2e-6)
        budget = {"epsilon": EPSILON, "delta": DELTA}
        post = dp.sample(model, data, bound, warmup=0, draws=steps, progress=False, anyway=True, **budget)
        found[f"{kind.__name__}, epsilon {EPSILON:g}"] = np.asarray(post.draws["beta"][0])
    return found


def measure(kept: Results, options: argparse.Namespace) -> None:
    mean, covariance = closed_form(*records())
    sd = np.sqrt(np.diag(covariance))
    kept.found = {"mean": mean.tolist(), "covariance": covariance.tolist(), "chains": {}}
    for name, draws in chains(*records(), 2000 if options.quick else STEPS).items():
        late = draws[len(draws) // 5 :]
        kept.found["chains"][name] = {
            "draws": len(draws),
            "off": ((late.mean(axis=0) - mean) / sd).tolist(),
            "ratio": (late.std(axis=0) / sd).tolist(),
            "path": draws[::40].round(5).tolist(),
        }
    kept.save()


def tables(found: Found) -> list[str]:
    rows = [
        [name, f"{c['draws']:,}", ", ".join(f"{v:+.2f}" for v in c["off"]), ", ".join(f"{v:.2f}" for v in c["ratio"])]
        for name, c in found["chains"].items()
    ]
    return markdown(["chain", "draws", "mean, in posterior sds from the exact one", "sds, of the exact ones"], rows)


def plot(found: Found, directory: Path) -> None:
    circle = np.array([np.cos(t := np.linspace(0, 2 * np.pi, 100)), np.sin(t)])
    ring = np.array(found["mean"])[:, None] + 2.0 * np.linalg.cholesky(found["covariance"]) @ circle

    def draw(axes: Any) -> None:
        for axis, (name, chain) in zip(axes, found["chains"].items(), strict=True):
            path = np.array(chain["path"])
            axis.plot(*path[: len(path) // 5].T, "-", lw=0.5, color="tab:gray")
            axis.plot(*path[len(path) // 5 :].T, ".", ms=2, alpha=0.5)
            axis.plot(*ring, "k-", lw=1)
            axis.set(title=name, xlabel="beta_1")
        axes[0].set(ylabel="beta_2")

    picture(directory / "wang2015_figure1.png", draw, ncols=4, figsize=(13, 3.4), sharex=True, sharey=True)


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables, plot)
