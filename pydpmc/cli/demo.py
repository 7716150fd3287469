"""``pydpmc demo``."""

from __future__ import annotations

from argparse import Namespace
from typing import Any


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="compare a private posterior on synthetic data with the true values",
        description="Makes a data set, plans a run within epsilon = 1, delta = 1e-6, runs it, and compares.",
    )
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Run the demo."""
    from .demo_run import demo

    demo()
