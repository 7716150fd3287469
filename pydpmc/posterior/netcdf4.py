"""Draws as netCDF 4, in the groups that ArviZ opens, with a hash of all bytes behind them.

The hash is compared before the HDF5 library sees a byte: a damaged file never reaches its parser.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from ..errors import InvalidArgument

Draws = dict[str, npt.NDArray[np.float64]]
MAGIC = b"\x89HDF\r\n\x1a\n"
_GROUP, _DESCRIPTION, _TRAILER = "posterior", "pydpmc_json", b"\npydpmc sha256 "
_DIGITS = 64


def available() -> bool:
    """Whether netCDF 4 can be written here: both packages come with the extra ``arviz``."""
    return all(importlib.util.find_spec(name) is not None for name in ("h5netcdf", "h5py"))


def written(draws: Draws, labels: Mapping[str, Sequence[str]], text: str, attributes: Mapping[str, Any]) -> bytes:
    """Return the bytes of the file: draws by name, coordinates named by their labels, and the description."""
    h5netcdf = require("h5netcdf", "arviz", "saving netCDF 4")
    h5py = require("h5py", "arviz", "saving netCDF 4")
    content = io.BytesIO()
    with h5netcdf.File(content, "w", track_order=True) as file:
        encoded = np.frombuffer(text.encode(), dtype=np.uint8)
        file.dimensions = {f"{_DESCRIPTION}_bytes": len(encoded)}
        file.create_variable(_DESCRIPTION, (f"{_DESCRIPTION}_bytes",), dtype=np.uint8)[...] = encoded
        group = file.create_group(_GROUP)
        chains, count = next(iter(draws.values())).shape[:2]
        group.dimensions = {"chain": chains, "draw": count}
        for name, length in (("chain", chains), ("draw", count)):
            group.create_variable(name, (name,), dtype=np.int64)[...] = np.arange(length)
        for name, values in draws.items():
            _write_block(group, h5py, name, values, labels.get(name) or ())
        group.attrs.update(attributes)
    plain = content.getvalue()
    return plain + _TRAILER + hashlib.sha256(plain).hexdigest().encode()


def _write_block(group: Any, h5py: Any, name: str, values: npt.NDArray[np.float64], labels: Sequence[str]) -> None:
    if values.shape[2] == 1 and not labels:
        group.create_variable(name, ("chain", "draw"), dtype=np.float64)[...] = values[:, :, 0]
        return
    entries = list(labels) or [str(j) for j in range(values.shape[2])]
    dimension = f"{name}_dim"
    group.dimensions[dimension] = len(entries)
    coordinate = group.create_variable(dimension, (dimension,), dtype=h5py.string_dtype())
    coordinate[...] = np.array(entries, dtype=object)
    group.create_variable(name, ("chain", "draw", dimension), dtype=np.float64)[...] = values


def read(content: bytes, most: int) -> tuple[dict[str, npt.NDArray[Any]], str]:
    """Return draws by name, in no order, and the description; `most` bounds the bytes of the draws."""
    plain, digest = content[: -_DIGITS - len(_TRAILER)], content[-_DIGITS:]
    if content[len(plain) :][: len(_TRAILER)] != _TRAILER or hashlib.sha256(plain).hexdigest().encode() != digest:
        raise InvalidArgument("its hash does not fit")
    h5py = require("h5py", "arviz", "reading netCDF 4")
    with h5py.File(io.BytesIO(plain), "r") as file:
        text = _array(file[_DESCRIPTION], most, "u1").tobytes().decode()
        group = file[_GROUP]
        names = [name for name in group if name not in ("chain", "draw") and not name.endswith("_dim")]
        left, draws = most, {}
        for name in names:
            values = _array(group[name], left, "f8")
            left -= values.nbytes
            draws[name] = values[:, :, None] if values.ndim == 2 else values
    return draws, text


def _array(dataset: Any, most: int, kind: str) -> npt.NDArray[Any]:
    """Return an array of this type; its declared size is compared before it is allocated."""
    wanted = np.dtype(kind)
    if dataset.dtype != wanted or math.prod(dataset.shape) * wanted.itemsize > most:
        raise InvalidArgument("an array is not of the declared type, or too large")
    return np.asarray(dataset[()])
