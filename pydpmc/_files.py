"""Atomic replacement of files, and reading that never follows a planted symbolic link."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

BINARY = getattr(os, "O_BINARY", 0)  # Windows translates line ends otherwise
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
    with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR | NO_FOLLOW | BINARY, mode), "w+b") as file:
        try:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):  # what could not be written cannot be flushed either
                file.close()  # Windows removes no open file
            unfinished.unlink(missing_ok=True)
            raise
    try:
        os.replace(unfinished, path)  # after the file is closed: Windows renames no open file
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(path)


def sync_directory(path: Path) -> None:
    """Make the name of a file durable. On Windows the file system's journal does."""
    if sys.platform == "win32":
        return
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def open_itself(path: Path, flags: int) -> int:
    """Return a descriptor of the regular file at `path`; refuse a symlink, a device or a FIFO."""
    if NO_FOLLOW == 0 and path.is_symlink():  # Windows: another process could still plant a link after this line
        _refuse_link(None)
    try:
        file = os.open(path, flags | NO_FOLLOW | NO_WAIT | BINARY, 0o600)
    except OSError as error:
        if path.is_symlink():
            _refuse_link(error)
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return file


def _refuse_link(cause: OSError | None) -> None:
    raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed; name the file itself") from cause


def read_itself(path: Path, most_bytes: int | None) -> bytes | None:
    """Return the content of a regular file, never through a symlink; None if it has more than `most_bytes`."""
    with open(open_itself(path, os.O_RDONLY), "rb") as file:
        if most_bytes is not None and os.fstat(file.fileno()).st_size > most_bytes:
            return None
        return file.read()


def lock_alone(file: int) -> bool:
    """Lock a file until its descriptor is closed; return False, without waiting, if another process has locked it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
