"""``pydpmc init``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from ..errors import StudyError


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "init",
        help="write a commented study file for a table, from its column names and types only",
        description="Reads the header of a CSV file or the schema of a Parquet file, no record, and writes a study "
        "file to fill in.",
    )
    parser.add_argument("table", type=Path, help="a .csv, .csv.gz or .parquet file")
    parser.add_argument("-o", "--output", type=Path, default=Path("study.toml"), help="default: study.toml")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Write the study file; refuse to overwrite another."""
    from .template import template

    text = template(arguments.table, arguments.output)
    try:
        with arguments.output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StudyError(f"{arguments.output} exists; name another with --output") from None
    print(f'wrote {arguments.output}; fill in every "?", then: pydpmc plan {arguments.output}')
