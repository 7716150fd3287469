"""Diffusion time and effective draws that a budget buys: printed, and drawn where matplotlib is installed.

python bench/plots/diffusion_time.py docs/images/diffusion_time.svg
"""

import importlib.util
import sys

import numpy as np

import pydpmc as dp
from pydpmc import accounting as acc

EPSILONS = np.geomspace(0.1, 10.0, 17)
RECORDS = (10**4, 10**5, 10**6)
DELTA = 1e-6
COEFFICIENTS = 10
ENOUGH = 100.0  # effective draws
TIME_PER_MU2 = {"add_remove": 2.0, "replace": 0.5}  # hT = this times (mu / (w L))^2
STYLES = {"add_remove": "-", "replace": "--"}


def diffusion_time(epsilon, adjacency):
    """Return hT at w = L = 1, from the Gaussian mu that the accountant allows."""
    mu = acc.calibrate(
        lambda m: [(acc.GDP(m), 1)], epsilon=float(epsilon), delta=DELTA, bracket=(1e-4, 50.0), integer=False
    )
    return TIME_PER_MU2[adjacency] * mu**2


def relaxation_time(n):
    """Return the forecast of a plan of logistic regression with unit-norm rows."""
    columns = tuple(f"x{j}" for j in range(COEFFICIENTS))
    public = dp.Public(n=n, columns=columns, has_target=True, row_norm=1.0)
    sampler = dp.SGLD(steps=1, step_size=1e-9, sampling="full")
    return dp.plan(dp.LogisticRegression(), public, sampler).forecast.relaxation


def draw(times, path):
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams |= {"svg.hashsalt": "pydpmc", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    for adjacency, time in times.items():
        left.loglog(EPSILONS, time, STYLES[adjacency], color="black", label=adjacency)
    for colour, n in zip(("#d55e00", "#0072b2", "#009e73"), RECORDS, strict=True):
        relaxation = relaxation_time(n)
        left.axhline(relaxation, color=colour, linewidth=1.0)
        left.text(EPSILONS[-1], relaxation * 1.15, f"one relaxation, n = {n:,} ", color=colour, ha="right", fontsize=8)
        for adjacency, time in times.items():
            label = f"n = {n:,}" if adjacency == "add_remove" else None
            right.loglog(EPSILONS, time / (2.0 * relaxation), STYLES[adjacency], color=colour, label=label)
    right.set_ylim(top=1e6)
    right.axhspan(ENOUGH, 1e6, color="0.93", zorder=0)
    right.text(0.04, 0.93, "grey: enough for a posterior", fontsize=8, transform=right.transAxes)
    left.legend(fontsize=8, loc="upper left", frameon=False)
    right.legend(fontsize=8, loc="lower right", frameon=False)
    left.set_ylabel("diffusion time hT that the budget buys")
    right.set_ylabel("effective draws, at best")
    for axes in (left, right):
        axes.set_xlabel(f"epsilon at delta = {DELTA:g}")
        axes.set_xlim(EPSILONS[0], EPSILONS[-1])
        axes.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])
        axes.minorticks_off()
    figure.suptitle(f"Logistic regression, {COEFFICIENTS} coefficients, rows of norm 1, w = 1", fontsize=10)
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    times = {kind: np.array([diffusion_time(e, kind) for e in EPSILONS]) for kind in TIME_PER_MU2}
    for kind, time in times.items():
        print(f"{kind:<12}{'epsilon':>10}{'hT':>12}" + "".join(f"{f'draws, {n:,}':>18}" for n in RECORDS))
        for epsilon, t in zip(EPSILONS[::4], time[::4], strict=True):
            draws = "".join(f"{t / (2.0 * relaxation_time(n)):>18.3g}" for n in RECORDS)
            print(f"{'':<12}{epsilon:>10.3g}{t:>12.3g}{draws}")
    if importlib.util.find_spec("matplotlib") is None:
        print("matplotlib is not installed: no plot")
    else:
        draw(times, sys.argv[1] if len(sys.argv) > 1 else "diffusion_time.svg")


if __name__ == "__main__":
    main()
