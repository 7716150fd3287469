"""Effective draws against epsilon for several numbers of records: printed, and drawn where matplotlib is installed.

Curves end in a plateau where the planner stops: it never plans more than 50,000 steps.

python diffusion_time.py [out.png]
"""

import importlib.util
import sys

import pydpmc as dp

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
RECORDS = (10**4, 10**5, 10**6)
DELTA = 1e-6
DIMENSION = 10


def effective_draws(n, epsilon):
    columns = tuple(f"x{j}" for j in range(DIMENSION))
    public = dp.Public(n=n, columns=columns, has_target=True, row_norm=1.0)
    sampler = dp.SGLD(sampling="full")
    return dp.plan(dp.LogisticRegression(), public, sampler, epsilon=epsilon, delta=DELTA).forecast.effective_draws


def draw(curves, path):
    import matplotlib.pyplot as plt

    for n, draws in curves.items():
        plt.loglog(EPSILONS, draws, marker="o", label=f"n = {n:,}")
    plt.axhline(100.0, color="grey", linewidth=0.8)
    plt.xlabel(f"epsilon at delta = {DELTA:g}, one record replaced")
    plt.ylabel("effective draws at best, one chain of SGLD")
    plt.title(f"Logistic regression, {DIMENSION} coefficients, row norm 1, w = 1")
    plt.legend()
    plt.savefig(path, dpi=100)


def main():
    curves = {n: [effective_draws(n, epsilon) for epsilon in EPSILONS] for n in RECORDS}
    print("epsilon " + "".join(f"{epsilon:>12g}" for epsilon in EPSILONS))
    for n, draws in curves.items():
        print(f"{n:<8}" + "".join(f"{d:>12.3g}" for d in draws))
    if importlib.util.find_spec("matplotlib") is None:
        print("matplotlib is not installed: no plot")
    else:
        draw(curves, sys.argv[1] if len(sys.argv) > 1 else "diffusion_time.png")


if __name__ == "__main__":
    main()
