"""Coverage and width of Newton's 90 % intervals over a grid of settings, on data sets drawn anew.

    python bench/newton_grid.py --quick               # n up to 20,000, 100 data sets a setting
    python bench/newton_grid.py --sets 1000           # the whole grid
    python bench/newton_grid.py --table               # what the file holds, as Markdown

Results go to ``newton_grid.json`` after every setting; a second call goes on where the first stopped. Width is the
posterior standard deviation over that of the posterior without privacy, median over coefficients and data sets.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

import pydpmc as dp

SIGMA, DELTA, LEVEL = 0.5, 1e-6, 0.9
DEFAULTS: dict[str, Any] = {
    "model": "logistic",
    "epsilon": 1.0,
    "intercept": 0.0,
    "slope": 0.5,
    "truth": "fixed",  # intercept as given, slopes of sd `slope`; or "prior": all coefficients drawn from the prior
    "scale": 2.5,
    "adjacency": "replace",
    "correlation": 0.0,
    "y_bounds": (0.0, 20.0),
}


def setting(n: float, d: int, **options: Any) -> dict[str, Any]:
    """Return a setting; d counts the intercept."""
    return {**DEFAULTS, "n": int(n), "d": d, **options}


GRID = [
    setting(2e3, 2),
    setting(2e3, 2, epsilon=0.3),
    setting(2e3, 2, truth="prior", scale=1.0, adjacency="add_remove"),
    setting(2e3, 5),
    setting(2e3, 5, epsilon=3.0),
    setting(2e3, 5, epsilon=0.3),
    setting(2e3, 5, truth="prior", scale=1.0),
    setting(2e3, 5, truth="prior"),
    setting(2e3, 12, slope=1.0),
    setting(5e3, 6, truth="prior"),
    setting(5e3, 6),
    setting(5e3, 6, adjacency="add_remove"),
    setting(2e4, 2, epsilon=0.3),
    setting(2e4, 5, epsilon=0.3),
    setting(2e4, 5, correlation=0.9),
    setting(2e4, 5, intercept=-4.6, slope=0.3, epsilon=3.0),
    setting(2e4, 5, truth="prior"),
    setting(2e4, 12),
    setting(2e4, 12, slope=1.0, adjacency="add_remove"),
    setting(2e4, 12, correlation=0.9, slope=0.3),
    setting(2e4, 12, truth="prior", scale=1.0),
    setting(2e4, 12, truth="prior", epsilon=3.0),
    setting(2.6e4, 12, intercept=-3.0),
    setting(2.6e4, 12, intercept=-3.0, epsilon=3.0),
    setting(2.6e4, 12, intercept=-4.8),
    setting(2e4, 30, slope=0.3, intercept=-1.0),
    setting(2e4, 30, slope=1.0, intercept=-1.0),
    setting(2e3, 5, model="linear", slope=1.0),
    setting(5e3, 6, model="linear"),
    setting(2e4, 12, model="linear", slope=1.0, epsilon=0.3),
    setting(2e4, 12, model="linear", slope=1.0, adjacency="add_remove"),
    setting(2e3, 12, model="linear", truth="prior", scale=1.0, correlation=0.9),
    setting(2e4, 5, model="poisson", slope=0.3),
    setting(2e4, 12, model="poisson", slope=0.3, adjacency="add_remove", epsilon=3.0),
    setting(2e4, 5, model="huber", slope=1.0),
    setting(2e4, 12, model="huber"),
    setting(2e3, 2, model="huber", adjacency="add_remove"),
    setting(2e4, 5, model="probit"),
    setting(2e4, 12, model="probit", slope=0.3, intercept=-1.5),
    setting(2e4, 5, model="negative binomial", slope=0.3),
    setting(6e4, 50),
    setting(6e4, 50, slope=1.0),
    setting(2e5, 6, intercept=-1.0),
    setting(2e5, 12, epsilon=0.3, intercept=-3.0),
    setting(2e5, 30, slope=1.0),
    setting(2e5, 5, epsilon=0.3, intercept=-4.6),
    setting(2e5, 12, model="linear", slope=1.0),
    setting(2e5, 12, model="poisson", slope=0.3),
]
QUICK = 30_000  # most records


def model_of(options: dict[str, Any]) -> Any:
    """Return the model of a setting, or None if this version has none."""
    prior = dp.Normal(scale=options["scale"])
    both = {"intercept": prior, "beta": prior}
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "logistic": ("LogisticRegression", {}),
        "linear": ("LinearRegression", {"sigma": SIGMA}),
        "poisson": ("PoissonRegression", {}),
        "huber": ("HuberRegression", {"sigma": SIGMA}),
        "probit": ("ProbitRegression", {}),
        "negative binomial": ("NegativeBinomialRegression", {"dispersion": 0.3}),
    }
    name, constants = kinds[options["model"]]
    kind = getattr(dp, name, None)
    return None if kind is None else kind(prior=both, intercept=True, **constants)


def outcomes(model: str, eta: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return outcomes, and each record's information about its predictor."""
    from scipy.special import expit, ndtr

    n, mean = len(eta), np.exp(np.minimum(eta, 20.0))
    if model == "logistic":
        return (rng.random(n) < expit(eta)).astype(float), expit(eta) * expit(-eta)
    if model == "probit":
        share = np.clip(ndtr(eta), 1e-12, 1 - 1e-12)
        return (rng.random(n) < share).astype(float), np.exp(-eta * eta) / (2 * math.pi * share * (1 - share))
    if model == "linear":
        return eta + SIGMA * rng.normal(size=n), np.full(n, SIGMA**-2)
    if model == "huber":
        return eta + SIGMA * huber_errors(n, 1.345, rng), np.full(n, 0.71 * SIGMA**-2)
    if model == "poisson":
        return rng.poisson(mean).astype(float), mean
    return rng.negative_binomial(1 / 0.3, 1 / (1 + 0.3 * mean)).astype(float), mean / (1 + 0.3 * mean)


def huber_errors(n: int, c: float, rng: np.random.Generator) -> Any:
    """Return errors from the density exp(-huber)."""
    from scipy.special import ndtr, ndtri

    inside = math.sqrt(2 * math.pi) * (2 * ndtr(c) - 1)
    tails = 2 / c * math.exp(-c * c / 2)
    middle = ndtri(ndtr(-c) + rng.random(n) * (2 * ndtr(c) - 1))
    tail = (c + rng.exponential(1 / c, n)) * np.sign(rng.random(n) - 0.5)
    return np.where(rng.random(n) < inside / (inside + tails), middle, tail)


def features(options: dict[str, Any], rng: np.random.Generator) -> Any:
    """Return columns in [-1, 1], with one common factor if they are correlated."""
    n, columns, share = options["n"], options["d"] - 1, options["correlation"]
    x = rng.uniform(-1, 1, size=(n, columns))
    if not share:
        return x
    return np.clip(math.sqrt(share) * rng.uniform(-1, 1, size=(n, 1)) + math.sqrt(1 - share) * x, -1, 1)


def one(options: dict[str, Any], model: Any, plan: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return the plan, which coefficients were covered, and their widths over those without privacy."""
    x = features(options, rng)
    truth = np.append(options["intercept"], options["slope"] * rng.normal(size=options["d"] - 1))
    if options["truth"] == "prior":
        truth = options["scale"] * rng.normal(size=options["d"])
    y, information = outcomes(options["model"], truth[0] + x @ truth[1:], rng)
    facts = {"y_bounds": options["y_bounds"]} if options["model"] in ("poisson", "negative binomial") else {}
    data = dp.Data(x, y, x_bounds=(-1, 1), public_n=options["n"], **facts)
    if plan is None:
        budget = {"epsilon": options["epsilon"], "delta": DELTA, "adjacency": options["adjacency"]}
        plan = dp.plan(model, data.public, dp.Newton(draws=2000), **budget)
    rows = list(plan.run(data, progress=False).interval(LEVEL).rows.values())
    low, high, se = (np.array([row[name] for row in rows]) for name in ("low", "high", "se"))
    z = np.column_stack([np.ones(options["n"]), x])
    alone = np.linalg.inv((z * information[:, None]).T @ z + np.eye(options["d"]) / options["scale"] ** 2)
    return plan, (low < truth) & (truth < high), se / np.sqrt(np.diag(alone))


def measure(options: dict[str, Any], sets: int, seed: int) -> dict[str, Any] | None:
    """Return coverage and width of one setting."""
    model, plan, rng = model_of(options), None, np.random.default_rng(seed)
    if model is None:
        return None
    covered, widths, start = [], [], time.process_time()
    for _ in range(sets):
        plan, inside, width = one(options, model, plan, rng)
        covered.append(inside)
        widths.append(width)
    share = np.array(covered, dtype=float)
    forecast = plan.settings.forecast(plan.model, plan.public, 1)
    return {
        "sets": sets,
        "coverage": float(share.mean()),
        "error": float(share.mean(axis=1).std() / math.sqrt(sets)),
        "least": float(share.mean(axis=0).min()),
        "width": float(np.median(widths)),
        "forecast": forecast.width,
        "seconds": round(time.process_time() - start, 1),
    }


def name_of(options: dict[str, Any]) -> str:
    """Return what is special about a setting."""
    shown = {key: value for key, value in options.items() if key not in DEFAULTS or value != DEFAULTS[key]}
    return json.dumps(shown)


def table(found: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    lines = ["| setting | data sets | coverage | least | width | forecast |", "|---|---|---|---|---|---|"]
    for name, row in found.items():
        shown = ", ".join(
            f"{key} {value:g}" if not isinstance(value, str) else value for key, value in json.loads(name).items()
        )
        figures = f"{row['coverage']:.3f} +- {row['error']:.3f} | {row['least']:.2f} | {row['width']:.2f}"
        lines.append(f"| {shown} | {row['sets']} | {figures} | {row['forecast']:.2f} |")
    mean = np.mean([row["coverage"] for row in found.values()]) if found else math.nan
    return "\n".join([*lines, "", f"{len(found)} settings, mean coverage {mean:.3f}"])


def main() -> None:
    """Run what is not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"settings with at most {QUICK:,} records")
    parser.add_argument("--sets", type=int, default=100, help="data sets a setting")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no setting after so many seconds of CPU")
    parser.add_argument("--out", type=Path, default=Path("newton_grid.json"))
    parser.add_argument("--table", action="store_true", help="print the file and run nothing")
    options = parser.parse_args()
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    for k, each in enumerate(GRID):
        name = name_of(each)
        if options.table or name in found or (options.quick and each["n"] > QUICK):
            continue
        if time.process_time() > options.seconds:
            break
        row = measure(each, options.sets, options.seed + k)
        if row is None:
            print(f"{name}: no such model in this version", flush=True)
            continue
        found[name] = row
        options.out.write_text(json.dumps(found, indent=1))
        print(name, row, flush=True)
    print(table(found))


if __name__ == "__main__":
    main()
