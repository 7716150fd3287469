"""The file of a checkpoint: a JSON header, numbers, and a hash of both. No pickle and no key."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from .._files import lock_alone, open_itself, read_itself, replace_file
from ..errors import CheckpointError

MAGIC = b"pydpmc checkpoint 1\n"
LENGTH_BYTES, HASH_BYTES = 8, 32
ARRAYS = 2  # the state of the sampler, and the draws
Floats = npt.NDArray[np.float64]


def write(path: Path, header: dict[str, Any], arrays: list[Floats]) -> None:
    """Replace the file atomically and durably."""
    described = json.dumps(header | {"sizes": [array.size for array in arrays]}).encode()
    parts = [MAGIC, len(described).to_bytes(LENGTH_BYTES, "big"), described]
    parts += [np.ascontiguousarray(array, dtype="<f8").tobytes() for array in arrays]
    parts.append(hashlib.sha256(b"".join(parts)).digest())

    def fill(file: BinaryIO) -> None:
        file.writelines(parts)

    try:
        replace_file(path, fill, mode=0o600, name=path.name + ".unfinished")
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be written: {error.strerror}") from error


def read(path: Path, most_bytes: int | None = None) -> tuple[dict[str, Any], list[Floats]]:
    """Return the header and the flat arrays; refuse a file that `write` did not write or above `most_bytes`."""
    try:
        content = read_itself(path, most_bytes)
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be read: {error.strerror}") from error
    if content is None:
        raise CheckpointError(f"{path} is larger than a checkpoint of this run can be: nothing was run")
    body, digest = content[:-HASH_BYTES], content[-HASH_BYTES:]
    if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
        raise _damaged(path)
    start = len(MAGIC) + LENGTH_BYTES
    end = start + int.from_bytes(body[len(MAGIC) : start], "big")
    try:
        header = json.loads(body[start:end])
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not _well_formed(header) or len(body) - end != 8 * sum(header["sizes"]):
        raise _damaged(path)
    numbers = np.frombuffer(body, dtype="<f8", offset=end) if len(body) > end else np.empty(0)
    arrays = np.split(numbers, np.cumsum(header["sizes"])[:-1])
    return header, [array.astype(np.float64) for array in arrays]


def locked(path: Path) -> int:
    """Lock the checkpoint against other processes; return the descriptor of the lock."""
    try:
        lock = open_itself(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be written (its .lock file): {error.strerror}") from error
    if not lock_alone(lock):
        os.close(lock)
        raise CheckpointError(f"{path} is in use by another process; wait for it, or choose another file")
    return lock


def may_go_on(header: dict[str, Any], current: str) -> bool:
    """Return whether a checkpoint holds the ledger's current token, or the one before, if its own was never noted."""
    if header.get("token") is not None:
        return current in (header["token"], header.get("confirmed"))
    ticket, _, times = current.rpartition("/")  # of a version that counted resumptions, while only such went on
    return ticket == header["ticket"] and times.isdecimal() and int(times) <= header["resumed"]


def _well_formed(header: Any) -> bool:
    """Return whether the header has the fields that `write` was given, by type; the last three came later."""
    if not isinstance(header, dict):
        return False
    sizes = header.get("sizes")
    return (
        isinstance(header.get("run"), dict)
        and isinstance(header.get("ticket"), str)
        and isinstance(header.get("charged"), bool)
        and all(_count(header.get(name)) for name in ("resumed", "steps_done"))
        and isinstance(sizes, list)
        and len(sizes) == ARRAYS
        and all(_count(size) for size in sizes)
        and all(isinstance(header.get(name), (str, type(None))) for name in ("token", "confirmed", "table"))
    )


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _damaged(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} is not a checkpoint of this version of pydpmc, or it is damaged: nothing was run. The run cannot "
        "go on from it; delete it to start anew, which a ledger charges anew"
    )
