"""``pydpmc plan``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "plan",
        help="decide and price a study without touching its data",
        description="Prints what a study file would run, what it would cost, and what to expect of it. "
        "The data file is not opened.",
    )
    parser.add_argument("study", type=Path, help="a TOML file; `pydpmc init` writes one")
    parser.add_argument("--compare", action="store_true", help="print every sampler that is proven for the model")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Print the plan."""
    from .study import read_study

    study = read_study(arguments.study)
    print(study.schema)
    print()
    print(study.compare() if arguments.compare else study.plan())
