"""Draws and their description on disk: npz or netCDF, never pickle, replaced atomically and sealed by a hash."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from .._files import replace_file
from ..checks import usable
from ..errors import InvalidArgument, MissingExtraError
from . import netcdf4

Draws = dict[str, npt.NDArray[np.float64]]
Result = TypeVar("Result")
_DESCRIPTION, _SEAL = "pydpmc_json", "sha256"
ALWAYS_READ = 2**28  # bytes of memory that reading any file may take
MOST_EXPANSION = 64  # a larger file may take this many times its size
NOT_OURS = "is not a posterior that pydpmc saved, or it is damaged"
UNSEALED = (
    "the file from which this was loaded was not changed (it is a netCDF file of an older version, which has no hash "
    "that would detect a change)"
)


def save(path: Path, draws: Draws, description: str, attributes: Mapping[str, Any] | None = None) -> None:
    """Write draws of shape (chain, draw, size) by name, and a JSON description; on any failure the file stays as is.

    `attributes` are those that ArviZ shows of a ``.nc`` file.
    """
    _require_suffix(path)
    plain = {name: np.ascontiguousarray(values, dtype="<f8") for name, values in draws.items()}
    saved = json.loads(description)
    text = json.dumps(saved | {_SEAL: _seal(plain, saved)})
    with usable(path, "path"):
        if path.suffix == ".nc" and netcdf4.available():
            _require_draws(plain)
            content = netcdf4.written(plain, saved["labels"], text, attributes or {})
            replace_file(path, lambda file: file.writelines([content]))
        else:
            replace_file(path, lambda file: (_write_npz if path.suffix == ".npz" else _write_netcdf)(file, plain, text))


def load(path: Path, build: Callable[[Draws, Any, bool], Result], max_bytes: int | None = None) -> Result:
    """Return ``build(draws, description, sealed)`` of a file that `save` wrote.

    `sealed` is true if the hash matches or, in an older npz file without a hash, the checksums of the archive do.
    """
    _require_suffix(path)
    with usable(path, "path"), path.open("rb") as file:
        most = _most_bytes(file) if max_bytes is None else max_bytes
        with _one_error(path):
            draws, text = _read_npz(file, most) if path.suffix == ".npz" else _read_netcdf(file, most)
            saved = json.loads(text)
            seal = saved.pop(_SEAL, None)
            if seal is not None and seal != _seal(draws, saved):
                raise InvalidArgument("its hash does not match")
            return build(draws, saved, seal is not None or path.suffix == ".npz")


class _TooLarge(InvalidArgument):
    pass


def _seal(draws: Draws, saved: dict[str, Any]) -> str:
    """Return a hash of the values, which does not depend on the file format."""
    digest = hashlib.sha256(json.dumps(saved, sort_keys=True).encode())
    for name in sorted(draws):
        values = np.ascontiguousarray(draws[name], dtype="<f8")
        digest.update(f"\n{name!r} {values.shape}\n".encode())
        digest.update(values.data.cast("B") if values.size else b"")
    return digest.hexdigest()


def _most_bytes(file: BinaryIO) -> int:
    return max(ALWAYS_READ, MOST_EXPANSION * os.fstat(file.fileno()).st_size)


def _require_suffix(path: Path) -> None:
    if path.suffix not in (".npz", ".nc"):
        raise InvalidArgument(f'path must end in ".npz" or ".nc", not {path.suffix!r}')


@contextmanager
def _one_error(path: Path) -> Iterator[None]:
    try:
        yield
    except MissingExtraError:
        raise
    except _TooLarge as error:
        raise InvalidArgument(f"{path} {NOT_OURS}: {error}") from None
    except Exception as error:  # a damaged file can raise anything in its reader
        raise InvalidArgument(f"{path} {NOT_OURS}") from error


def _write_npz(file: BinaryIO, draws: Draws, text: str) -> None:
    arrays: dict[str, Any] = {**draws, _DESCRIPTION: np.array(text)}
    np.savez_compressed(file, **arrays)
    if sum(array.nbytes for array in arrays.values()) > max(ALWAYS_READ, MOST_EXPANSION // 2 * file.tell()):
        file.seek(0)  # chains that rarely move compress so well that `load` would refuse the file as a zip bomb
        file.truncate()
        np.savez(file, **arrays)


def _read_npz(file: BinaryIO, most: int) -> tuple[Draws, str]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _require_size(sum(member.file_size for member in members), most)
        if len({member.filename for member in members}) != len(members):
            raise InvalidArgument("it holds two arrays with the same name")
        arrays = {member.filename.removesuffix(".npy"): _read_array(archive, member) for member in members}
    text = arrays.pop(_DESCRIPTION)
    return {name: _checked(values) for name, values in arrays.items()}, str(text)


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Return one array; its declared size is checked before memory is allocated."""
    content = io.BytesIO(archive.read(member))  # zipfile compares the checksum at the end of the member
    version = np.lib.format.read_magic(content)
    if version not in ((1, 0), (2, 0)):
        raise InvalidArgument("it holds an array of an unknown format")
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(content)
    size = dtype.itemsize
    for length in shape:
        size *= length
    if dtype.hasobject or size != len(content.getbuffer()) - content.tell():
        raise InvalidArgument("an array is not as large as declared")
    content.seek(0)
    array: npt.NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
    return array


def _checked(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if values.ndim != 3 or values.dtype.kind != "f" or values.dtype.itemsize != 8:
        raise InvalidArgument("draws must be three-dimensional arrays of real numbers")
    return np.array(values, dtype=np.float64)


def _write_netcdf(file: BinaryIO, draws: Draws, text: str) -> None:
    from scipy.io import netcdf_file

    _require_draws(draws)
    chains, count = next(iter(draws.values())).shape[:2]
    with netcdf_file(os.fdopen(os.dup(file.fileno()), "r+b"), "w", version=2) as written:
        setattr(written, _DESCRIPTION, text.encode())
        written.createDimension("chain", chains)
        written.createDimension("draw", count)
        for name, values in draws.items():
            written.createDimension(f"{name}_dim", values.shape[2])
            written.createVariable(name, "d", ("chain", "draw", f"{name}_dim"))[:] = values


def _require_draws(draws: Draws) -> None:
    if any(values.size == 0 for values in draws.values()):
        raise InvalidArgument('netCDF cannot hold a posterior without draws; save it as ".npz"')


def _read_netcdf(file: BinaryIO, most: int) -> tuple[Draws, str]:
    from scipy.io import netcdf_file

    _require_size(os.fstat(file.fileno()).st_size, most)
    content = file.read()  # whatever sizes it declares, no more than this can be read from it
    if content.startswith(netcdf4.MAGIC):
        arrays, text = netcdf4.read(content, most)
        order = json.loads(text)["labels"]
        return {name: _checked(arrays[name]) for name in sorted(arrays, key=list(order).index)}, text
    with netcdf_file(io.BytesIO(content), "r", mmap=False) as read:
        draws = {name: _checked(variable[:]) for name, variable in read.variables.items()}
        return draws, getattr(read, _DESCRIPTION).decode()


def _require_size(size: int, most: int) -> None:
    if size > most:
        raise _TooLarge(
            f"it would take {size:,} bytes of memory, but {most:,} are allowed. If you trust it, pass max_bytes={size}"
        )
