"""What the scripts of this folder share: figures kept in JSON as they come, tables in markdown, the command line.

A script has `measure(kept, options)`, which runs what `kept.found` lacks and calls `kept.save()` after each figure, and
`tables(found)`, which turns the JSON into the rows of its page in docs/papers. `--quick` keeps nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Found = dict[str, Any]


class Results:
    """The figures of one script: read from the JSON file beside it, and written as they come."""

    def __init__(self, script: str, quick: bool = False) -> None:
        self.path = Path(script).with_suffix(".json")
        self.quick = quick
        self.found: Found = json.loads(self.path.read_text()) if self.path.is_file() and not quick else {}

    def save(self) -> None:
        if not self.quick:
            self.path.write_text(json.dumps(self.found, indent=1) + "\n")

    def fill(self, name: str, make: Callable[[], object]) -> None:
        """Compute one figure unless it is there."""
        if name not in self.found:
            self.found[name] = make()
            self.save()

    def repeat(self, cell: list[float], runs: int, make: Callable[[int], float], name: str) -> None:
        """Add runs to a cell until it has enough of them."""
        while len(cell) < runs:
            cell.append(round(make(len(cell)), 5))
            print(f"{name}, run {len(cell)}: {cell[-1]:.4f}", flush=True)
            self.save()


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    return [line.replace("|  |", "| |") for line in lines + ["| " + " | ".join(row) + " |" for row in rows]]


def mean_and_error(runs: Sequence[float], digits: int = 3) -> str:
    """Return the mean and its standard error over runs."""
    values = np.asarray(runs)
    if len(values) < 2:
        return f"{values.mean():.{digits}f}"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / len(values) ** 0.5:.{digits}f}"


def picture(path: Path, draw: Callable[[Any], Any], **options: Any) -> None:
    """Draw into a new figure without a display, and save it; `options` are those of `plt.subplots`."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(constrained_layout=True, **options)
    draw(axes)
    figure.savefig(path, dpi=90)


def command(
    script: str,
    doc: str | None,
    measure: Callable[[Results, argparse.Namespace], None],
    tables: Callable[[Found], Iterable[str]],
    plot: Callable[[Found, Path], None] | None = None,
    arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
) -> None:
    """Run a script: --table prints its JSON, --plot draws it, --quick runs small sizes and prints what they give."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is kept")
    parser.add_argument("--table", action="store_true", help="print what is kept")
    parser.add_argument("--plot", metavar="DIRECTORY", help="draw what is kept (matplotlib)")
    arguments(parser)
    options = parser.parse_args()
    kept = Results(script, options.quick)
    if options.plot and plot is not None:
        plot(kept.found, Path(options.plot))
    else:
        if not options.table:
            measure(kept, options)
        print("\n".join(tables(kept.found)))
