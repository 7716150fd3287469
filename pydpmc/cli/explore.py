"""``pydpmc explore``."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explore",
        help="write a page with sliders: what each epsilon would buy",
        description="Writes one HTML page with sliders for epsilon, delta and the number of records: what an attacker "
        "could learn, how wide intervals would be, which sampler would run and how long. The data file is not opened, "
        "and the page loads nothing from elsewhere.",
    )
    parser.add_argument("study", type=Path, help="a TOML file; `pydpmc init` writes one")
    parser.add_argument("--out", type=Path, default=Path("explore.html"), help="the page, explore.html by default")
    parser.add_argument("--overwrite", action="store_true", help="replace the page if it exists")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Write the page."""
    from ..errors import InvalidArgument
    from .study import read_study

    if arguments.out.exists() and not arguments.overwrite:
        raise InvalidArgument(f"{arguments.out} exists; remove it, or pass --overwrite")
    study = read_study(arguments.study)
    told = _tell if sys.stderr.isatty() else None
    study.compare().explore(arguments.out, title=study.output.get("title"), told=told)
    if told is not None:
        print(file=sys.stderr)
    print(f"wrote {arguments.out}; open it in a browser")


def _tell(done: int, of: int) -> None:
    print(f"\r{done} of {of} settings planned", end="", file=sys.stderr, flush=True)
