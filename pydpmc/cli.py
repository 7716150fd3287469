"""The command line: ``pydpmc demo``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from . import __version__


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
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _parser().parse_args(arguments)
    from .demo import demo

    demo()
    return 0
