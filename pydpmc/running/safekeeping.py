"""The ledger and the checkpoint of a run, which is charged before it starts and saved while it runs.

A checkpoint holds iterates, what the sampler carries between them, a ticket (the run's name in the ledger) and a
fencing token: the ledger knows which token is current, and only the checkpoint that holds it goes on. It holds no key:
the rest of a resumed chain is drawn from a new one, and streams belong to (key, purpose, chain, step).
"""

from __future__ import annotations

import dataclasses
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

from .._version import __version__
from ..checks import file_path
from ..errors import CheckpointError, LedgerError, PydpmcError, ResumedElsewhere
from ..ledger.ledger import RESUMED, Ledger, opened
from ..ledger.state import numbered_token
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
        # In the checkpoint; in the ledger, if there is one.
        self._token = self._confirmed = "" if ledger is None else numbered_token(self._ticket, 0)
        self._mark: str | None = None
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
                "checkpoint: this sampler hides its intermediate states, and a checkpoint would store them; leave "
                "checkpoint out, or choose a sampler that releases every iterate, such as SGLD() or Barker()"
            )
        if getattr(self._plan.settings, "propose", None) is not None:
            raise CheckpointError(
                "checkpoint: a proposal of your own sees steps that a stop undoes and a resumed run draws again, which "
                "nobody has paid for; leave checkpoint out"
            )
        if void != self._plan.guarantee.void:
            raise CheckpointError(
                "checkpoint: a resumed run draws new random numbers, so leave seed and unsafe_diagnostics out"
            )

    def __enter__(self) -> Safekeeping:
        if self._path is not None:
            self._lock = checkpoint_file.locked(self._path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            os.close(self._lock)

    def begin(self, core: Any) -> None:
        """Charge a new run, or take up the one in the checkpoint."""
        if self._path is not None and not hasattr(core, "state"):
            raise CheckpointError("checkpoint: runs of this sampler cannot be resumed; leave checkpoint out")
        if self._path is not None and self._path.exists():
            self._resume(core, self._path)
        else:
            self._note_table()
            self.save(core)
            self._reserve(core)
        if self._ledger is not None:
            self.ledger_entry = self._ledger.entry_of(self._ticket)

    def after_chunk(self, core: Any) -> None:
        """Save if the interval has passed."""
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
        header = {
            "run": self._identity(),
            "ticket": self._ticket,
            "resumed": self._resumed,
            "charged": self._ledger is not None,
            "steps_done": core.steps_done,
            "token": self._token,
            "confirmed": self._confirmed,
            "table": self._mark,
        }
        checkpoint_file.write(
            self._path, header, [np.array(core.state()), self._out[:, : self._release.made(core.steps_done)]]
        )
        ended = time.perf_counter()
        self._next = ended + max(INTERVAL, PATIENCE * (ended - started))

    def end(self, core: Any) -> None:
        """Save the draws, then note the release in the ledger, so that no copy of the checkpoint can repeat it."""
        if core.steps_done < self._plan.settings.steps:
            self._token = secrets.token_hex(16)  # older checkpoints hold another one
        saved = True
        try:
            self.save(core)
        except CheckpointError as error:
            saved = False
            warnings.warn(str(error), RuntimeWarning, stacklevel=4)
        try:
            self._note_release(core)
        except ResumedElsewhere:
            self._discard()
            raise
        if not saved:
            self._discard()  # what is released now must not be drawn a second time from an older checkpoint

    def _note_release(self, core: Any) -> None:
        if self._ledger is None:
            return
        try:
            if core.steps_done >= self._plan.settings.steps:
                self._ledger.commit(self._ticket, self._confirmed)
            elif self._path is not None:
                self._ledger.stop(self._ticket, self._confirmed, self._token)
        except LedgerError as error:
            if self._path is not None or isinstance(error, ResumedElsewhere):
                raise
            warnings.warn(
                f"the run was charged, but the ledger could not record that it finished: {error}",
                RuntimeWarning,
                stacklevel=5,
            )

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

    def _note_table(self) -> None:
        if self._ledger is not None and self._path is not None:
            self._mark = self._ledger.mark(self._data, self._ticket)

    def _resume(self, core: Any, path: Path) -> None:
        most_bytes = 2 * len(json.dumps(self._identity())) + 2**16 + 8 * (len(core.state()) + self._out.size)
        header, (state, draws) = checkpoint_file.read(path, most_bytes)
        self._check(header, path)
        done = header["steps_done"]
        out = self._out[:, : self._release.made(done)]
        if draws.size != out.size:
            raise CheckpointError(f"{path} is damaged: it has {draws.size} numbers, and {done} steps make {out.size}")
        core.restore(state.tolist(), done)
        out[:] = draws.reshape(out.shape)
        self._resumed = header["resumed"]
        if self._ledger is None:
            self._ticket = header["ticket"]
        elif header["charged"]:
            self._take_up(core, self._ledger, header, path)
        else:  # its draws were made without a ledger: this one is charged for all of them, by a name of its own
            self._note_table()
            self._reserve(core)
        if done < self._plan.settings.steps:
            self._resumed += 1
            self._token = secrets.token_hex(16)
            self.save(core)  # before the ledger hears of it: a crash in between must not lock the checkpoint out
            if self._ledger is not None:
                self._ledger.resume(self._ticket, self._confirmed, self._token, self._data)
                self._confirmed = self._token

    def _take_up(self, core: Any, ledger: Ledger, header: dict[str, Any], path: Path) -> None:
        """Find the run in its ledger; refuse another table, and a checkpoint that is not the current one."""
        self._ticket = header["ticket"]
        self._note_table()
        try:
            current = ledger.token(self._ticket)
        except LedgerError:
            if core.steps_done > 0:
                raise
            self._reserve(core)  # the run was stopped before it was charged, and nothing was drawn
            current = ledger.token(self._ticket)
        else:
            if header.get("table") not in (None, self._mark):
                raise CheckpointError(
                    f"{path} is the checkpoint of a run on other records: rows, their order, columns and declared "
                    "bounds must be the same. Nothing was run"
                )
        if not checkpoint_file.may_go_on(header, current):
            raise LedgerError(RESUMED)
        self._token = self._confirmed = current

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
                f"the run of the checkpoint {path} was charged to a ledger; pass that ledger to resume it"
            )

    def _identity(self) -> dict[str, Any]:
        facts = {
            "plan": {name: value for name, value in self._plan.describe().items() if name != "outlook"},
            "public facts": self._plan.public.to_dict(),
            "guarantee": self._plan.guarantee.to_dict(),
            "draws or warmup": dataclasses.asdict(self._release),
            "version of pydpmc": __version__,
        }
        identity: dict[str, Any] = json.loads(json.dumps(facts))
        return identity
