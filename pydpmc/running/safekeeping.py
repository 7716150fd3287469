"""What surrounds a run: it is charged to a ledger before it starts, and saved while it goes on.

A checkpoint holds iterates, what the sampler carries between them, and a ticket: the run's name in the ledger. It
holds no key: the rest of a resumed chain is drawn from a new one, and streams belong to (key, purpose, chain, step).
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import secrets
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..checks import file_path
from ..errors import CheckpointError, LedgerError, PydpmcError, ResumedElsewhere
from ..ledger.ledger import Ledger, opened
from . import checkpoint_file

if TYPE_CHECKING:
    from ..data.data import Data
    from ..planning.plan import Plan
    from ..samplers.base import Release

INTERVAL = 2.0  # seconds between checkpoints, or
PATIENCE = 20.0  # times what writing one takes
Floats = npt.NDArray[np.float64]


class Safekeeping:
    """The ledger and the checkpoint of one run; either may be absent."""

    def __init__(
        self,
        plan: Plan,
        data: Data,
        release: Release,
        out: Floats,
        ledger: Ledger | str | Path | None,
        checkpoint: str | Path | None,
    ) -> None:
        self._plan, self._data, self._release, self._out = plan, data, release, out
        self._ledger = None if ledger is None else opened(ledger)
        self._path = None if checkpoint is None else file_path(checkpoint, "checkpoint")
        self._ticket, self._resumed = secrets.token_hex(16), 0
        self._lock: int | None = None
        self.ledger_entry: dict[str, Any] | None = None
        self._next = 0.0

    def refuse(self, void: str | None) -> None:
        """Refuse what cannot be charged or resumed; `void` says why the result will have no guarantee."""
        if self._ledger is not None and void is not None:
            raise LedgerError(f"ledger: only a run with a guarantee can be charged, and this one has none: {void}")
        if self._path is None:
            return
        if self._release.hidden:
            raise CheckpointError(
                "checkpoint: the guarantee of this sampler covers its last iterate alone; it would hold others too"
            )
        if void != self._plan.guarantee.void:
            raise CheckpointError(
                "checkpoint: a run goes on from it with new random numbers, so leave seed and unsafe_diagnostics out"
            )

    def __enter__(self) -> Safekeeping:
        if self._path is not None:
            self._lock = _locked(self._path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def begin(self, core: Any) -> None:
        """Charge a new run, or take up the one in the checkpoint."""
        if self._path is not None and not hasattr(core, "state"):
            raise CheckpointError("checkpoint: runs of this sampler cannot be resumed; leave it out")
        if self._path is not None and self._path.exists():
            self._resume(core, self._path)
        else:
            self.save(core)
            self._reserve(core)
        if self._ledger is not None:
            self.ledger_entry = self._ledger.entry_of(self._ticket)

    def after_chunk(self, core: Any) -> None:
        """Save if it is time to."""
        if time.perf_counter() >= self._next:
            try:
                self.save(core)
            except CheckpointError as error:
                self._next = time.perf_counter() + PATIENCE
                warnings.warn(str(error), RuntimeWarning, stacklevel=5)

    def save(self, core: Any) -> None:
        """Write the checkpoint now."""
        if self._path is None:
            return
        started = time.perf_counter()
        made = self._release.made(core.steps_done)
        header = {
            "run": self._identity(),
            "ticket": self._ticket,
            "resumed": self._resumed,
            "charged": self._ledger is not None,
            "steps_done": core.steps_done,
        }
        checkpoint_file.write(self._path, header, [np.array(core.state()), self._out[:, :made]])
        ended = time.perf_counter()
        self._next = ended + max(INTERVAL, PATIENCE * (ended - started))

    def end(self, core: Any) -> None:
        """Save what is about to be released, then tell the ledger if the run came to its end."""
        try:
            self.save(core)
        except CheckpointError as error:
            self._discard()  # what is released now must not be drawn a second time from an older checkpoint
            warnings.warn(str(error), RuntimeWarning, stacklevel=4)
        if self._ledger is None or core.steps_done < self._plan.settings.steps:
            return
        try:
            self._ledger.commit(self._ticket, self._resumed)
        except ResumedElsewhere:
            self._discard()
            raise
        except LedgerError as error:
            if self._path is not None:
                raise
            warnings.warn(f"the run is charged, but not noted as finished: {error}", RuntimeWarning, stacklevel=4)

    def _reserve(self, core: Any) -> None:
        if self._ledger is None:
            return
        try:
            self._ledger.reserve(self._plan.guarantee, self._data, self._plan.describe(), self._ticket)
        except PydpmcError:
            if core.steps_done == 0:
                self._discard()
            raise

    def _discard(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _resume(self, core: Any, path: Path) -> None:
        header, (state, draws) = checkpoint_file.read(path)
        self._check(header, path)
        self._ticket, self._resumed, done = header["ticket"], header["resumed"], header["steps_done"]
        core.restore(state.tolist(), done)
        made = self._release.made(done)
        self._out[:, :made] = draws.reshape(self._out[:, :made].shape)
        if self._ledger is not None and (done == 0 or not header["charged"]):
            self._reserve(core)
        if done < self._plan.settings.steps:
            self._resumed += 1
            self.save(core)  # before the ledger hears of it: a crash in between must not lock the checkpoint out
            if self._ledger is not None:
                self._ledger.resume(self._ticket, self._resumed, self._data)

    def _check(self, header: dict[str, Any], path: Path) -> None:
        saved, here = header["run"], self._identity()
        differing = [name for name in here if saved.get(name) != here[name]]
        if differing:
            raise CheckpointError(
                f"{path} is the checkpoint of another run: it differs in its {', '.join(differing)}. Run the same plan "
                "with the same options, or choose another file"
            )
        if header["charged"] and self._ledger is None:
            raise CheckpointError(
                f"{path} is the checkpoint of a run that a ledger was charged for; pass the same ledger"
            )

    def _identity(self) -> dict[str, Any]:
        from .._version import __version__

        identity = {
            "plan": self._plan.describe(),
            "public facts": dataclasses.asdict(self._plan.public),
            "guarantee": self._plan.guarantee.to_dict(),
            "draws or warmup": dataclasses.asdict(self._release),
            "version of pydpmc": __version__,
        }
        plain: dict[str, Any] = json.loads(json.dumps(identity))
        return plain


def _locked(path: Path) -> int:
    """Keep other processes off this checkpoint as long as this one lives."""
    try:
        lock = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise CheckpointError(f"{path} is in use by another process; wait for it, or choose another file") from None
    return lock
