"""``pydpmc report``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report",
        help="write the report of a saved posterior",
        description="Writes one self-contained HTML page that explains a saved posterior and its guarantee.",
    )
    parser.add_argument("posterior", type=Path, help="a .npz or .nc file that pydpmc saved")
    parser.add_argument("-o", "--output", type=Path, help="default: the same name with .html")
    parser.add_argument("--title", help="heading of the page")
    parser.add_argument("--study", type=Path, help="the study file, to show the columns as they were declared")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Write the page."""
    from ..data.schema import Schema
    from ..posterior.posterior import Posterior

    output = arguments.output or arguments.posterior.with_suffix(".html")
    schema = None if arguments.study is None else Schema.from_toml(arguments.study)
    Posterior.load(arguments.posterior).report(output, title=arguments.title, schema=schema)
    print(f"wrote {output}")
