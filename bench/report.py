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
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

import passes  # noqa: E402
import scale_out_page  # noqa: E402
from table import SECTIONS  # noqa: E402

FRESH = "import time; t = time.process_time(); import pydpmc; print(time.process_time() - t)"
ONE_CASE = """
import sys, time
sys.path.insert(0, {HERE!r})
from benchmarks import accounting
group, method, *params = {case!r}
bench = getattr(accounting, group)()
bench.setup(*params)
t = time.process_time()
getattr(bench, method)(*params)
print(time.process_time() - t)
"""


def machine():
    lines = Path("/proc/cpuinfo").read_text().split("\n")
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return f"{len(names)} x {names[0]}" if names else platform.processor()


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + (" with changes" if git("status", "--porcelain", "-uno") else "")


def accounting():
    """Return rows of (what, seconds): the best of three runs, each in a fresh process."""
    from benchmarks.accounting import EVENTS, PLANS, adjacencies

    cases = {f"epsilon of 1e6 steps, {event}": ("Query", "time_epsilon", event, 10**6) for event in EVENTS}
    cases |= {
        f"plan(), {name}, {adjacency}": ("Planning", "time_plan", name, adjacency)
        for name in PLANS
        for adjacency in adjacencies(name)
    }
    scripts = {what: ONE_CASE.format(HERE=str(HERE), case=case) for what, case in cases.items()}
    return [(what, fresh(script)) for what, script in {**scripts, "import pydpmc": FRESH}.items()]


def fresh(script):
    """Return the least CPU time that the script prints in three runs."""
    return min(float(subprocess.check_output([sys.executable, "-c", script], cwd="/")) for _ in range(3))


def growth_table(rows):
    """Return a table with a line per storage and a column per sweep."""
    sweeps, lines = (list(dict.fromkeys(row[k] for row in rows)) for k in (0, 1))
    found = {(sweep, line): f"{exponent:.2f}" for sweep, line, exponent in rows}
    head = f"| | {' | '.join(sweeps)} |\n|---|{'---:|' * len(sweeps)}"
    return "\n".join([head, *(f"| {line} | {' | '.join(found[s, line] for s in sweeps)} |" for line in lines)])


def run(command):
    """Return what a command prints."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the steps")
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs")
    parser.add_argument("--within", default="", help="a command that runs others, for instance on a core of their own")
    options = parser.parse_args()
    quick = ["--quick"] if options.quick else []
    measured = commit()  # before the plot is written, which would count as a change
    within = options.within.split()
    tables = "".join(
        run([*within, sys.executable, str(HERE / "peers" / "table.py"), "--only", section, *quick])
        for section in SECTIONS
    )
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        found = []
        for columns in passes.COLUMNS:
            command = [sys.executable, str(HERE / "passes.py"), "--peers", "--columns", str(columns)]
            run([*within, *command, "--json", str(figures), *(["--rounds", "2"] if options.quick else [])])
            found += json.loads(figures.read_text())
        scaling = [sys.executable, str(HERE / "scaling.py"), str(options.docs / "scaling.png"), "--json", str(figures)]
        run([*within, *scaling, *quick])
        growth = json.loads(figures.read_text())["growth"]
    page = (
        (HERE / "report_template.md")
        .read_text(encoding="utf-8")
        .format(
            when=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
            commit=measured,
            machine=machine(),
            python=platform.python_version(),
            load=" ".join(f"{value:.1f}" for value in os.getloadavg()),
            tables=tables,
            passes=passes.page(found),
            growth=growth_table(growth),
            scale_out=scale_out_page.section(),
            accounting="\n".join(f"| {what} | {seconds:.2f} |" for what, seconds in accounting()),
        )
    )
    (options.docs / "benchmarks.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
