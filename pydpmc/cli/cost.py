"""``pydpmc cost``."""

from __future__ import annotations

import argparse
import ast
import re
from argparse import Namespace
from typing import Any

from ..errors import StudyError

EVENT = re.compile(r"\s*(?P<type>\w+)\s*\((?P<parameters>[^()]*)\)\s*(?:[x*]\s*(?P<count>\d+)\s*)?")
EXAMPLES = """\
examples:
  pydpmc cost "AcceptBit(shift=0.063) x 250" --delta 1e-6
  pydpmc cost "PoissonGaussian(noise_multiplier=1.1, rate=0.01) x 1000" "PureDP(epsilon=0.1)" --adjacency add_remove
  pydpmc cost "Gaussian(noise_multiplier=20) x 100" --epsilon 1
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "cost",
        help="a calculator: epsilon and delta of events used together",
        description="Composes events, each a number of times, and prints epsilon at --delta, or delta at --epsilon.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("events", nargs="*", metavar="event", help='such as "AcceptBit(shift=0.063) x 250"')
    parser.add_argument("--delta", type=float, default=1e-6, help="default: 1e-6")
    parser.add_argument("--epsilon", type=float, help="print delta at this epsilon too")
    parser.add_argument("--adjacency", choices=("replace", "add_remove"), default="replace")
    parser.add_argument("--statement", action="store_true", help="print the guarantee in words")
    parser.add_argument("--list", action="store_true", help="list the kinds of events and their parameters")
    parser.set_defaults(run=run)


def run(arguments: Namespace) -> None:
    """Print what the events cost together."""
    from .. import accounting as acc
    from ..rounding import upper

    if arguments.list:
        for kind in acc.EVENT_TYPES:
            print(f"{kind.__name__}({', '.join(_parameters(kind))})")
        return
    if not arguments.events:
        raise StudyError("event must be given, such as 'AcceptBit(shift=0.063) x 250'; --list shows the kinds")
    uses = [parsed(text) for text in arguments.events]
    guarantee = acc.compose(uses, adjacency=arguments.adjacency)
    print(f"epsilon = {upper(guarantee.epsilon(arguments.delta), 6)} at delta = {arguments.delta:g}")
    if arguments.epsilon is not None:
        print(f"delta = {upper(guarantee.delta(arguments.epsilon), 6)} at epsilon = {arguments.epsilon:g}")
    if arguments.statement:
        print(guarantee.statement(arguments.delta))


def parsed(text: str) -> tuple[Any, int]:
    """Return the event and the count of a text such as "AcceptBit(shift=0.063) x 250".

    Examples
    --------
    >>> parsed("AcceptBit(shift=0.063) x 250")
    (AcceptBit(shift=0.063), 250)
    """
    from .. import accounting as acc

    match = EVENT.fullmatch(text)
    kinds = {kind.__name__: kind for kind in acc.EVENT_TYPES}
    if match is None:
        raise StudyError(f"event {text!r} must look like 'AcceptBit(shift=0.063) x 250'")
    if match["type"] not in kinds:
        raise StudyError(f"event {text!r} is of no known kind: the kinds are {', '.join(kinds)}")
    kind = kinds[match["type"]]
    given = {}
    for part in filter(None, (p.strip() for p in match["parameters"].split(","))):
        name, _, value = part.partition("=")
        if name.strip() not in _parameters(kind):
            raise StudyError(f"event {text!r}: {kind.__name__} has the parameters {', '.join(_parameters(kind))}")
        given[name.strip()] = _value(value, text)
    try:
        return kind(**given), int(match["count"] or 1)
    except TypeError:
        raise StudyError(f"event {text!r}: {kind.__name__} needs {', '.join(_parameters(kind))}") from None


def _value(value: str, text: str) -> Any:
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        raise StudyError(f"event {text!r}: {value.strip()!r} is not a number") from None


def _parameters(kind: type) -> list[str]:
    import dataclasses

    return [field.name for field in dataclasses.fields(kind)]
