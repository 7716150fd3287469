"""A file of packed records as `Data`: mapped into memory, checked once, refused if it is not as it was written."""

from __future__ import annotations

import hmac
import mmap
import os
import weakref
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ... import _core
from ..._files import open_itself
from ...errors import CacheError, MissingFile, PydpmcError, UnusableFile
from .. import storage as table
from ..data import Data
from ..one_hot import BESIDES, Coded, coded_rows, declared_blocks, not_one_hot, place_of_target
from ..public import Public
from ..schema import Schema
from .layout import ARRAYS, PAGE, damaged, digest_of, read_header

CHUNK_VALUES = 2**19
NORM_ROUNDING = 1.0 + 1e-12
FIXED16_ERROR, RELATIVE_ERROR = 2.0**-14, 1e-6  # of a stored feature: more than its rounding


class Mapping:
    """A file mapped into memory, for reading, and privately for writing where records must be marked as void."""

    def __init__(self, file: BinaryIO, header: dict[str, Any], digest: str) -> None:
        self.header, self.digest = header, digest
        file.flush()
        self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)
        self._shared = mmap.mmap(self._file, 0, access=mmap.ACCESS_READ)

    def array(self, name: str, private: bool = False) -> Any:
        """Return an array of the file, or None; a private one can be changed, and its changed pages are in memory."""
        if name not in self.header["arrays"]:
            return None
        offset, dtype, shape = self.header["arrays"][name]
        whole = mmap.mmap(self._file, 0, access=mmap.ACCESS_COPY) if private else self._shared
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(whole, dtype=dtype, count=count, offset=offset).reshape(shape)

    def advise(self, all_in_order: bool) -> None:
        """Tell the kernel whether rows will be read in order, so that it reads ahead, or at random."""
        if hasattr(self._shared, "madvise") and hasattr(mmap, "MADV_SEQUENTIAL"):
            self._shared.madvise(mmap.MADV_SEQUENTIAL if all_in_order else mmap.MADV_RANDOM)


def open_packed(path: Path, name: str = "cache") -> Data:
    """Return the records of a file; refuse one that is truncated, changed or of another kind."""
    if not path.exists():
        raise MissingFile(f"{name}: there is no file {str(path)!r}")
    try:
        descriptor = open_itself(path, os.O_RDONLY)
    except OSError as error:
        raise UnusableFile(f"{name}: {str(path)!r} cannot be read: {error.strerror}") from None
    with open(descriptor, "rb") as file:
        try:
            header, key, digest, size = read_header(file, path)
            found = digest_of(file, size, key)
        except OSError as error:
            raise UnusableFile(f"{name}: {str(path)!r} cannot be read: {error.strerror}") from None
        if not hmac.compare_digest(found, digest):
            raise damaged(path, "its digest is not the one that was written")
        try:
            _require_arrays(header, size)
            data = data_of(Mapping(file, header, digest.hex()))
            fault = _fault(data)
        except (PydpmcError, KeyError, TypeError, ValueError, IndexError):
            fault = "its header contradicts itself"
    if fault:
        raise damaged(path, fault)
    return data


def data_of(mapping: Mapping) -> Data:
    """Return the records of a mapped file, whose header is taken at its word."""
    header, data = mapping.header, object.__new__(Data)
    data._public = public = Public.from_dict(header["public"])
    data._storage = header["storage"]
    data._rows = mapping.array("rows")
    within = table.holds_squares(public.width, data._storage)
    data._squares = table.squares_within(data._rows) if within else mapping.array("squares")
    data._group_start, data._weights = mapping.array("group_start"), None
    data._blocks = tuple(tuple(block) for block in header["blocks"])
    data._coded, coded = None, header["coded"]
    if coded is not None:
        data._coded = Coded(mapping.array("coded"), np.array(coded["numbers"], dtype=np.int32), coded["codes"])
    data.schema = Schema.from_dict(header["schema"])
    data._mapping = mapping
    return data


def _require_arrays(header: dict[str, Any], size: int) -> None:
    """Refuse arrays that overlap, leave the file, or do not fit each other."""
    end, shapes = PAGE, {}
    for name, (offset, dtype, shape) in sorted(header["arrays"].items(), key=lambda item: int(item[1][0])):
        whole = all(isinstance(number, int) and number >= 1 for number in (offset, *shape))
        if not whole or offset % PAGE or offset < end or dtype not in ARRAYS[name]:
            raise CacheError(name)
        end, shapes[name] = offset + np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64)), shape
    public, (count, stride) = Public.from_dict(header["public"]), shapes["rows"]
    wanted = table.empty_rows(1, public.width, public.has_target, header["storage"])
    units = shapes["group_start"][0] - 1 if public.grouped else count
    fits = (
        end <= size
        and (stride, np.dtype(header["arrays"]["rows"][1])) == (wanted.shape[1], wanted.dtype)
        and ("squares" in shapes) != table.holds_squares(public.width, header["storage"])
        and shapes.get("squares", [count]) == [count]
        and units == max(1, public.n)
        and public.grouped == ("group_start" in shapes)
        and (header["coded"] is None) == ("coded" not in shapes)
        and ("coded" not in shapes or shapes["coded"] == [count, header["coded"]["stride"]])
    )
    if not fits:
        raise CacheError("arrays")


def _fault(data: Data) -> str:
    """Return what is wrong with the rows, "" if nothing is: they must be as `Data` stores them."""
    public, width = data.public, data.public.width
    table.require_range(public, data._storage)
    starts = data._group_start
    if starts is not None and (starts[0] != 0 or starts[-1] != len(data._rows) or (np.diff(starts) < 1).any()):
        return "its groups are not those of its rows"
    if starts is not None and public.max_group_size is not None and (np.diff(starts) > public.max_group_size).any():
        return "its groups are larger than declared"
    chunk = max(1, CHUNK_VALUES // width)
    for start in range(0, len(data._rows), chunk):
        here = slice(start, start + chunk)
        rows, squares = data._rows[here], data.row_squares()[here]
        if not np.array_equal(squares, _squares(rows, public), equal_nan=True):
            return "norms are not those of the rows"
        if not _within(rows, squares, data):
            return "rows leave the declared bounds"
        if data._coded is not None and not _is_coded(data._coded._replace(rows=data._coded.rows[here]), rows, data):
            return "codes are not those of the rows"
    return ""


def _squares(rows: Any, public: Public) -> npt.NDArray[np.float64]:
    return _core.squared_norms(rows=rows, columns=public.width, has_target=public.has_target)


def _within(rows: Any, squares: Any, data: Data) -> bool:
    public, width = data.public, data.public.width
    values = table.as_doubles(rows, width, public.has_target)
    x = values[:, :width]
    if not public.has_target:
        x = x.copy()
        x[np.isnan(x[:, 0]), 0] = 0.0  # the mark of a void row; a NaN elsewhere is none
    ok = bool(np.isfinite(x).all())
    if public.x_bounds is not None:
        low, high = np.array(public.x_bounds).T
        free = np.isnan(values[:, 0]) | ~squares.astype(bool)  # void rows are zeros
        inside = ((x >= low) & (x <= high)).all(axis=1) | free
        ok &= bool((inside | _shortened(x, squares, data)).all())
    if public.row_norm is not None:
        ok &= not bool((squares > public.row_norm**2 * NORM_ROUNDING).any())
    if public.has_target and public.y_bounds is not None:
        y = values[:, width]
        ok &= bool((np.isnan(y) | ((y >= public.y_bounds[0]) & (y <= public.y_bounds[1]))).all())
    return ok


def _shortened(x: Any, squares: Any, data: Data) -> npt.NDArray[np.bool_]:
    """Return which rows `Data` shortened to `row_norm` after it had clipped them to a box that does not hold zero.

    Such a row x has that norm, and t x lies in the box for some t >= 1, both up to the rounding of the storage.
    """
    public = data.public
    if public.row_norm is None:
        return np.zeros(len(x), dtype=bool)
    low, high = np.array(public.x_bounds).T
    error = np.full_like(x, FIXED16_ERROR) if data._storage == "fixed16" else np.abs(x) * RELATIVE_ERROR
    above, below = x + error, x - error
    with np.errstate(all="ignore"):
        least = np.maximum(np.where(above > 0, low / above, -np.inf), np.where(below < 0, high / below, -np.inf))
        most = np.minimum(np.where(above < 0, low / above, np.inf), np.where(below > 0, high / below, np.inf))
    possible = ((above != 0) | (low <= 0)).all(axis=1) & ((below != 0) | (high >= 0)).all(axis=1)
    long = np.sqrt(squares) >= public.row_norm * (1.0 - RELATIVE_ERROR) - np.linalg.norm(error, axis=1)
    return np.asarray(possible & long & (np.maximum(least.max(axis=1), 1.0) <= most.min(axis=1)))


def _is_coded(coded: Coded, rows: Any, data: Data) -> bool:
    """Return whether coded rows are what `Data` makes of these rows: sums over them rest on the same bounds."""
    public, blocks = data.public, declared_blocks(data._blocks, data.public.width)
    wanted = coded_rows(rows, _squares(rows, public), public, blocks)
    if wanted is None or wanted.codes != coded.codes or wanted.rows.shape != coded.rows.shape:
        return False
    end = place_of_target(len(wanted.number_columns)) + BESIDES
    codes, found = (part.rows.view(np.uint16)[:, 4 * end : 4 * end + wanted.codes] for part in (wanted, coded))
    return (
        np.array_equal(wanted.number_columns, coded.number_columns)
        and np.array_equal(wanted.rows[:, :end], coded.rows[:, :end], equal_nan=True)
        and np.array_equal(codes, found)
        and not not_one_hot(table.as_doubles(rows, public.width, True)[:, : public.width], blocks).any()
    )
