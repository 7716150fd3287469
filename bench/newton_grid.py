"""Coverage and width of Newton's 90 % intervals over a grid of settings, on data sets drawn anew.

    python bench/newton_grid.py                       # 10 more data sets for each setting of at most 30,000 records
    python bench/newton_grid.py --all --sets 100      # 100 more for each setting, however large
    python bench/newton_grid.py --only poisson        # settings whose name contains a word
    python bench/newton_grid.py --table               # what the file holds, as Markdown; runs nothing
    python bench/newton_grid.py --merge a.json b.json # rows of these files (of --out) in place of its own; runs nothing

Results are sums in ``newton_grid.json`` beside this file, written after every setting: each call adds data sets with a
seed that was not used before, to the settings with the fewest first. A change of the method makes old sums obsolete:
``--forget`` drops them. Width is the posterior standard deviation over that of the posterior without privacy: the
median over coefficients and data sets of a call, averaged over calls.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from newton_settings import ASKED, DEFAULTS, GRID
from newton_tables import covered, model_of, table

import pydpmc as dp

DELTA, LEVEL, DRAWS = 1e-6, 0.9, 2000
QUICK = 30_000  # most records


def one(options: dict[str, Any], model: Any, plan: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return the plan, which values were covered, and widths of their intervals over those without privacy."""
    made = table(options, rng)
    if plan is None:
        budget = {"epsilon": options["epsilon"], "delta": DELTA, "adjacency": options["adjacency"]}
        plan = dp.plan(model, made.data.public, dp.Newton(draws=DRAWS), **budget)
    inside, sd = covered(options, plan.run(made.data, progress=False), made.truth, LEVEL)
    return plan, inside, sd / made.alone


def measure(options: dict[str, Any], sets: int, seed: int) -> dict[str, Any]:
    """Return sums over new data sets of one setting."""
    model, plan, rng = model_of(options), None, np.random.default_rng([seed, abs(hash_of(name_of(options)))])
    covered, widths, start = [], [], time.process_time()
    for _ in range(sets):
        plan, inside, width = one(options, model, plan, rng)
        covered.append(inside)
        widths.append(width)
    share = np.array(covered, dtype=float)
    return {
        "sets": sets,
        "covered": share.sum(axis=0).tolist(),
        "squares": float((share.mean(axis=1) ** 2).sum()),
        "width": sets * float(np.median(widths)),
        "forecast": plan.settings.forecast(plan.model, plan.public, 1).width,
        "seconds": time.process_time() - start,
        "calls": 1,
    }


def hash_of(name: str) -> int:
    """Return a number that differs between settings and is the same in every process."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def together(before: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Return the sums of both."""
    if before is None:
        return new
    added = {key: before[key] + new[key] for key in ("sets", "squares", "width", "seconds", "calls")}
    covered = [a + b for a, b in zip(before["covered"], new["covered"], strict=True)]
    return {**added, "covered": covered, "forecast": new["forecast"]}


def figures(row: dict[str, Any]) -> dict[str, float]:
    """Return coverage with its standard error, that of the least coefficient with its own, and width."""
    sets, each = row["sets"], np.array(row["covered"]) / row["sets"]
    mean, least = float(each.mean()), float(each.min())
    return {
        "coverage": mean,
        "error": math.sqrt(max(row["squares"] / sets - mean**2, 0.0) / sets),
        "least": least,
        "least_error": math.sqrt(max(least * (1 - least), 0.25 / sets) / sets),
        "width": row["width"] / sets,
    }


def name_of(options: dict[str, Any]) -> str:
    """Return what is special about a setting."""
    shown = {key: value for key, value in options.items() if key not in DEFAULTS or value != DEFAULTS[key]}
    return json.dumps(shown)


def markdown(found: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    lines = ["| setting | data sets | coverage | least | width | forecast | asked |", "|---|---|---|---|---|---|---|"]
    every, asked = [], {name_of(options): f"{width:.2f}" for options, width in ASKED}
    for name in [name_of(each) for each in GRID if name_of(each) in found]:
        row, got = found[name], figures(found[name])
        every.append(got)
        shown = ", ".join(
            f"{key} {value:g}" if isinstance(value, int | float) else f"{value}"
            for key, value in json.loads(name).items()
        )
        cells = f"{got['coverage']:.3f} ± {got['error']:.3f} | {got['least']:.2f} ± {got['least_error']:.2f}"
        forecast = "-" if row["forecast"] is None else f"{row['forecast']:.2f}"
        lines.append(f"| {shown} | {row['sets']} | {cells} | {got['width']:.2f} | {forecast} | {asked.get(name, '')} |")
    if not every:
        return "\n".join(lines)
    near = sum(abs(got["coverage"] - 0.9) <= 0.02 + 2 * got["error"] for got in every)
    low = sum(got["least"] + 2 * got["least_error"] < 0.85 for got in every)
    mean = np.mean([got["coverage"] for got in every])
    within = f"{near} within .88 and .92 or two standard errors of it, {low} with a coefficient surely below .85"
    return "\n".join([*lines, "", f"{len(every)} settings, mean coverage {mean:.3f}: {within}."])


def merged(found: dict[str, Any], files: list[Path]) -> dict[str, Any]:
    """Return rows with those of the files in place of their own; rows that several files have are added up."""
    rows: dict[str, Any] = {}
    for file in files:
        for name, row in json.loads(file.read_text()).items():
            rows[name] = together(rows.get(name), row)
    return {**found, **rows}


def wanted(options: argparse.Namespace, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the settings to run, those with the fewest data sets first."""
    some = [each for each in GRID if (options.all or each["n"] <= QUICK) and options.only in name_of(each)]
    some = [each for each in some if found.get(name_of(each), {"sets": 0})["sets"] < options.most]
    return sorted(some, key=lambda each: found.get(name_of(each), {"sets": 0})["sets"])


def main() -> None:
    """Add data sets to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help=f"also settings with more than {QUICK:,} records")
    parser.add_argument("--only", default="", help="settings whose name contains this")
    parser.add_argument("--sets", type=int, default=10, help="data sets to add to a setting")
    parser.add_argument("--most", type=float, default=math.inf, help="leave out settings that have so many")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no setting after so many seconds of CPU")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--table", action="store_true", help="print the file and run nothing")
    parser.add_argument(
        "--merge", type=Path, nargs="+", default=[], help="take the rows of these files and run nothing"
    )
    parser.add_argument("--forget", action="store_true", help="drop what the file holds of the settings to run")
    options = parser.parse_args()
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    if options.forget:
        found = {name: row for name, row in found.items() if options.only not in name}
    if options.merge:
        found = merged(found, options.merge)
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    for each in [] if options.table or options.merge else wanted(options, found):
        if time.process_time() > options.seconds:
            break
        name = name_of(each)
        new = measure(each, options.sets, found.get(name, {"calls": 0})["calls"])
        found[name] = together(found.get(name), new)
        options.out.write_text(json.dumps(found, indent=1) + "\n")
        got = figures(found[name])
        print(f"{name}: {got['coverage']:.3f} ± {got['error']:.3f} of {found[name]['sets']}, least {got['least']:.2f}, "
              f"width {got['width']:.2f}, {new['seconds'] / options.sets:.2f} s each", flush=True)  # fmt: skip
    print(markdown(found))


if __name__ == "__main__":
    main()
