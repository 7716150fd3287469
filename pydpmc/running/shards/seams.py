"""Sums of doubles do not depend on where a table is cut: blocks that a cut goes through are summed by the driver.

Within a block of ``BLOCK`` records doubles are added in an order that the block fixes; blocks are added without
rounding. A cell sums the blocks that it holds whole. The others, at most one for each cut and the last of the table,
are seams: the driver reads their records once, before the first step. Rows travel as sums too, as every cell adds zeros
where a row is not its own; so it is checked as for other sums that each cell is counted once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...data.cells import part_of
from ...data.data import Data
from ...data.storage import copied
from ...errors import ClusterError

if TYPE_CHECKING:
    from .core import Session, ShardTarget

BLOCK = _core.density_block
BYTES_AT_ONCE = 1 << 24
Sums = npt.NDArray[np.int64]


def seams_of(cuts: Sequence[int], rows: int) -> list[int]:
    """Return the numbers of the blocks that cuts go through, or the end of a table with so many rows.

    Examples
    --------
    >>> BLOCK, seams_of([0, 1024, 3000, 3010, 5000], 4000)
    (1024, [2, 3])
    """
    return sorted({cut // BLOCK for cut in (*cuts, rows) if cut <= rows and cut % BLOCK})


class WithSeams:
    """The blocks of a cell, of which it sums those that it holds whole.

    Parameters
    ----------
    data
        The records of the cell, as the model reads them.
    first
        The place of its first record in the table.
    """

    def __init__(self, data: Data, first: int) -> None:
        self._data, self._first = data, first
        self._end = first + data.public.n
        low, high = -(-first // BLOCK) * BLOCK, self._end // BLOCK * BLOCK
        self.whole = part_of(data, (low - first, high - first))

    def rows(self, blocks: Sequence[int]) -> Sums:
        """Return the rows of some blocks, in words of eight bytes; zeros where a row is in another cell."""
        rows = np.asarray(self._data._rows)
        size = rows.shape[1] * rows.itemsize
        out = np.zeros((len(blocks), BLOCK, -(-size // 8)), dtype=np.int64)
        to = out.view(np.uint8)
        for place, block in enumerate(blocks):
            low, high = max(self._first, block * BLOCK), min(self._end, (block + 1) * BLOCK)
            if low < high:
                own = np.ascontiguousarray(rows[low - self._first : high - self._first])
                to[place, low - block * BLOCK : high - block * BLOCK, :size] = own.view(np.uint8)
        return out


class Seams:
    """The blocks that no cell holds whole, at the driver.

    Parameters
    ----------
    session
        Answers for all cells.
    target
        Says how the rows look.
    cuts, rows
        The places of the first records of all cells, and how many records are read.
    """

    def __init__(self, session: Session, target: ShardTarget, cuts: Sequence[int], rows: int) -> None:
        blocks = seams_of(cuts, rows)
        self._sums = None
        if blocks:
            held = _rows_of(session, target.template, blocks)
            count = len(held) - (BLOCK - rows % BLOCK if rows % BLOCK else 0)  # only the last block may end early
            self._sums = _core.ShardSums(target.over(copied(held[:count])))

    def added_to(self, sums: Sums, thetas: npt.NDArray[np.float64], threads: int, task: Mapping[str, Any]) -> Sums:
        """Return the sums over all records, given those over whole blocks."""
        if sums.shape != (len(thetas), thetas.shape[1] + 1, _core.exact_width):
            raise ClusterError("sums do not have the shape of what was wanted")
        if self._sums is None:
            return sums
        return sums + self._sums.density(thetas, loglik_range=task["loglik_range"], threads=threads)


def _rows_of(session: Session, template: npt.NDArray[Any], blocks: Sequence[int]) -> npt.NDArray[Any]:
    """Return the rows of blocks, one after the other."""
    size = template.shape[1] * template.itemsize
    held = np.empty((len(blocks) * BLOCK, template.shape[1]), dtype=template.dtype)
    at_once = max(1, BYTES_AT_ONCE // (BLOCK * (size + 8)))
    for first in range(0, len(blocks), at_once):
        asked = blocks[first : first + at_once]
        words = session.ask({"rows": asked}, 1)
        if words.shape != (len(asked), BLOCK, -(-size // 8)):
            raise ClusterError("rows do not have the shape of what was wanted")
        found = np.ascontiguousarray(words.view(np.uint8)[:, :, :size]).view(template.dtype)
        held[first * BLOCK : (first + len(asked)) * BLOCK] = found.reshape(-1, template.shape[1])
    return held
