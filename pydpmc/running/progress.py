"""One line per chain for runs longer than two seconds: bars in terminals and notebooks, plain lines in logs.

It shows only public numbers. If the number of records is private, it shows no speed and no remaining time, because the
duration of a step depends on that number. (No guarantee covers an observer who times the lines.)
"""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from types import TracebackType
from typing import Any

PATIENCE = 2.0  # seconds before anything is shown
LOG_INTERVAL = 10.0  # seconds between lines in a log
LONG = 20.0  # seconds of a run that are said before it starts
MOST_LINES = 16  # chains go forward together: more of them share one line


class Progress:
    """Shows steps done and, if `timed`, their speed and the time left once a run has taken `PATIENCE` seconds.

    Without `timed` a log gets a line at every quarter of the steps, whether that takes seconds or days.

    Examples
    --------
    >>> with Progress(chains=2, steps=100, wanted=False) as progress:
    ...     progress.update(50)
    """

    def __init__(
        self, chains: int, steps: int, wanted: bool, done: int = 0, timed: bool = True, unit: str = "steps"
    ) -> None:
        together = chains > MOST_LINES
        self._labels = [f"{chains} chains"] if together else [f"chain {k + 1}" for k in range(chains)]
        if unit != "steps":
            self._labels = ["rehearsal"]
        self._unit = unit
        self._steps, self._wanted, self._first, self._timed = steps, wanted, done, timed
        self._started = time.perf_counter()
        self._lines: _Bars | _LogLines | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lines is not None:
            self._lines.close()

    def update(self, done: int) -> None:
        """Show that `done` steps of each chain are done."""
        elapsed = time.perf_counter() - self._started
        if not self._wanted or (self._timed and self._lines is None and elapsed < PATIENCE):
            return
        if self._lines is None:
            self._lines = _lines(self._labels, self._steps, self._timed, self._unit)
        rate = (done - self._first) / max(elapsed, 1e-9)
        self._lines.show(done, speed_and_time(rate, self._steps - done, self._unit) if self._timed else "")


def speed_and_time(rate: float, left: int, unit: str = "steps") -> str:
    """Return steps (or whatever is counted) per second and the time left, for a person.

    Examples
    --------
    >>> speed_and_time(1234.5, 7000), speed_and_time(0.25, 1000)
    ('1,234 steps/s, 0:00:06 left', '0.25 steps/s, 1:06:40 left')
    """
    speed = f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
    seconds = round(left / rate) if rate > 0 else 0
    return f"{speed} {unit}/s, {seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} left"


def say_long(seconds: float | None, memory: float | None, threads: int) -> None:
    """Print the forecast time and memory of a run that takes longer than `LONG` seconds on so many threads.

    Examples
    --------
    >>> say_long(3.0, 1e6, 1)
    """
    if seconds is None or memory is None or seconds / threads <= LONG:
        return
    cores = "one core" if threads == 1 else f"{threads} cores"
    print(
        f"this run is forecast to take about {seconds / threads:,.0f} s on {cores} and {memory / 2**20:,.0f} MiB of "
        "memory (Ctrl-C stops it; the whole budget is charged at its start)",
        file=sys.stderr,
    )


def say_resumed(checkpoint: Any, done: int, steps: int) -> None:
    """Print that a run continues from a checkpoint."""
    print(
        f"resuming from {checkpoint}: {done:,} of {steps:,} steps are done; nothing is charged again", file=sys.stderr
    )


def _lines(labels: list[str], steps: int, timed: bool, unit: str) -> _Bars | _LogLines:
    from rich.console import Console

    console = Console(stderr=True)
    drawable = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    return _Bars(console, labels, steps) if drawable else _LogLines(labels, steps, timed, unit)


class _Bars:
    def __init__(self, console: Any, labels: list[str], steps: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
        )
        self._bars = Progress(*columns, console=console)
        self._tasks = [self._bars.add_task(label, total=steps, note="") for label in labels]
        self._bars.start()

    def show(self, done: int, note: str) -> None:
        for task in self._tasks:
            self._bars.update(task, completed=done, note=note)

    def close(self) -> None:
        self._bars.stop()


class _LogLines:
    def __init__(self, labels: list[str], steps: int, timed: bool, unit: str) -> None:
        self._labels, self._steps, self._timed, self._unit = labels, steps, timed, unit
        self._next, self._unseen = 0.0, ""

    def show(self, done: int, note: str) -> None:
        if not self._timed:
            self._show_quarters(done)
            return
        self._unseen = f"{done:,} of {self._steps:,} {self._unit}, {note}"
        if time.perf_counter() >= self._next:
            self._next = time.perf_counter() + LOG_INTERVAL
            self.close()

    def _show_quarters(self, done: int) -> None:
        """Show each passed quarter of the steps and no other number: the size of a chunk depends on its duration."""
        for quarter in range(int(self._next) + 1, 4 * done // self._steps + 1):
            self._unseen = f"{-(-quarter * self._steps // 4):,} of {self._steps:,} steps"
            self._next = quarter
            self.close()

    def close(self) -> None:
        if self._unseen:
            print("\n".join(f"{label}: {self._unseen}" for label in self._labels), file=sys.stderr, flush=True)
        self._unseen = ""
