"""The command line. Each command is a module of ``pydpmc.cli``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .._version import __version__
from ..checks import visible
from ..errors import BudgetError, PydpmcError
from . import ALL

EXIT_CODES = """\
exit codes: 0 done; 1 refused, the message says why; 2 wrong arguments; 3 the budget does not pay for it; 130 stopped
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="pydpmc", description="Bayesian posteriors with a differential-privacy guarantee.", epilog=EXIT_CODES
    )
    top.add_argument("--version", action="version", version=f"pydpmc {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    for command in ALL:
        command.add(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    chosen = parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except KeyboardInterrupt:
        return 130
    except BudgetError as error:
        return _refused(error, 3)
    except (PydpmcError, ValueError, TypeError, OSError) as error:
        return _refused(error, 1)
    return 0


def _refused(error: Exception, code: int) -> int:
    lines = (visible(line) for line in str(error).split("\n"))  # it may name a column of a stranger's file
    print("pydpmc: " + "\n".join(lines), file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
