"""Forecasts against rehearsals over a grid of settings, and whether the chosen sampler was the best one.

    python bench/forecast_grid.py                     # runs what forecast_grid.json does not hold yet; stop it any time
    python bench/forecast_grid.py --again Barker      # runs all settings of a sampler again
    python bench/forecast_grid.py --only "poisson;"   # settings that begin so
    python bench/forecast_grid.py --table             # prints what the file holds
    python bench/forecast_grid.py --page              # writes docs/forecasts.md and its plot

A setting is a model, a number of records, of columns, an epsilon and a sampler that the planner would consider. Each is
planned and rehearsed: the plan runs on records made up within its declared bounds. No data are needed. A sampler whose
run is forecast to take longer than PATIENCE is left out, and so is what does not fit the memory.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

import pydpmc as dp
from pydpmc.errors import PydpmcError
from pydpmc.planning.choice import usable
from pydpmc.running import rehearsal

RESULTS = Path(__file__).with_suffix(".json")
PATIENCE = 1.5  # seconds of one run
DELTA = 1e-6
VALUES, FEWEST = 30, 3  # parameters whose errors are averaged: models with few of them are rehearsed more often
ALIKE = ("SGHMC", "SGNHT")  # the forecast of SGLD: one of the three is enough
# Under the default prior of sigma the mean of 1/sigma^2, and with it the expected error in units of the posterior
# without privacy, is infinite wherever noise does not follow sigma.
NOT_TINY = {"intercept": dp.Normal(), "beta": dp.Normal(), "sigma": dp.Normal(scale=0.2, loc=1.0)}
BASES: list[tuple[str, float, int, float]] = [
    ("logistic", 2e4, 5, 1.0),
    ("logistic", 1e3, 2, 1.0),
    ("logistic", 1e3, 2, 10.0),
    ("logistic", 1e3, 10, 3.0),
    ("logistic", 5e3, 5, 0.3),
    ("logistic", 5e3, 5, 3.0),
    ("logistic", 2e4, 1, 0.1),
    ("logistic", 2e4, 20, 1.0),
    ("logistic", 2e4, 50, 3.0),
    ("logistic", 1e5, 10, 0.3),
    ("logistic", 1e5, 100, 1.0),
    ("logistic", 1e6, 5, 0.1),
    ("logistic", 5e4, 200, 3.0),
    ("linear, known sigma", 2e4, 5, 1.0),
    ("linear, known sigma", 1e3, 2, 1.0),
    ("linear, known sigma", 5e3, 20, 3.0),
    ("linear, known sigma", 1e5, 10, 0.1),
    ("poisson", 2e4, 5, 1.0),
    ("poisson", 2e4, 2, 3.0),
    ("poisson", 1e5, 10, 1.0),
    ("huber", 2e4, 5, 1.0),
    ("huber", 1e3, 2, 3.0),
    ("huber", 1e5, 20, 0.3),
    ("softmax", 2e4, 5, 1.0),
    ("softmax", 1e5, 10, 1.0),
    ("probit", 2e4, 5, 1.0),
    ("coin", 1e3, 1, 0.1),
    ("coin", 1e5, 1, 1.0),
    ("mean", 2e4, 5, 1.0),
    ("mean", 1e3, 2, 0.3),
    ("mean", 1e5, 50, 3.0),
    ("linear", 2e4, 5, 1.0),
    ("linear", 2e4, 5, 3.0),
    ("linear", 1e5, 2, 0.3),
    ("logistic", 2e3, 3, 3.0),
    ("logistic", 5e3, 2, 1.0),
    ("linear, known sigma", 2e3, 5, 3.0),
    ("huber", 5e3, 5, 1.0),
    ("mean", 5e3, 3, 1.0),
    ("coin", 1e4, 1, 0.3),
    ("softmax", 2e3, 2, 3.0),
    ("logistic", 3e4, 100, 1.0),
    ("logistic", 1e4, 200, 10.0),
    ("linear, known sigma", 1e4, 200, 3.0),
    ("mean", 2e4, 200, 1.0),
    ("huber", 5e3, 200, 10.0),
    ("mean", 1e6, 5, 0.1),
    ("coin", 1e6, 1, 0.1),
    ("linear, known sigma", 1e6, 5, 10.0),
    ("coin", 1e3, 1, 10.0),
]


def setting(kind: str, n: float, d: int) -> tuple[Any, dp.Public]:
    """Return model and public facts; d counts the columns."""
    columns = tuple(f"x{j}" for j in range(d))

    def facts(**more: Any) -> dp.Public:
        return dp.Public(n=int(n), columns=columns, **{"has_target": True, "row_norm": 1.0, **more})

    y_bounds = {"y_bounds": (-5.0, 5.0)}
    norm = 3.0 if d <= 10 else 3.0 + 0.5 * math.sqrt(d)  # of rows with a standard deviation of 0.5 in each column
    made = {
        "logistic": lambda: (dp.LogisticRegression(intercept=True), facts()),
        "probit": lambda: (dp.ProbitRegression(intercept=True), facts()),
        "softmax": lambda: (dp.SoftmaxRegression(intercept=True, classes=4), facts()),
        "linear": lambda: (dp.LinearRegression(intercept=True, prior=NOT_TINY), facts(**y_bounds)),
        "linear, known sigma": lambda: (dp.LinearRegression(intercept=True, sigma=0.5), facts(**y_bounds)),
        "huber": lambda: (dp.HuberRegression(intercept=True, sigma=0.5), facts(**y_bounds)),
        "poisson": lambda: (dp.PoissonRegression(intercept=True), facts(y_bounds=(0.0, 20.0))),
        "coin": lambda: (dp.BernoulliLogit(), facts(has_target=False, row_norm=None)),
        "mean": lambda: (dp.GaussianMean(sigma=0.5), facts(has_target=False, row_norm=norm)),
    }
    return made[kind]()


def remember_references() -> None:
    """Compute the posterior without privacy once for all samplers of a setting: they rehearse on the same tables."""
    known: dict[Any, Any] = {}
    compute = rehearsal._without_privacy

    def remembered(plan: Any, data: Any, seed: int, threads: int | None) -> Any:
        key = (repr(plan.model), plan.public, seed)
        if key not in known:
            if len(known) > 64:
                known.clear()
            known[key] = compute(plan, data, seed, threads)
        return known[key]

    rehearsal._without_privacy = remembered


def measured(plan: Any, runs: int) -> dict[str, Any]:
    """Return what was forecast and what happened."""
    started = time.perf_counter()
    seen = plan.rehearse(runs=runs, progress=False, threads=1)
    told = plan.outlook
    return {
        "runs": runs,
        "error": [told.error, seen.error],
        "width": [told.width if math.isfinite(told.width) else None, seen.width],
        "draws": [told.effective_draws, seen.effective_draws],
        "coverage": seen.coverage,
        "hopeless": told.hopeless is not None,
        "prior_error": told.prior_error,
        "took": round(time.perf_counter() - started, 1),
    }


def _work(base: tuple[str, float, int, float]) -> float:
    """Return roughly what a setting takes: cheap ones run first."""
    return base[1] * (base[2] + 5) * (6 if base[0] == "softmax" else 1)


def fill(found: dict[str, Any], file: Path, runs: int, again: list[str], only: tuple[str, ...]) -> None:
    """Run what is missing, and write the file after each rehearsal."""
    remember_references()
    for kind, n, d, epsilon in sorted(BASES, key=_work):
        base = f"{kind}; {int(n)}; {d}; {epsilon:g}"
        if not base.startswith(only):
            continue
        entry = found.setdefault(base, {"taken": None, "samplers": {}})
        model, public = setting(kind, n, d)
        table = dp.compare(model, public, epsilon=epsilon, delta=DELTA)
        entry["taken"] = table.taken
        for one in usable(list(table.candidates)):
            if one.name in ALIKE or (one.name in entry["samplers"] and one.name not in again):
                continue
            seconds = one.outlook.seconds if one.outlook is not None else None
            if seconds is None or seconds > PATIENCE:
                entry["samplers"].setdefault(
                    one.name, {"left out": f"a run is forecast to take {seconds or 0.0:.0f} s"}
                )
                continue
            try:
                plan = dp.plan(model, public, one.sampler, epsilon=epsilon, delta=DELTA)
                entry["samplers"][one.name] = measured(plan, max(runs, VALUES // plan.settings.dim))
            except (PydpmcError, MemoryError) as error:
                entry["samplers"][one.name] = {"left out": str(error).splitlines()[0]}
            print(base, one.name, entry["samplers"][one.name], flush=True)
            file.write_text(json.dumps(found, indent=1) + "\n")
    file.write_text(json.dumps(found, indent=1) + "\n")


def pairs(found: dict[str, Any], what: str) -> list[tuple[str, str, float, float]]:
    """Return setting, sampler, forecast and rehearsed value of every rehearsal that has both."""
    made = []
    for base, entry in found.items():
        for name, one in entry["samplers"].items():
            told, seen = one.get(what) or (None, None)
            if told is not None and seen is not None and seen > 0.0:
                made.append((base, name, told, seen))
    return made


def choices(found: dict[str, Any]) -> list[tuple[str, str, float, str]]:
    """Return for each setting the sampler that was taken, its error over that of the best, and the best."""
    made = []
    for base, entry in found.items():
        errors = {name: one["error"][1] for name, one in entry["samplers"].items() if "error" in one}
        if entry["taken"] in errors and len(errors) > 1:
            best = min(errors, key=lambda name: errors[name])
            made.append((base, entry["taken"], errors[entry["taken"]] / errors[best], best))
    return made


def off(told: float, seen: float) -> float:
    """Return the factor by which a forecast is off."""
    return max(told / seen, seen / told)


def summary(found: dict[str, Any]) -> list[str]:
    """Return what the file says, in lines."""
    lines = []
    for what in ("error", "width", "draws"):
        ratios = sorted(off(told, seen) for _, _, told, seen in pairs(found, what))
        if ratios:
            near = sum(ratio <= 1.5 for ratio in ratios)
            lines.append(f"{what}: {near} of {len(ratios)} within a factor 1.5, the worst {ratios[-1]:.2f}")
    chosen = choices(found)
    if chosen:
        good = sum(ratio <= 1.25 for _, _, ratio, _ in chosen)
        lines.append(
            f"choice: {good} of {len(chosen)} within 25 % of the best, the worst {max(c[2] for c in chosen):.2f}"
        )
    return lines


def table(found: dict[str, Any]) -> list[str]:
    """Return one line for each rehearsal, the farthest off first."""
    head = (
        "| model, records, columns, epsilon | sampler | error, forecast / found | width | effective draws | coverage |"
    )
    lines = [head, "|---|---|---|---|---|---|"]
    rows = [
        (base, name, one, name == entry["taken"])
        for base, entry in found.items()
        for name, one in entry["samplers"].items()
        if "error" in one
    ]
    for base, name, one, taken in sorted(rows, key=lambda row: -off(*row[2]["error"])):
        cells = [
            " / ".join("-" if value is None else f"{value:.3g}" for value in one[key])
            for key in ("error", "width", "draws")
        ]
        lines.append(
            f"| {base} | {'**' if taken else ''}{name}{'**' if taken else ''} | "
            + " | ".join(cells)
            + f" | {100 * one['coverage']:.0f} % |"
        )
    return lines


def main() -> None:
    """Fill the file, or show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=FEWEST)
    parser.add_argument("--again", nargs="+", default=[], help="names of samplers")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of settings")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    found = json.loads(options.json.read_text()) if options.json.is_file() else {}
    warnings.simplefilter("ignore")
    if options.page:
        from forecast_page import write

        write(found)
    elif not options.table:
        fill(found, options.json, options.runs, options.again, tuple(options.only))
    print("\n".join([*table(found), "", *summary(found)]))


if __name__ == "__main__":
    main()
