"""Atomic replacement of files, and reading that never follows a planted symbolic link."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # without it, opening a planted FIFO would block


def replace_file(path: Path, write: Callable[[BinaryIO], None], *, mode: int = 0o666, name: str | None = None) -> None:
    """Replace `path` atomically and durably by a new file that `write` fills.

    If anything fails, `path` is unchanged. The new file is first made in the same folder as `name`, which the caller
    must own: an existing file or link of that name is removed.
    """
    if path.exists() and not os.access(path, os.W_OK):  # a rename does not check this
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    unfinished = path.with_name(name or f".{secrets.token_hex(8)}.unfinished")
    unfinished.unlink(missing_ok=True)
    with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR | NO_FOLLOW, mode), "w+b") as file:
        try:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(unfinished, path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
    sync_directory(path)


def sync_directory(path: Path) -> None:
    """Flush the folder of a file, so that its name survives a crash."""
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def open_itself(path: Path, flags: int) -> int:
    """Return a descriptor of the regular file at `path`; refuse a symlink, a device or a FIFO."""
    try:
        file = os.open(path, flags | NO_FOLLOW | NO_WAIT, 0o600)
    except OSError as error:
        if path.is_symlink():
            raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed; give the file itself") from error
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


def read_itself(path: Path, most_bytes: int | None) -> bytes | None:
    """Return the content of a regular file, never through a symlink; None if it has more than `most_bytes`."""
    with open(open_itself(path, os.O_RDONLY), "rb") as file:
        if most_bytes is not None and os.fstat(file.fileno()).st_size > most_bytes:
            return None
        return file.read()
