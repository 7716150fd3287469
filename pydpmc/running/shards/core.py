"""What samplers take for the compiled core when records are in cells: each run's steps are its two halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgument
from .cell import Sums, cell_sums
from .nuts import NutsSteps
from .seams import Seams

HEADROOM = 2.0**61
KNOWN = {"columns", "has_target", "model", "intercept", "constants", "prior", "group_start", "squares", "weights"}


class Session(Protocol):
    """Cells that are ready for a run."""

    def ask(self, wanted: Mapping[str, Any], threads: int) -> Sums:
        """Return exact sums over all cells, each counted once."""


class Cells(Protocol):
    """The cells of a table, wherever they are."""

    cells: int
    units: int
    firsts: list[int]  # the place of the first unit of each cell that has one

    def start(self, make: Any, task: Mapping[str, Any], keys: Sequence[bytes] | None) -> Session:
        """Prepare all cells for a run."""


class ShardTarget:
    """A target whose records are elsewhere: the model's facts, and how the records are read."""

    def __init__(self, *, rows: Any, coded: Any = None, **facts: Any) -> None:
        if not facts.keys() <= KNOWN:
            raise InvalidArgument(
                "model: records in cells are for the models of pydpmc, whose code workers have; use one cell and one "
                "machine"
            )
        self._facts = {"rows": np.asarray(rows), "coded": coded, **facts}
        self.changes = getattr(rows, "changes", ())
        self.of_core = _core.Target(**self._facts)
        self.public = {name: facts[name] for name in ("model", "intercept", "constants", "prior")}

    @property
    def template(self) -> npt.NDArray[Any]:
        """A row that counts for nothing, of the type and width of all rows."""
        return np.asarray(self._facts["rows"])

    def over(self, rows: npt.NDArray[Any]) -> Any:
        """Return the same target over other rows, as the model reads them."""
        shape = {name: self._facts[name] for name in ("columns", "has_target")}
        return _core.Target(rows=rows, **shape, **self.public)

    def read_of(self, units: int) -> int:
        """Return how many of all units are read."""
        return min([units, *(int(value) for name, value in self.changes if name == "first")])

    def with_squares(self, squares: Any) -> ShardTarget:
        """Return itself: cells have norms of their own."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of_core, name)


class _Random:
    """The core's random numbers; tables of gaps are made at the cells, of the rate."""

    @staticmethod
    def GapTables(rate: float, *tables: Any) -> float:
        """Return the rate."""
        return rate

    def __getattr__(self, name: str) -> Any:
        return getattr(_core.random, name)


class ShardedCore:
    """Has the runs of ``_core``, over cells."""

    Target, Chains, random = ShardTarget, _core.Chains, _Random()

    def __init__(self, cells: Cells) -> None:
        self._cells = cells

    def GradientRun(self, target: ShardTarget, chains: Any, **options: Any) -> StepRun:
        """Return a run of a gradient sampler on all records or Poisson samples."""
        sampling, rate = options["sampling"], options.pop("gaps")
        options.pop("most")
        if sampling == "without_replacement":
            raise InvalidArgument(
                "sampling: records in cells have no batches of a fixed size, because no cell knows how many are its "
                'own; use sampling="poisson", or all records'
            )
        run = _core.GradientRun(target.of_core, chains, **(options | {"sampling": "full", "gaps": None, "most": 0}))
        query = {name: options[name] for name in ("sampler", "parameters", "sampling", "clip", "room")}
        task = _task("query", target, query={**query, "rate": rate, "chains": len(chains.init)})
        session = self._cells.start(cell_sums, task, run.cell_keys(self._cells.cells))
        return StepRun(run, session, lambda: _step_of(run), self._cells.units)

    def LangevinRun(self, target: ShardTarget, chains: Any, **options: Any) -> StepRun:
        """Return a Langevin run."""
        run = _core.LangevinHalves(target.of_core, chains, **options)
        grid = {"clip": options["clip"], "per_unit": 1.0 / options["gradient_unit"]}
        # No more records are summed than were declared, so the refusal tells nothing of a private number.
        if not target.read_of(self._cells.units) * options["clip"] * grid["per_unit"] < HEADROOM:
            raise InvalidArgument("clip over gradient_unit overflows a 64-bit sum")
        session = self._cells.start(cell_sums, _task("gradient", target, grid=grid), None)
        return StepRun(run, session, lambda: {"thetas": run.wanted()}, self._cells.units)

    def BarkerRun(self, target: ShardTarget, chains: Any, **options: Any) -> StepRun:
        """Return a run of the Barker test on all records."""
        if options["batch"]:
            raise InvalidArgument(
                "batch_size: records in cells have no minibatch test, because its batches have a fixed size; leave "
                "batch_size out for the exact test on all records"
            )
        run = _core.BarkerRun(target.of_core, chains, **options)
        task = _task("ratio", target, grid={"clip": options["clip"], "bits": options["bits"]})
        session = self._cells.start(cell_sums, task, None)
        return StepRun(run, session, lambda: {"states": run.wanted()}, self._cells.units)

    def NewtonRun(self, *, rows: Any, **options: Any) -> Looks:
        """Return the looks of Newton."""
        options |= {"squares": None, "weights": None}
        template = np.asarray(rows)
        run = _core.NewtonRun(rows=template, **options)
        facts = {name: options[name] for name in ("model", "intercept", "constants", "dim")}
        task = {"kind": "look", "target": facts, "changes": getattr(rows, "changes", ())}
        return Looks(run, self._cells.start(cell_sums, task, None))

    def NutsRun(self, target: ShardTarget, chains: Any, **options: Any) -> NutsSteps:
        """Return a run of NUTS."""
        run = _core.NutsRun(target.of_core, chains, **options)
        task = _task("density", target, loglik_range=options["loglik_range"])
        session = self._cells.start(cell_sums, task, None)
        seams = Seams(session, target, self._cells.firsts, target.read_of(self._cells.units))
        return NutsSteps(run, session, seams, task, len(chains.init))

    def statistics_sum(self, settings: Any, rows: Any, unit: float) -> Sums:
        """Return the exact sums of a conjugate run."""
        task = {"kind": "statistics", "settings": settings, "unit": unit, "changes": getattr(rows, "changes", ())}
        return self._cells.start(cell_sums, task, None).ask({}, 1)


class StepRun:
    """A run whose steps ask the cells, and absorb their sums."""

    def __init__(self, run: Any, session: Session, wanted: Any, units: int) -> None:
        self._run, self._session, self._wanted, self.units = run, session, wanted, units
        self._stopped = False

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Make steps of all chains."""
        for _ in range(steps):
            if self._stopped:
                return
            sums = self._session.ask(self._wanted(), threads)
            if self._stopped:
                return
            self._run.absorb(sums)

    def stop(self) -> None:
        """Make no further step."""
        self._stopped = True
        self._run.stop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)


class Looks:
    """Looks whose sums come from cells."""

    def __init__(self, run: Any, session: Session) -> None:
        self._run, self._session = run, session

    def look(self, *, theta: list[float], threads: int, block: int, **spec: Any) -> Any:
        """Return a noised look at all records."""
        sums = self._session.ask({"theta": theta, **spec}, threads)
        return self._run.absorb(sums, **{name: value for name, value in spec.items() if name != "table"})

    def stop(self) -> None:
        """Take no further look."""
        self._run.stop()


def _task(kind: str, target: ShardTarget, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "target": target.public, "changes": target.changes, **more}


def _step_of(run: Any) -> dict[str, Any]:
    return {"thetas": run.wanted(), "step": run.steps_done, "noise": run.noise}
