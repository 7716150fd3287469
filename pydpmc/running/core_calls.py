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


@contextmanager
def core_errors() -> Iterator[None]:
    """Turn what the core raises into our errors; the binding's own message on a mismatch would print its arguments."""
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
    """Yield ``core.advance``; a KeyboardInterrupt inside the block stops a chunk that is under way.

    The chunk runs in a thread of its own, because Python raises KeyboardInterrupt in the main thread alone, and only
    while that runs Python. A stopped run drops the chunk and keeps all chunks before it.
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
    """Wait for the last chunk, however often Ctrl-C is pressed: it writes into the draws.

    The worker takes one task after the other, so a task that does nothing ends after the chunk. Joining the thread
    would not do: a join that is interrupted takes a running thread for one that has ended (bpo-45274).
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
