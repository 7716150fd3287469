"""The file of packed records: a first page, page-aligned arrays, and a JSON header behind them; no pickle.

The first page names the format, where the header is, a key and the keyed digest of everything else in the file. The key
is in the file: the digest shows damage, not the work of somebody who may write the file. `opening.py` therefore checks
the rows themselves against the declared bounds too.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any, BinaryIO

from ...errors import CacheError

MAGIC = b"DPMCROWS"
VERSION = 1
PAGE = 4096
KEY_BYTES = DIGEST_BYTES = 32
MOST_HEADER_BYTES = 2**26
CHUNK_BYTES = 2**22
_FIRST = struct.Struct("<8sIIQQ32s32s")  # magic, version, 0, where the header starts, its length, key, digest
ARRAYS = {"rows": ("<f8", "<f4", "<i2"), "squares": ("<f8",), "coded": ("<f8",), "group_start": ("<i8",)}


def aligned(offset: int) -> int:
    """Return the next place at which an array may start.

    Examples
    --------
    >>> aligned(1), aligned(4096)
    (4096, 4096)
    """
    return (offset + PAGE - 1) // PAGE * PAGE


def finish(file: BinaryIO, end: int, header: dict[str, Any], key: bytes) -> str:
    """Write the header behind the arrays and the first page before them; return the digest in hex."""
    text = json.dumps(header, sort_keys=True).encode()
    file.seek(end)
    file.write(text)
    found = digest_of(file, end + len(text), key)
    file.seek(0)
    file.write(_FIRST.pack(MAGIC, VERSION, 0, end, len(text), key, found).ljust(PAGE, b"\0"))
    return found.hex()


def read_header(file: BinaryIO, path: Path) -> tuple[dict[str, Any], bytes, bytes, int]:
    """Return the header, the key, the digest and the size of the file; refuse a file of another kind or length."""
    size = file.seek(0, 2)
    file.seek(0)
    page = file.read(PAGE)
    if len(page) < PAGE or page[: len(MAGIC)] != MAGIC:
        raise CacheError(f"cache: {str(path)!r} is no file of packed records; name another file, or remove it")
    _, version, nothing, start, length, key, digest = _FIRST.unpack_from(page)
    if version != VERSION:
        raise CacheError(
            f"cache: {str(path)!r} was written in version {version} of its format, and this pydpmc reads {VERSION}; "
            "remove it, and it is written anew"
        )
    if nothing or any(page[_FIRST.size :]):
        raise damaged(path, "its first page is not the one that was written")
    if length > MOST_HEADER_BYTES or start + length != size:
        raise damaged(path, "its length is not the one that was written")
    file.seek(start)
    try:
        header = json.loads(file.read(length))
    except ValueError:
        raise damaged(path, "its header cannot be read") from None
    if not isinstance(header, dict):
        raise damaged(path, "its header cannot be read")
    return header, key, digest, size


def digest_of(file: BinaryIO, size: int, key: bytes) -> bytes:
    """Return the keyed digest of a file's content after its first page."""
    keyed = hashlib.blake2b(key=key, digest_size=DIGEST_BYTES)
    keyed.update(struct.pack("<Q", size))
    file.flush()
    file.seek(PAGE)
    buffer = memoryview(bytearray(CHUNK_BYTES))
    left = size - PAGE
    while left > 0:
        taken = file.readinto(buffer[: min(left, CHUNK_BYTES)])  # type: ignore[attr-defined]
        if not taken:
            break
        keyed.update(buffer[:taken])
        left -= taken
    return keyed.digest()


def damaged(path: Path, why: str) -> CacheError:
    """Return the error for a file that is not as it was written."""
    return CacheError(
        f"cache: {str(path)!r} is damaged or was changed ({why}). Nothing was run; remove it, and it is written anew"
    )
