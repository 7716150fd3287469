"""The tables of docs/papers/minami2016.md: weights, inflations and bounds of Minami et al. (2016), and ours.

python minami2016.py [--quick]     computes them, keeps them in minami2016.json and prints them (a second)
python minami2016.py --table       prints them
"""

from __future__ import annotations

import argparse
import math

from results import Found, Results, command, markdown

from pydpmc import accounting as acc

UNIT = {"lipschitz": 1.0, "strong_convexity": 1.0}
BALL = {"lipschitz": 2.0, "strong_convexity": 1.0}
BUDGETS = ((0.1, 1e-3), (0.1, 1e-6), (1.0, 1e-5))
SIZES = (1000, 10_000, 100_000)


def weights() -> list[list[float]]:
    """Theorems 7 and 10, corollary 8."""
    return [
        [
            *budget,
            acc.minami2016_weight(*budget, **UNIT, variant="corollary8"),
            acc.minami2016_weight(*budget, **UNIT),
            acc.gibbs_weight(*budget, **UNIT),
            acc.minami2016_strongly_convex_weight(*budget, 1000, **BALL),
            acc.strongly_convex_weight(*budget, 1000, **BALL),
        ]
        for budget in BUDGETS
    ]


def gaussian_mean() -> dict[str, list[float]]:
    """Theorem 15 and (B.7) for one record: weights grow in proportion to n; the last is the n at which w = 1."""
    found = {
        "(B.7)": 0.1**2 / (8 * math.log(2 / 1e-3)),
        "theorem 15": acc.minami2016_gaussian_mean_weight(0.1, 1e-3, 1),
        "ours": acc.gaussian_mean_weight(0.1, 1e-3, 1_000_000) / 1e6,
    }
    return {name: [w, math.ceil(1.0 / w)] for name, w in found.items()}


def example_17() -> dict[str, list[float]]:
    exact = acc.minami2016_weight(0.1, 1e-3, **UNIT, variant="corollary8")
    found = {"as printed": 0.012, "corollary 8": exact, "ours": acc.gibbs_weight(0.1, 1e-3, **UNIT)}
    return {name: [w, acc.minami2016_inflation(w)] for name, w in found.items()}


def example_19() -> list[list[float]]:
    """Radius 1 and a prior of precision 1."""
    weight, found = acc.minami2016_weight(0.1, 1e-3, **UNIT, variant="corollary8"), []
    for n in SIZES:
        most = 2.0 * math.sqrt(n)
        beta = min(weight * n, 0.999 * most)
        f = acc.hinge_hoeffding(beta, n, radius=1.0, precision=1.0)
        found.append([n, weight * n, most, f, acc.pac_bayes_bound(0.0, 2.0, f, beta=beta, alpha=0.05)])
    return found


def langevin_steps() -> list[list[float]]:
    """Theorem 21: steps that bring Langevin Monte Carlo within gamma of its target, m = 1 and M = n/4 + 1."""
    found = []
    for n, dim in ((1000, 2), (1000, 10), (30_000, 100)):
        needed = acc.minami2016_steps(1e-6, dim=dim, strong_convexity=1.0, smoothness=n / 4 + 1.0)
        found.append([n, dim, float(needed.steps), needed.step_size])
    return found


def measure(kept: Results, options: argparse.Namespace) -> None:
    makers = {"weights": weights, "mean": gaussian_mean, "17": example_17, "19": example_19, "21": langevin_steps}
    kept.found = {name: make() for name, make in makers.items()}
    kept.save()


def tables(found: Found) -> list[str]:
    header = ["epsilon, delta", "corollary 8", "theorem 7", "ours", "theorem 10, n = 1000, L = 2, m = 1", "ours"]
    lines = markdown(header, ([f"{e:g}, {d:g}", *(f"{w:.4g}" for w in row)] for e, d, *row in found["weights"]))
    rows = ([name, f"{w:.3g} n", f"{n:,}"] for name, (w, n) in found["mean"].items())
    lines += ["", *markdown(["(0.1, 0.001), r = 1, flat prior", "w", "private without tempering from n"], rows)]
    coins = ([name, f"{w:.4f}", f"{times:.1f}"] for name, (w, times) in found["17"].items())
    lines += ["", *markdown(["", "w", "times the variance"], coins)]
    header = ["n", "beta by privacy (0.1, 0.001)", "largest beta of the assumption", "f"]
    bounds = ([f"{n:,}", *(f"{v:.3g}" for v in row)] for n, *row in found["19"])
    lines += ["", *markdown([*header, "(C.6) adds, at KL = 2 and alpha = 0.05"], bounds)]
    steps = ([f"{n:,}", str(dim), f"{count:.2g}", f"{size:.2g}"] for n, dim, count, size in found["21"])
    return [*lines, "", *markdown(["n", "coefficients", "steps by theorem 21, gamma = 1e-6", "step size"], steps)]


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables)
