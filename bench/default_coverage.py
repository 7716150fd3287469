"""Coverage of 90 % intervals of the default call, in rehearsals at 20,000 records and five columns.

    python bench/default_coverage.py                # adds runs to default_coverage.json; stop it any time
    python bench/default_coverage.py --only coin    # one model
    python bench/default_coverage.py --again        # forgets the runs of these models first
    python bench/default_coverage.py --table        # prints what the file holds

Truths are drawn from the prior (shortened where targets would leave their bounds) and records within the declared
bounds; no data are needed. A plan that is refused is rehearsed all the same, to see whether the refusal is right.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from forecast_grid import DELTA, remember_references, setting

import pydpmc as dp

RESULTS = Path(__file__).with_suffix(".json")
N, COLUMNS, EPSILONS = 20_000, 5, (1.0, 3.0)
MODELS = ("linear, known sigma", "linear", "poisson", "softmax", "huber", "coin", "mean")
AT_ONCE, FEWEST, ENOUGH = 10, 300, 1000  # runs of a round; runs, and intervals, of a setting


def plan_of(kind: str, epsilon: float) -> Any:
    """Return the plan of the default call."""
    model, public = setting(kind, N, 1 if kind == "coin" else COLUMNS)
    return dp.plan(model, public, epsilon=epsilon, delta=DELTA)


def fill(found: dict[str, Any], file: Path, models: list[str]) -> None:
    """Rehearse round by round until every setting has enough runs and intervals."""
    remember_references()
    plans = {f"{kind}; {epsilon:g}": plan_of(kind, epsilon) for epsilon in EPSILONS for kind in models}
    todo = True
    while todo:
        todo = False
        for name, plan in plans.items():
            entry = found.setdefault(name, {"runs": 0, "intervals": 0, "covered": 0.0, "width": 0.0, "error": 0.0})
            if entry["runs"] >= FEWEST and entry["intervals"] >= ENOUGH:
                continue
            todo = True
            count = AT_ONCE * (4 if plan.settings.dim == 1 else 1)
            seen = plan.rehearse(runs=count, progress=False, seed=10_000 + entry["runs"], threads=1)
            new = count * plan.settings.dim
            total = entry["intervals"] + new
            entry["width"] += (seen.width - entry["width"]) * new / total
            entry["error"] = math.sqrt(entry["error"] ** 2 + (seen.error**2 - entry["error"] ** 2) * new / total)
            entry["covered"] += seen.coverage * new
            entry |= {"runs": entry["runs"] + count, "intervals": total, "sampler": type(plan.sampler).__name__}
            entry |= {"forecast_width": plan.outlook.width, "refused": plan.outlook.hopeless}
            file.write_text(json.dumps(found, indent=1) + "\n")
            print(line(name, entry), flush=True)


def line(name: str, entry: dict[str, Any]) -> str:
    """Return a row of the table; intervals of one run are dependent, so the error counts runs where they are few."""
    share = entry["covered"] / entry["intervals"]
    error = math.sqrt(share * (1.0 - share) / entry["intervals"])
    cells = [name, entry["sampler"], f"{100 * share:.1f} ± {100 * error:.1f} %", f"{entry['width']:.3g}"]
    cells += [f"{entry['forecast_width']:.3g}", f"{entry['error']:.3g}", str(entry["runs"]), entry["refused"] or "no"]
    return "| " + " | ".join(cells) + " |"


HEAD = "| model; epsilon | sampler | coverage | width | forecast | error | runs | refused |\n" + "|---" * 8 + "|"


def main() -> None:
    """Fill the file, or show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    found = json.loads(options.json.read_text()) if options.json.exists() else {}
    if options.again:
        found = {name: entry for name, entry in found.items() if name.split("; ")[0] not in options.only}
    if not options.table:
        fill(found, options.json, options.only)
    print("\n".join([HEAD, *(line(name, entry) for name, entry in found.items())]))


if __name__ == "__main__":
    main()
