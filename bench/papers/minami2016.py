"""Print the tables of docs/papers/minami2016.md: weights, inflations and bounds of Minami et al. (2016), and ours."""

from __future__ import annotations

import math

from pydpmc import accounting as acc

UNIT = {"lipschitz": 1.0, "strong_convexity": 1.0}
BALL = {"lipschitz": 2.0, "strong_convexity": 1.0}
BUDGETS = ((0.1, 1e-3), (0.1, 1e-6), (1.0, 1e-5))


def weights() -> None:
    print("theorems 7 and 10, corollary 8")
    for budget in BUDGETS:
        row = [
            acc.minami2016_weight(*budget, **UNIT, variant="corollary8"),
            acc.minami2016_weight(*budget, **UNIT),
            acc.gibbs_weight(*budget, **UNIT),
            acc.minami2016_strongly_convex_weight(*budget, 1000, **BALL),
            acc.strongly_convex_weight(*budget, 1000, **BALL),
        ]
        print(f"| {budget[0]:g}, {budget[1]:g} | " + " | ".join(f"{w:.4g}" for w in row) + " |")


def example_17() -> None:
    print("example 17")
    printed, ours = 0.012, acc.gibbs_weight(0.1, 1e-3, **UNIT)
    exact = acc.minami2016_weight(0.1, 1e-3, **UNIT, variant="corollary8")
    for name, w in (("as printed", printed), ("corollary 8", exact), ("ours", ours)):
        print(f"| {name} | {w:.4f} | {acc.minami2016_inflation(w):.1f} |")


def example_19() -> None:
    print("example 19, r = 1 and a prior of precision 1")
    weight = acc.minami2016_weight(0.1, 1e-3, **UNIT, variant="corollary8")
    for n in (1000, 10_000, 100_000):
        most = 2.0 * math.sqrt(n)
        beta = min(weight * n, 0.999 * most)
        f = acc.hinge_hoeffding(beta, n, radius=1.0, precision=1.0)
        adds = acc.pac_bayes_bound(0.0, 2.0, f, beta=beta, alpha=0.05)
        print(f"| {n:,} | {weight * n:.3g} | {most:.3g} | {f:.3g} | {adds:.3g} |")


if __name__ == "__main__":
    weights()
    example_17()
    example_19()
