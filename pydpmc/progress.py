"""A progress bar for runs longer than two seconds, fed only with public numbers."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

PATIENCE = 2.0


class Progress:
    """Shows steps done once a run has taken `PATIENCE` seconds; silent before that, or if not wanted."""

    def __init__(self, chains: int, steps: int, wanted: bool) -> None:
        self._label = f"{chains} chain{'s' if chains > 1 else ''}"
        self._steps, self._wanted = steps, wanted
        self._started = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int) -> None:
        """Show that `done` steps of each chain are done."""
        if not self._wanted or (self._bar is None and time.perf_counter() - self._started < PATIENCE):
            return
        if self._bar is None:
            self._open()
        rate = done / (time.perf_counter() - self._started)
        self._bar.update(self._task, completed=done, rate=f"{rate:,.0f} steps/s")

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(self._label, total=self._steps, rate="")
        self._bar.start()
