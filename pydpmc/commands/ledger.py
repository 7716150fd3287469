"""``pydpmc ledger``."""

from __future__ import annotations

from argparse import Namespace
from typing import Any


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("ledger", help="what was spent on a data set, and what is left")
    parser.add_argument("page", choices=("show", "history", "verify"), help="what to print, after checking the file")
    parser.add_argument("file", help="the ledger")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Print a page of a ledger."""
    from ..ledger import Ledger
    from ..ledger_page import PAGES

    print(PAGES[arguments.page](Ledger(arguments.file)))
