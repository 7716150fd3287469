"""How many threads a run uses."""

from __future__ import annotations

import os
import sys
import warnings

from .. import _core
from ..checks import whole

_process = os.getpid()
_warned = False


def usable_threads(threads: int | None) -> int:
    """Return the number asked for, or all cores; one in a forked child, which must not touch the parent's pool."""
    wanted = None if threads is None else whole(threads, "threads")
    if not _core.has_openmp():
        _warn_once_without_openmp()
        return 1
    if os.getpid() != _process:
        return 1
    return wanted if wanted is not None else usable_cores()


def usable_cores() -> int:
    """Return how many cores this process may use; macOS and Windows tell only how many there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _warn_once_without_openmp() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn("pydpmc was built without OpenMP and runs on one thread", RuntimeWarning, stacklevel=5)
