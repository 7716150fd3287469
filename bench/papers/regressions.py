"""Logistic regression beside the peers: error and coverage over epsilon on four public tables.

python regressions.py [--runs 10]      runs what regressions.json lacks (ten minutes of CPU time)
python regressions.py --quick          one run on the two small tables, nothing is kept (a minute)
python regressions.py --table          prints what is kept
python regressions.py --plot DIRECTORY draws it (matplotlib)

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
import math
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import erm
import numpy as np
import numpy.typing as npt
from regression_tables import TABLES
from results import Found, Results, command, markdown, mean_and_error, picture
from scipy.special import expit

import pydpmc as dp
from pydpmc import accounting as acc

Floats = npt.NDArray[np.float64]
EPSILONS = (0.1, 0.3, 1.0, 3.0)
DELTA = 1e-5
SCALE = 20.0
PENALTY = SCALE**-2
PENALTIES = (0.1, 1.0, 10.0)
RATES = (1.0, 4.0)
BATCH, EPOCHS = 512, 20
LEVEL = 0.9
LEAST_P = 1e-9

Estimate = tuple[Floats, Floats | None, Floats | None]  # and ends of intervals
Fit = Callable[[Floats, Floats, float, np.random.Generator], Estimate]


def bare(theta: Floats) -> Estimate:
    return theta, None, None


def non_private(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Estimate:
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

    def fit(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Estimate:
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

    def fit(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Estimate:
        models = importlib.import_module("diffprivlib.models")
        model = models.LogisticRegression(epsilon=epsilon, data_norm=1.0, C=1.0 / penalty, fit_intercept=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x, y)
        return bare(np.asarray(model.coef_[0], dtype=float))

    return fit


def ours(make: Callable[[], object], **options: str) -> Fit:
    """Return a fit by one of our samplers, settings from the planner alone."""

    def fit(x: Floats, y: Floats, epsilon: float, rng: np.random.Generator) -> Estimate:
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


def measure(kept: Results, options: argparse.Namespace) -> None:
    methods = list(METHODS)
    if reason := missing_diffprivlib():
        print(f"diffprivlib is not run: {reason}", flush=True)
        methods.remove("diffprivlib")
    names = ("fair", "abalone") if kept.quick else tuple(TABLES)
    for run, table in itertools.product(range(1 if kept.quick else options.runs), names):
        x, y, _ = population(table)
        found = kept.found.setdefault(table, {"records": len(y), "columns": x.shape[1], "methods": {}})["methods"]
        for method in methods:
            for epsilon in EPSILONS if method != "without privacy" else (math.inf,):
                where = found.setdefault(method, {}).setdefault(f"{epsilon:g}", {})
                for constant, fit in METHODS[method].items():
                    cell = where.setdefault(constant, [])
                    if len(cell) == run:
                        cell.append(one_run(fit, table, epsilon, run))
        kept.save()
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


def at(cells: Found, epsilon: float) -> list[dict[str, float]]:
    """Return the runs at this epsilon; without privacy they are the same at all."""
    return best(cells.get(f"{epsilon:g}") or cells["inf"])


def shown(runs: list[dict[str, float]], name: str) -> str:
    """Return a mean and its standard error, and how many runs had a figure, if not all had."""
    values = [run[name] for run in runs if run[name] is not None]
    if not values:
        return "none"
    return mean_and_error(values) + ("" if len(values) == len(runs) else f" ({len(values)} runs)")


def tables(found: Found) -> list[str]:
    lines: list[str] = []
    for table, of in found.items():
        for name, what in (("accuracy", "accuracy"), ("error", "error of a coefficient"), ("coverage", "coverage")):
            rows = []
            for method in (m for m in METHODS if m in of["methods"]):
                each = [at(of["methods"][method], epsilon) for epsilon in EPSILONS]
                if name != "coverage" or any(run["coverage"] is not None for runs in each for run in runs):
                    rows.append([method, *(shown(runs, name) for runs in each), str(min(map(len, each)))])
            size = f"{table}, {of['records']:,} x {of['columns']}: {what}"
            lines += [*markdown([size, *(f"{e:g}" for e in EPSILONS), "runs"], rows), ""]
    return lines


def plot(found: Found, directory: Path) -> None:
    names = (("accuracy", "accuracy"), ("error", "error of a coefficient"))

    def draw(axes: npt.NDArray[np.object_]) -> None:
        for k, (table, of) in enumerate(found.items()):
            for axis, (name, what) in zip(axes[:, k], names, strict=True):
                for method in (m for m in METHODS if m in of["methods"]):
                    means = [np.mean([run[name] for run in at(of["methods"][method], e)]) for e in EPSILONS]
                    axis.plot(EPSILONS, means, "o-", label=method)
                axis.set(xscale="log", xlabel="epsilon", ylabel=what, title=table)
            axes[1, k].set(yscale="log")
        axes[0, 0].legend(fontsize=6)

    picture(directory / "regressions.png", draw, nrows=2, ncols=len(found), figsize=(3.2 * len(found), 5.6))


if __name__ == "__main__":
    command(
        __file__,
        __doc__,
        measure,
        tables,
        plot,
        arguments=lambda parser: parser.add_argument("--runs", type=int, default=10),
    )
