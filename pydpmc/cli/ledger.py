"""``pydpmc ledger``."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..errors import LedgerError


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "ledger",
        help="make a ledger; what was spent on a data set, and what is left",
        description="A ledger is the budget of one data set, in one file or one PostgreSQL database. "
        "`create` makes it, once, with --epsilon and --delta; `ledger = ...` under [run] of a study charges it; the "
        "other pages check it and print it.",
    )
    parser.add_argument("page", choices=("create", "show", "history", "verify"), help="what to do")
    parser.add_argument("file", help="the ledger: a file, or postgresql://user@host/database?ledger=NAME")
    parser.add_argument("--epsilon", type=float, help="of everything that will ever be released of the data set")
    parser.add_argument("--delta", type=float, help="likewise; well below one over the number of records")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Make a ledger, or print a page of one."""
    from ..ledger.ledger import Ledger
    from ..ledger.page import PAGES

    making, budget = arguments.page == "create", (arguments.epsilon, arguments.delta)
    if not making and budget != (None, None):
        raise LedgerError("--epsilon and --delta belong to `pydpmc ledger create`; a budget cannot be changed")
    if making and None in budget:
        raise LedgerError("--epsilon and --delta must be given: they are the budget of all releases together")
    if making:
        ledger = Ledger(arguments.file, epsilon=arguments.epsilon, delta=arguments.delta)
        print(PAGES["show"](ledger))
        return
    print(PAGES[arguments.page](Ledger(arguments.file)))
