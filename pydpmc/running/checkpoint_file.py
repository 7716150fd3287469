"""The file of a checkpoint: a JSON header, numbers, and a hash of both. No pickle and no key."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CheckpointError
from ..ledger.file import sync_directory

MAGIC = b"pydpmc checkpoint 1\n"
LENGTH_BYTES, HASH_BYTES = 8, 32
Floats = npt.NDArray[np.float64]


def write(path: Path, header: dict[str, Any], arrays: list[Floats]) -> None:
    """Replace the file by a new one that is complete and on the disk."""
    described = json.dumps(header | {"sizes": [array.size for array in arrays]}).encode()
    parts = [MAGIC, len(described).to_bytes(LENGTH_BYTES, "big"), described]
    parts += [np.ascontiguousarray(array, dtype="<f8").tobytes() for array in arrays]
    try:
        _replace(path, [*parts, hashlib.sha256(b"".join(parts)).digest()])
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be written: {error.strerror}") from error


def read(path: Path) -> tuple[dict[str, Any], list[Floats]]:
    """Return the header and the arrays, flat; refuse whatever `write` did not write."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be read: {error.strerror}") from error
    body, digest = content[:-HASH_BYTES], content[-HASH_BYTES:]
    if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
        raise CheckpointError(
            f"{path} is not a checkpoint of this version of pydpmc, or it is damaged: nothing was run. The run cannot "
            "go on from it; delete it to start anew, which a ledger charges anew"
        )
    start = len(MAGIC) + LENGTH_BYTES
    end = start + int.from_bytes(body[len(MAGIC) : start], "big")
    header = json.loads(body[start:end])
    arrays = np.split(np.frombuffer(body, dtype="<f8", offset=end), np.cumsum(header["sizes"])[:-1])
    return header, [array.astype(np.float64) for array in arrays]


def _replace(path: Path, parts: list[bytes]) -> None:
    unfinished = path.with_name(path.name + ".unfinished")
    with open(os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)
    sync_directory(path)
