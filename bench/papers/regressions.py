"""Logistic regression beside the peers: error and coverage over epsilon on four public tables.

python regressions.py [--runs 10] [--tables adult ...] [--methods ...]   adds runs to regressions.json (resumable)
python regressions.py --table                                            prints the tables of docs/papers/regressions.md
python regressions.py --plot ../../docs/images/regressions.png           draws them (matplotlib)

A run draws as many records as the table has, with replacement, so that the table is the population: its penalised fit
is the truth of the coefficients, and the records that were not drawn are held out. Everything is under `replace` at
delta = 1e-5, with the prior Normal(20) of every coefficient. Peers have a constant that their users choose (penalty,
learning rate): the one with the best mean accuracy on held out records is shown, outside the budget, in their favour.
diffprivlib needs scikit-learn below 1.6; where it does not import, its row is not run and the reason is printed.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import math
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import erm
import numpy as np
import numpy.typing as npt
from regression_tables import TABLES
from scipy.special import expit

import pydpmc as dp
from pydpmc import accounting as acc

Floats = npt.NDArray[np.float64]
RESULTS = Path(__file__).with_suffix(".json")
EPSILONS = (0.1, 0.3, 1.0, 3.0)
DELTA = 1e-5
SCALE = 20.0
PENALTY = SCALE**-2
PENALTIES = (0.1, 1.0, 10.0)
RATES = (1.0, 4.0)
BATCH, EPOCHS = 512, 20
LEVEL = 0.9
LEAST_P = 1e-9

Found = tuple[Floats, Floats | None, Floats | None]  # estimate; ends of intervals
Fit = Callable[[Floats, Floats, float, np.random.Generator], Found]


def bare(theta: Floats) -> Found:
    return theta, None, None


def non_private(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Found:
    theta = erm.minimiser(x, y, PENALTY)
    p = expit(x @ theta)
    sd = np.sqrt(np.diag(np.linalg.inv((x.T * (p * (1.0 - p))) @ x + PENALTY * np.eye(len(theta)))))
    far = 1.6448536269514722 * sd
    return theta, theta - far, theta + far


@lru_cache(maxsize=64)
def noise_of_steps(n: int, epsilon: float, steps: int) -> float:
    """Return the noise multiplier with which so many steps of DP-SGD fit the budget, by our accountant."""
    items = lambda quiet: [(acc.Gaussian(1.0 / quiet).poisson(BATCH / n), steps)]  # noqa: E731
    quiet = acc.calibrate(items, epsilon=epsilon, delta=DELTA, bracket=(1e-3, 5.0), integer=False, unspent=1e-3)
    return 1.0 / quiet


def dp_sgd(rate: float) -> Fit:
    """Return DP-SGD (Abadi et al. 2016): Poisson batches, clip 1 (rows have norm 1), the mean of the last half."""

    def fit(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Found:
        n, dim = x.shape
        steps = EPOCHS * n // BATCH
        noise = noise_of_steps(n, epsilon, steps)
        theta, total = np.zeros(dim), np.zeros(dim)
        for step in range(steps):
            drawn = rng.choice(n, rng.binomial(n, BATCH / n), replace=False, shuffle=False)  # a Poisson sample
            gradient = x[drawn].T @ (y[drawn] - expit(x[drawn] @ theta)) + noise * rng.normal(size=dim)
            theta = theta + rate * (gradient / BATCH - PENALTY / n * theta)
            total += theta * (step >= steps // 2)
        return bare(total / (steps - steps // 2))

    return fit


def diffprivlib(penalty: float) -> Fit:
    """Return diffprivlib's LogisticRegression: the vector mechanism of Chaudhuri et al. (2011), pure epsilon."""

    def fit(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Found:
        models = importlib.import_module("diffprivlib.models")
        model = models.LogisticRegression(epsilon=epsilon, data_norm=1.0, C=1.0 / penalty, fit_intercept=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x, y)
        return bare(np.asarray(model.coef_[0], dtype=float))

    return fit


def ours(make: Callable[[], object], **options: str) -> Fit:
    """Return a fit by one of our samplers, settings from the planner alone."""

    def fit(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Found:
        data = dp.Data(x, y, row_norm=1.0)
        budget = {"epsilon": epsilon, "delta": DELTA, "adjacency": "replace", **options}
        model = dp.LogisticRegression(prior=dp.Normal(scale=SCALE))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            post = dp.sample(model, data, make(), progress=False, anyway=True, **budget)
            mean = post.draws["beta"].mean(axis=(0, 1))
            try:
                rows = list(post.interval(LEVEL).rows.values())
            except dp.errors.PydpmcError:
                return bare(mean)
        low, high = (np.array([row[end] for row in rows]) for end in ("low", "high"))
        return mean, low, high

    return fit


def output(penalty: float) -> Fit:
    return lambda x, y, e, rng: bare(erm.output_perturbation(x, y, e, DELTA, penalty, rng))


def objective(penalty: float) -> Fit:
    return lambda x, y, e, rng: bare(erm.objective_perturbation(x, y, e, DELTA, penalty, rng))


METHODS: dict[str, dict[str, Fit]] = {
    "without privacy": {"": non_private},
    "output perturbation": {f"{p:g}": output(p) for p in PENALTIES},
    "objective perturbation": {f"{p:g}": objective(p) for p in PENALTIES},
    "diffprivlib": {f"{p:g}": diffprivlib(p) for p in PENALTIES},
    "DP-SGD": {f"{rate:g}": dp_sgd(rate) for rate in RATES},
    "pydpmc Newton": {"": ours(dp.Newton)},
    "pydpmc DPVI": {"": ours(dp.DPVI)},
    "pydpmc SGLD": {"": ours(dp.SGLD)},
    "pydpmc, default call": {"": ours(lambda: None)},
}


def one_run(fit: Fit, table: str, epsilon: float, run: int) -> dict[str, float | None]:
    """Return accuracy and log loss on what was not drawn, error of the coefficients, coverage and width."""
    x, y, truth = population(table)
    rng = np.random.default_rng([run, 16])
    drawn = rng.integers(0, len(y), len(y))
    rest = np.ones(len(y), dtype=bool)
    rest[drawn] = False
    theta, low, high = fit(x[drawn], y[drawn], epsilon, rng)
    eta = x[rest] @ theta
    p = np.clip(expit(eta), LEAST_P, 1.0 - LEAST_P)
    loss = -np.mean(np.where(y[rest] == 1.0, np.log(p), np.log1p(-p)))
    found: dict[str, float | None] = {
        "accuracy": round(float(((eta > 0) == (y[rest] == 1.0)).mean()), 5),
        "loss": round(float(loss), 5),
        "error": round(float(math.sqrt(np.mean((theta - truth) ** 2))), 4),
        "coverage": None,
        "width": None,
    }
    if low is not None and high is not None:
        found["coverage"] = round(float(((low <= truth) & (truth <= high)).mean()), 4)
        found["width"] = round(float(np.mean(high - low)), 4)
    return found


@lru_cache(maxsize=4)
def population(table: str) -> tuple[Floats, Floats, Floats]:
    x, y = TABLES[table]()
    return x, y, erm.minimiser(x, y, PENALTY)


def measure(tables: list[str], methods: list[str], runs: int) -> None:
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    if "diffprivlib" in methods and (reason := missing_diffprivlib()):
        print(f"diffprivlib is not run: {reason}", flush=True)
        methods = [method for method in methods if method != "diffprivlib"]
    for run, table in itertools.product(range(runs), tables):
        for method in methods:
            for epsilon in EPSILONS if method != "without privacy" else (math.inf,):
                where = results.setdefault(table, {}).setdefault(method, {}).setdefault(f"{epsilon:g}", {})
                for constant, fit in METHODS[method].items():
                    cell = where.setdefault(constant, [])
                    if len(cell) == run:
                        cell.append(one_run(fit, table, epsilon, run))
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(f"{table}: run {run} done", flush=True)


def missing_diffprivlib() -> str | None:
    try:
        importlib.import_module("diffprivlib.models")
    except ImportError as error:
        return str(error)
    return None


def best(cell: dict[str, list[dict[str, float]]]) -> list[dict[str, float]]:
    """Return the runs with the constant of the best mean accuracy."""
    return max(cell.values(), key=lambda found: float(np.mean([run["accuracy"] for run in found])))


def shown(runs: list[dict[str, float]], name: str) -> str:
    """Return a mean and its standard error; of coverage also how many runs had intervals, if not all had."""
    values = [run[name] for run in runs if run[name] is not None]
    if not values:
        return "none"
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {error:.3f}" + ("" if len(values) == len(runs) else f" ({len(values)} runs)")


def print_table() -> None:
    found = json.loads(RESULTS.read_text())
    for table in (t for t in TABLES if t in found):
        x, y, _ = population(table)
        for name, what in (("accuracy", "accuracy"), ("error", "error of a coefficient"), ("coverage", "coverage")):
            print(f"\n| {table}, {len(y):,} x {x.shape[1]}: {what} | " + " | ".join(f"{e:g}" for e in EPSILONS) + " |")
            print("|---" * (len(EPSILONS) + 1) + "|")
            for method in (m for m in METHODS if m in found[table]):
                cells = found[table][method]
                if name == "coverage" and all(run["coverage"] is None for c in cells.values() for run in best(c)):
                    continue
                of = [best(cells.get(f"{e:g}") or cells["inf"]) for e in EPSILONS]
                print(f"| {method} | " + " | ".join(shown(runs, name) for runs in of) + " |")


def plot(path: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found = json.loads(RESULTS.read_text())
    figure, axes = plt.subplots(2, len(found), figsize=(3.2 * len(found), 5.6), constrained_layout=True, squeeze=False)
    for k, (table, methods) in enumerate(found.items()):
        for method in (m for m in METHODS if m in methods):
            cells = [best(methods[method].get(f"{e:g}") or methods[method]["inf"]) for e in EPSILONS]
            for axis, name in zip(axes[:, k], ("accuracy", "error"), strict=True):
                axis.plot(EPSILONS, [np.mean([run[name] for run in runs]) for runs in cells], "o-", label=method)
        for axis, name in zip(axes[:, k], ("accuracy", "error of a coefficient"), strict=True):
            axis.set(xscale="log", xlabel="epsilon", ylabel=name, title=table)
        axes[1, k].set(yscale="log")
    axes[0, 0].legend(fontsize=6)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--plot", metavar="PATH")
    given = parser.parse_args()
    if given.table:
        print_table()
    elif given.plot:
        plot(given.plot)
    else:
        measure(given.tables, given.methods, given.runs)
