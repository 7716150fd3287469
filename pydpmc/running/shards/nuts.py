"""NUTS over cells: every chain follows its own trajectory, and all chains that wait for a density ask together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ... import _core

if TYPE_CHECKING:
    from .core import Session
    from .seams import Seams

Floats = npt.NDArray[np.float64]


class NutsSteps:
    """Has the methods of ``_core.NutsRun``; its densities come from cells."""

    def __init__(self, run: Any, session: Session, seams: Seams, task: Mapping[str, Any], chains: int) -> None:
        self._run, self._session, self._seams, self._task, self._chains = run, session, seams, task, chains

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Make steps of all chains, a thread for each, most of which wait."""
        meeting = Meeting(self._chains, lambda thetas: self._densities(thetas, threads))

        def one(chain: int) -> None:
            try:
                self._run.advance_one(chain, steps, lambda theta: meeting.sums(chain, theta))
            finally:
                meeting.leave()

        self._run.start_steps()
        with ThreadPoolExecutor(self._chains, thread_name_prefix="pydpmc chain") as pool:
            made = [pool.submit(one, chain) for chain in range(self._chains)]
        for future in made:
            future.result()
        self._run.finish_steps(steps)

    def _densities(self, thetas: Floats, threads: int) -> Floats:
        whole = self._session.ask({"thetas": thetas}, threads)
        digits = self._seams.added_to(whole, thetas, threads, self._task)
        return _core.doubles_of(digits.reshape(-1, _core.exact_width)).reshape(digits.shape[:2])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)


class Meeting:
    """Where chains wait for sums: when all that are still moving have come, one question is asked for all of them.

    Parameters
    ----------
    chains
        How many are moving.
    ask
        Takes thetas, a row for each chain that waits, and returns a row of sums for each.
    """

    def __init__(self, chains: int, ask: Callable[[Floats], Floats]) -> None:
        self._moving, self._ask = chains, ask
        self._changed = threading.Condition()
        self._waiting: dict[int, Floats] = {}
        self._answers: dict[int, Floats] = {}
        self._failure: BaseException | None = None

    def sums(self, chain: int, theta: Floats) -> Floats:
        """Return the sums at the theta of a chain, when the others have come too."""
        with self._changed:
            self._waiting[chain] = theta
            self._serve()
            while chain not in self._answers and self._failure is None:
                self._changed.wait()
            if self._failure is not None:
                raise self._failure
            return self._answers.pop(chain)

    def leave(self) -> None:
        """Note that a chain has made its steps: the others wait for it no more."""
        with self._changed:
            self._moving -= 1
            self._serve()

    def _serve(self) -> None:
        """Ask, if all who are moving wait; the lock is held, and nobody else can come."""
        if not self._waiting or len(self._waiting) < self._moving:
            return
        waiting, self._waiting = sorted(self._waiting.items()), {}
        try:
            found = self._ask(np.stack([theta for _, theta in waiting]))
            self._answers |= {chain: row for (chain, _), row in zip(waiting, found, strict=True)}
        except BaseException as error:
            self._failure = error
        self._changed.notify_all()
