"""Calls into the compiled core: how many threads they use, what they raise, and how Ctrl-C stops them."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from .. import _core
from ..checks import whole
from ..errors import InternalError, InvalidArgument, PydpmcError

Advance = Callable[[int, int, int], None]
_process = os.getpid()
_warned = False


def usable_threads(threads: int | None) -> int:
    """Return `threads`, or the number of cores; 1 in a forked child, which must not use the parent's thread pool."""
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


@contextmanager
def core_errors() -> Iterator[None]:
    """Turn the core's errors into ours; pybind11's message on a mismatch would print the arguments."""
    try:
        yield
    except PydpmcError:
        raise
    except TypeError:
        raise InternalError(
            "the compiled core refused its arguments: this is a bug in pydpmc, please report it"
        ) from None
    except ValueError as error:
        raise InvalidArgument(str(error)) from None
    except RuntimeError as error:
        raise InternalError(str(error)) from None


@contextmanager
def stoppable(core: Any) -> Iterator[Advance]:
    """Yield ``core.advance``; a KeyboardInterrupt inside the block stops the current chunk.

    Each chunk runs in a worker thread, because Python raises KeyboardInterrupt only in the main thread and only while
    it runs Python code. A stopped run drops the current chunk and keeps all earlier ones.
    """
    if not hasattr(core, "stop") or threading.current_thread() is not threading.main_thread():
        yield core.advance
        return
    worker = ThreadPoolExecutor(1, thread_name_prefix="pydpmc")

    def advance(steps: int, threads: int, block: int) -> None:
        worker.submit(core.advance, steps, threads, block).result()

    interrupted = False
    try:
        yield advance
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        _finish(worker, core, interrupted)


def _finish(worker: ThreadPoolExecutor, core: Any, interrupted: bool) -> None:
    """Wait for the last chunk, which writes into the draws, even if Ctrl-C is pressed repeatedly.

    The worker runs its tasks in order, so an empty task ends after the chunk. Joining the thread is not enough: after
    an interrupted join, Python takes a running thread for a finished one (bpo-45274).
    """
    while True:
        try:
            if interrupted:
                core.stop()
            worker.submit(lambda: None).result()
            break
        except KeyboardInterrupt:
            interrupted = True
    with suppress(KeyboardInterrupt):
        worker.shutdown()
