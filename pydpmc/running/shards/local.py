"""The cells of a table in this process: the same sums as at workers, one cell after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...data.cells import cuts, part_of
from ...data.data import Data
from .cell import CellSums, Sums


class LocalCells:
    """Answers from cells in this process."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self.cells, self.units = data._cells, data.public.n
        self.firsts = [low for low, high in cuts(self.units, self.cells) if low < high]

    def start(self, make: Any, task: Mapping[str, Any], keys: Sequence[bytes] | None) -> LocalSession:
        """Prepare all cells for what will be asked."""
        made = []
        for k, units in enumerate(cuts(max(1, self.units), self.cells)):
            part = part_of(self._data, units)
            if part is not None:
                made.append(make(part, task, units[0], None if keys is None else keys[k]))
        return LocalSession(made)


class LocalSession:
    """What is asked of all cells, step by step."""

    def __init__(self, cells: list[CellSums]) -> None:
        self._cells = cells

    def ask(self, wanted: Mapping[str, Any], threads: int) -> Sums:
        """Return the sums over all cells."""
        total = self._cells[0](wanted, threads)
        for cell in self._cells[1:]:
            total += cell(wanted, threads)
        return np.asarray(total)
