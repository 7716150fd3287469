"""Chunks of steps that Ctrl-C stops in the middle: one pass over the records can take longer than a person waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

Advance = Callable[[int, int, int], None]


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
