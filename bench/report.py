"""Measure everything and write docs/benchmarks.md with its tables, plot, machine and commit: about seven minutes.

python bench/report.py [--quick] [--docs FOLDER]
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FRESH = "import time; t = time.process_time(); import pydpmc; print(time.process_time() - t)"


def machine():
    lines = Path("/proc/cpuinfo").read_text().split("\n")
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + (" with changes" if git("status", "--porcelain", "-uno") else "")


def accounting():
    """Return rows of (what, seconds) from empty caches."""
    sys.path.insert(0, str(HERE))
    from benchmarks import accounting as benchmarks
    from benchmarks import common

    found = []
    for event in benchmarks.EVENTS:
        query = benchmarks.Query()
        query.setup(event, 10**6)
        started = time.process_time()
        query.time_epsilon(event, 10**6)
        found.append((f"epsilon of 1e6 steps, {event}", time.process_time() - started))
    for name in benchmarks.Planning.params[0]:
        planning = benchmarks.Planning()
        planning.setup(name)
        common.forget()
        started = time.process_time()
        planning.time_plan(name)
        found.append((f"plan(), {name}", time.process_time() - started))
    best = min(float(subprocess.check_output([sys.executable, "-c", FRESH], cwd="/")) for _ in range(3))
    return [*found, ("import pydpmc", best)]


def growth_table(rows):
    """Return a table with a line per storage and a column per sweep."""
    sweeps, lines = (list(dict.fromkeys(row[k] for row in rows)) for k in (0, 1))
    found = {(sweep, line): f"{exponent:.2f}" for sweep, line, exponent in rows}
    head = f"| | {' | '.join(sweeps)} |\n|---|{'---:|' * len(sweeps)}"
    return "\n".join([head, *(f"| {line} | {' | '.join(found[s, line] for s in sweeps)} |" for line in lines)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the steps")
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs")
    options = parser.parse_args()
    quick = ["--quick"] if options.quick else []
    table, scaling = ([sys.executable, str(HERE / name)] for name in ("peers/table.py", "scaling.py"))
    tables = subprocess.run([*table, *quick], stdout=subprocess.PIPE, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "scaling.json"
        subprocess.run([*scaling, str(options.docs / "scaling.png"), "--json", str(figures), *quick], check=True)
        growth = json.loads(figures.read_text())["growth"]
    page = (
        (HERE / "report_template.md")
        .read_text(encoding="utf-8")
        .format(
            when=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            commit=commit(),
            machine=machine(),
            python=platform.python_version(),
            load=" ".join(f"{value:.1f}" for value in os.getloadavg()),
            tables=tables,
            growth=growth_table(growth),
            accounting="\n".join(f"| {what} | {seconds:.2f} |" for what, seconds in accounting()),
        )
    )
    (options.docs / "benchmarks.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
