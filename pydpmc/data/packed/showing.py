"""The progress of a pass over a table that is being packed.

The number of rows is private under ``add_remove``, and so is the number of rows of a grouped table. Then only shares of
the work are shown, at every quarter, without a speed.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType

PATIENCE, LOG_INTERVAL = 2.0, 10.0  # seconds before anything is shown, and between lines


class RowsShown:
    """Shows rows and rows per second, or shares alone.

    Examples
    --------
    >>> with RowsShown(100, "nothing") as shown:
    ...     shown.add(50)
    """

    def __init__(self, rows: int | None, what: str) -> None:
        self._rows, self._what = rows, what
        self._done, self._quarter = 0, 0
        self._started = time.perf_counter()
        self._next = self._started + PATIENCE

    def __enter__(self) -> RowsShown:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._what == "shares" and self._rows is not None:
            self._say_quarters(4)  # also of a table without rows

    def add(self, rows: int) -> None:
        """Note that so many rows more are packed."""
        self._done += rows
        if self._what == "rows" and time.perf_counter() >= self._next:
            self._next = time.perf_counter() + LOG_INTERVAL
            rate = self._done / (time.perf_counter() - self._started)
            of = "" if self._rows is None else f" of {self._rows:,}"
            left = "" if self._rows is None else f", {_time(round((self._rows - self._done) / rate))} left"
            _say(f"packing records: {self._done:,}{of} rows, {rate:,.0f} rows/s{left}")
        elif self._what == "shares" and self._rows:
            self._say_quarters(min(4, 4 * self._done // self._rows))

    def _say_quarters(self, done: int) -> None:
        while self._quarter < done:
            self._quarter += 1
            _say(f"packing records: {25 * self._quarter} % done")


def _time(seconds: int) -> str:
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
