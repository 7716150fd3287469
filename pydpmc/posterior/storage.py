"""Draws and their description on disk: npz or netCDF 3, never pickle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from ..checks import usable
from ..errors import InvalidArgument

Draws = dict[str, npt.NDArray[np.float64]]
Result = TypeVar("Result")
_DESCRIPTION = "pydpmc_json"


def save(path: Path, draws: Draws, description: str) -> None:
    """Write draws of shape (chain, draw, size) by name, and a JSON description."""
    _require_suffix(path)
    with usable(path, "path"):
        if path.suffix == ".npz":
            np.savez_compressed(path, **draws, **{_DESCRIPTION: np.array(description)})  # type: ignore[arg-type]
        else:
            _save_netcdf(path, draws, description)


def load(path: Path, build: Callable[[Draws, Any], Result]) -> Result:
    """Return what `build` makes of the draws and the description that `save` wrote."""
    _require_suffix(path)
    with usable(path, "path"), path.open("rb") as file, _one_error(path):
        draws, text = _load_npz(file) if path.suffix == ".npz" else _load_netcdf(file)
        return build(draws, json.loads(text))


def _require_suffix(path: Path) -> None:
    if path.suffix not in (".npz", ".nc"):
        raise InvalidArgument(f'path must end in ".npz" or ".nc", not {path.suffix!r}')


@contextmanager
def _one_error(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a damaged file can break its reader in any way
        raise InvalidArgument(f"{path} is not a posterior that pydpmc saved, or it is damaged") from error


def _load_npz(file: BinaryIO) -> tuple[Draws, str]:
    with np.load(file, allow_pickle=False) as archive:
        return {k: _checked(archive[k]) for k in archive.files if k != _DESCRIPTION}, str(archive[_DESCRIPTION])


def _checked(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if values.ndim != 3 or values.dtype.kind != "f":
        raise InvalidArgument("draws are three-dimensional arrays of real numbers")
    return np.array(values, dtype=np.float64)


def _save_netcdf(path: Path, draws: Draws, description: str) -> None:
    from scipy.io import netcdf_file

    chains, count = next(iter(draws.values())).shape[:2]
    if count == 0:
        raise InvalidArgument('netCDF 3 cannot hold a posterior without draws; save it as ".npz"')
    with netcdf_file(path, "w", version=2) as file:
        setattr(file, _DESCRIPTION, description.encode())
        file.createDimension("chain", chains)
        file.createDimension("draw", count)
        for name, values in draws.items():
            file.createDimension(f"{name}_dim", values.shape[2])
            file.createVariable(name, "d", ("chain", "draw", f"{name}_dim"))[:] = values


def _load_netcdf(raw: BinaryIO) -> tuple[Draws, str]:
    from scipy.io import netcdf_file

    with netcdf_file(raw, "r", mmap=False) as file:
        draws = {name: _checked(variable[:]) for name, variable in file.variables.items()}
        return draws, getattr(file, _DESCRIPTION).decode()
