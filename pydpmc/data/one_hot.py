"""Blocks of one-hot columns as codes: short rows from which the gradient samplers sum without multiplying out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..checks import given, whole
from ..errors import InvalidArgument, WrongType
from . import storage as table
from .public import Public

Blocks = tuple[tuple[int, ...], ...]

_SMALLEST_BLOCK = 4  # docs/privacy/langevin.md counts the roundings of a predictor by it
_MOST_COLUMNS = 2**16 - 2
_CHUNK_VALUES = 2**19
BESIDES = 3  # target, |x|^2 and the value of the ones


class Coded(NamedTuple):
    """What the core takes: the rows, the columns that they hold as numbers, and how many codes follow those."""

    rows: table.Floats
    number_columns: npt.NDArray[np.int32]
    codes: int


def declared_blocks(one_hot: Sequence[Sequence[int]] | None, width: int) -> Blocks:
    """Return blocks of columns, or refuse them."""
    if one_hot is None:
        return ()
    if isinstance(one_hot, str) or not isinstance(one_hot, Sequence):
        raise WrongType(f"one_hot must be a list of lists of columns such as [[2, 3, 4]], not {given(one_hot)}")
    blocks = tuple(_block(block, width) for block in one_hot)
    taken = [column for block in blocks for column in block]
    if len(set(taken)) != len(taken):
        raise InvalidArgument("one_hot: a column belongs to one block at most")
    return blocks


def _block(block: Any, width: int) -> tuple[int, ...]:
    if isinstance(block, str) or not isinstance(block, (Sequence, range, np.ndarray)):
        raise WrongType(f"one_hot must hold lists of columns, not {given(block)}")
    return tuple(whole(column, "one_hot", least=0, most=width - 1) for column in block)


def coded_rows(stored: table.Rows, squares: table.Floats, public: Public, blocks: Blocks) -> Coded | None:
    """Return the rows with these blocks as codes, or None where that would not make them short.

    Codes come in fours; the code of no column is the number of columns.
    """
    blocks = _large_blocks(blocks, public.width)
    numbers = np.setdiff1d(np.arange(public.width), [column for block in blocks for column in block]).astype(np.int32)
    codes = (len(blocks) + 3) // 4 * 4
    at = place_of_target(len(numbers))
    stride = (at + BESIDES + codes // 4 + 3) // 4 * 4
    bytes_of_a_row = stored.shape[1] * stored.itemsize
    if not blocks or public.width > _MOST_COLUMNS or 2 * 8 * stride > bytes_of_a_row:
        return None
    rows = table.empty_rows(len(stored), stride, False, "float64")
    chunk = max(1, _CHUNK_VALUES // public.width)
    for start in range(0, len(stored), chunk):
        here = slice(start, start + chunk)
        values = table.as_doubles(stored[here], public.width, True)
        rows[here, : len(numbers)] = values[:, numbers]
        rows[here, at] = values[:, public.width]
        rows[here, at + 1] = squares[here]
        rows[here, at + 2], found = _ones_and_codes(values, blocks, public.width)
        as_codes = rows.view(np.uint16)[here, 4 * (at + BESIDES) :]
        as_codes[:, :codes] = public.width
        as_codes[:, : len(blocks)] = found
    rows.flags.writeable = False
    return Coded(rows, numbers, codes)


def place_of_target(numbers: int) -> int:
    """Return where a row that holds so many numbers has its target."""
    return (numbers + 3) // 4 * 4 if numbers >= 4 else numbers


def without_targets(coded: Coded, which: npt.NDArray[np.intp], private: table.Floats | None) -> Coded:
    """Return coded rows some of which are void: a copy, or `private`, which has the same numbers and can be changed."""
    rows = table.copied(coded.rows) if private is None else private
    rows[which, place_of_target(len(coded.number_columns))] = np.nan
    rows.flags.writeable = False
    return coded._replace(rows=rows)


def _large_blocks(blocks: Blocks, width: int) -> Blocks:
    """Leave out small blocks, and one block if there were no other column: the core wants a number."""
    large = sorted((block for block in blocks if len(block) >= _SMALLEST_BLOCK), key=len)
    return tuple(large[1:] if sum(map(len, large)) == width else large)


def not_one_hot(values: table.Floats, blocks: Blocks) -> npt.NDArray[np.bool_]:
    """Tell which rows have a block with several values, or with another than an earlier block."""
    one = np.zeros(len(values))
    wrong = np.zeros(len(values), dtype=bool)
    for block in blocks:
        here = values[:, block]
        value = here.sum(axis=1)
        several = np.count_nonzero(here, axis=1) > 1
        wrong |= several | ((value != 0.0) & (one != 0.0) & (value != one))
        one = np.where(value != 0.0, value, one)
    return wrong


def _ones_and_codes(values: table.Floats, blocks: Blocks, width: int) -> tuple[table.Floats, npt.NDArray[np.uint16]]:
    """Return the value that a row's ones have, and the column of each block that has it."""
    one = np.zeros(len(values))
    codes = np.full((len(values), len(blocks)), width, dtype=np.uint16)
    for b, block in enumerate(blocks):
        column = np.asarray(block)[(values[:, block] != 0.0).argmax(axis=1)]
        value = values[np.arange(len(values)), column]
        is_hot = value != 0.0
        one = np.where(is_hot, value, one)
        codes[is_hot, b] = column[is_hot]
    return one, codes
