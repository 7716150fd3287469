"""The command line: ``pydpmc demo``, ``pydpmc ledger``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __version__
from .errors import PydpmcError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pydpmc", description="Bayesian posteriors with a differential-privacy guarantee."
    )
    parser.add_argument("--version", action="version", version=f"pydpmc {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    commands.add_parser(
        "demo",
        help="a private posterior on a data set made on the spot, beside the true values",
        description="Makes a data set, plans a run within epsilon = 1, delta = 1e-6, runs it, and compares.",
    )
    ledger = commands.add_parser("ledger", help="what was spent on a data set, and what is left")
    ledger.add_argument("page", choices=("show", "history", "verify"), help="what to print, after checking the file")
    ledger.add_argument("file", help="the ledger")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.command == "ledger":
            from .ledger import Ledger
            from .ledger_page import PAGES

            print(PAGES[asked.page](Ledger(asked.file)))
        else:
            from .demo import demo

            demo()
    except PydpmcError as error:
        print(f"pydpmc: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
