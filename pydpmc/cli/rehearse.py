"""``pydpmc rehearse``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "rehearse",
        help="run a study on made-up records of its public shape",
        description="Runs the plan of a study file on records that are made up within its declared bounds, and prints "
        "coverage, errors and time beside the forecast. The data file is not opened and nothing is charged.",
    )
    parser.add_argument("study", type=Path, help="a TOML file; `pydpmc init` writes one")
    parser.add_argument("--runs", type=int, default=20, help="number of runs, 20 by default")
    parser.add_argument("--html", type=Path, help="also write the table to this file")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Rehearse the plan."""
    from .study import read_study

    planned = read_study(arguments.study).plan()
    result = planned.rehearse(runs=arguments.runs)
    print(result)
    print(f"\nVerdict of the plan: {planned.verdict}.")
    if arguments.html is not None:
        arguments.html.write_text(result._repr_html_() + "\n")
        print(f"wrote {arguments.html}")
