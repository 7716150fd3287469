"""Draws and their description on disk: npz or netCDF 3, never pickle."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Draws = dict[str, npt.NDArray[np.float64]]
_DESCRIPTION = "pydpmc_json"


def save(path: Path, draws: Draws, description: str) -> None:
    """Write draws of shape (chain, draw, size) by name, and a JSON description."""
    if path.suffix == ".npz":
        np.savez_compressed(path, **draws, **{_DESCRIPTION: np.array(description)})  # type: ignore[arg-type]
    elif path.suffix == ".nc":
        _save_netcdf(path, draws, description)
    else:
        raise ValueError(f'path must end in ".npz" or ".nc", not {path.suffix!r}')


def load(path: Path) -> tuple[Draws, Any]:
    """Return the draws and the description that `save` wrote."""
    if path.suffix not in (".npz", ".nc"):
        raise ValueError(f'path must end in ".npz" or ".nc", not {path.suffix!r}')
    try:
        draws, text = _load_npz(path) if path.suffix == ".npz" else _load_netcdf(path)
        return draws, json.loads(text)
    except (KeyError, AttributeError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a posterior that pydpmc saved, or it is damaged") from error


def _load_npz(path: Path) -> tuple[Draws, str]:
    with np.load(path, allow_pickle=False) as archive:
        return {k: archive[k] for k in archive.files if k != _DESCRIPTION}, str(archive[_DESCRIPTION])


def _save_netcdf(path: Path, draws: Draws, description: str) -> None:
    from scipy.io import netcdf_file

    chains, count = next(iter(draws.values())).shape[:2]
    with netcdf_file(path, "w", version=2) as file:
        setattr(file, _DESCRIPTION, description.encode())
        file.createDimension("chain", chains)
        file.createDimension("draw", count)
        for name, values in draws.items():
            file.createDimension(f"{name}_dim", values.shape[2])
            file.createVariable(name, "d", ("chain", "draw", f"{name}_dim"))[:] = values


def _load_netcdf(path: Path) -> tuple[Draws, str]:
    from scipy.io import netcdf_file

    with netcdf_file(path, "r", mmap=False) as file:
        draws = {name: np.array(variable[:], dtype=np.float64) for name, variable in file.variables.items()}
        return draws, getattr(file, _DESCRIPTION).decode()
