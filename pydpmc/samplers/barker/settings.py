"""The settings of a Barker run: public numbers only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...accounting import AcceptBit, Event, MinibatchAcceptBit
from ...accounting.events.barker_correction import correction
from ...data.public import Public
from ..base import DEFAULT_DRAWS, SUBSET_ERROR, Release, all_iterates, subset_arguments
from ..directions import Directions
from ..outlook import Outlook, of_chain, run_costs
from .own_proposal import PUBLIC, compiled
from .proposal import KINDS, OWN, Walk

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...models import Model
    from .forecast import Forecast

# The 64-bit threshold and the rounding of D change the log-odds by less than this: docs/privacy/barker.md, lemma 3.
ARITHMETIC_SLACK = 2e-9
ROUNDING_UP = 1.0 + 1e-12
LARGEST_TABLE = 2**31  # under add_remove the number of records is private, so there must be room for any
UNCLIPPED = 1024.0  # clip of a run without privacy, per record and step


@dataclass(frozen=True)
class Settings:
    """A fully specified Barker run."""

    steps: int
    walk: Walk
    clip: float
    w: float
    n: int | None  # None under add_remove
    batch_size: int = 0  # 0: all records
    c: float = 1.0
    room: int = LARGEST_TABLE  # public bound on the number of records: no check may depend on a private n
    propose: Callable[..., Any] | None = None  # of walks that the user wrote

    @property
    def kappa(self) -> float:
        """Variance of D* per unit of batch variance, with the finite-population factor."""
        assert self.n is not None
        return (1.0 - self.batch_size / self.n) / (self.batch_size - 1)

    @property
    def v_max(self) -> float:
        """The largest variance estimate that a batch can give."""
        assert self.n is not None
        return self.kappa * (self.w * self.n * self.clip) ** 2 * ROUNDING_UP

    @property
    def bits(self) -> int:
        """Bits of the integer grid, limited by 64-bit sums over the table (or of squares over a batch)."""
        if self.batch_size:
            return min(25, (61 - math.ceil(math.log2(self.batch_size))) // 2)
        return min(40, 61 - math.ceil(math.log2(self.room)))

    def event(self, adjacency: str) -> Event:
        """Return what one step releases."""
        if self.batch_size:
            assert self.n is not None
            return MinibatchAcceptBit(b=self.batch_size, n=self.n, v_max=self.v_max, c=self.c)
        records = 2.0 if adjacency == "replace" else 1.0
        return AcceptBit(shift=records * self.w * self.clip * ROUNDING_UP + ARITHMETIC_SLACK)

    @property
    def dim(self) -> int:
        """The length of theta."""
        return self.walk.dim

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of all steps of all chains."""
        return [(self.event(adjacency), self.steps * chains)]

    def total_variation(self, chains: int) -> float:
        """Return the total variation of batches from uniform subsets; the shift covers the accept bit's arithmetic."""
        return self.steps * chains * SUBSET_ERROR if self.batch_size else 0.0

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Return nothing, unless the proposal is the user's: then that it is public."""
        return () if self.propose is None else (PUBLIC,)

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates are released; the guarantee covers all of them."""
        return all_iterates(self.steps, chains, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run in the compiled core."""
        in_memory = data._mapping is None  # else nothing that grows with the records may be
        return core.BarkerRun(target, chains, **self.core_arguments(core, data.public), cached=in_memory)

    def forecast(self, model: Model, public: Public, chains: int) -> Forecast:
        """Return the forecast of the chains."""
        from .forecast import forecast

        return forecast(model, public, self, chains)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        from .forecast import acceptance_rate

        move = self.walk.step
        steepness = math.sqrt(float((self.w * ways.information + ways.prior).sum()))
        time = self.steps * acceptance_rate(move * steepness) * move**2 / 2.0
        share = self.batch_size / ways.n if self.batch_size else 1.0
        return of_chain(ways, self.w, time, chains, **run_costs(ways, 2.0 * self.steps * chains * share, DEFAULT_DRAWS))

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "sampler": "Barker",
            "steps": self.steps,
            "batch_size": self.batch_size or None,
            "proposal": self.walk.kind,
            "scale": np.asarray(self.walk.scale).tolist(),
            "radius": self.walk.radius,
            "clip": self.clip,
            "w": self.w,
            "c": self.c if self.batch_size else None,
        }

    def rows(self, size: int | None) -> list[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        return _rows(self, size)

    def core_arguments(self, core: Any, public: Public) -> dict[str, Any]:
        """Return the arguments of ``_core.BarkerRun`` other than target and chains."""
        weight = self.w * public.n / self.batch_size if self.batch_size else self.w
        arguments: dict[str, Any] = {
            "proposal": 0 if self.propose is not None else KINDS.index(self.walk.kind),
            "radius": self.walk.radius,
            "factor": self.walk.factor().ravel().tolist(),
            "shift_per_clip": weight,
            "clip": self.clip,
            "bits": self.bits,
            "batch": self.batch_size,
            "whole": list(self.walk.whole),
        }
        if self.propose is not None:
            arguments["own"] = compiled(self.propose)
        if not self.batch_size:
            return arguments | {"v_max": 0.0, "c": 1.0, "x_max": 0.0, "atoms": [], "weights": []}
        bit = MinibatchAcceptBit(b=self.batch_size, n=public.n, v_max=self.v_max, c=self.c)
        law = bit.correction
        return arguments | {
            "v_max": self.v_max,
            "c": self.c,
            "x_max": bit.x_max,
            "atoms": np.concatenate([law.atoms, -law.atoms]).tolist(),
            "weights": np.tile(0.5 * law.weights, 2).tolist(),
            **subset_arguments(core, public.n, self.batch_size),
        }


def _rows(settings: Settings, size: int | None) -> list[tuple[str, str]]:
    """Return label and text of each line."""
    batch = f"{settings.batch_size:,} of {size:,}" if settings.batch_size else "all, in the exact test"
    rows = [
        ("records per step", batch),
        ("proposal", _proposal(settings.walk)),
        ("clip", f"{settings.clip:.4g} per record and step"),
    ]
    if settings.batch_size:
        error = float(correction(settings.c).odds_error)
        rows.append(("minibatch test", f"C = {settings.c:g}, v_max = {settings.v_max:.3g}, log-odds error {error:.1e}"))
    return rows


def _proposal(walk: Walk) -> str:
    if walk.kind == OWN:
        return "a function of your own"
    shape = walk.kind.replace("_", " ")
    size = f"{walk.scale:.4g}" if isinstance(walk.scale, float) else f"a given {_shape_of(walk)}"
    return f"{shape}, {'radius' if walk.kind in ('ball', 'sphere') else 'scale'} {size}"


def _shape_of(walk: Walk) -> str:
    return "covariance" if walk.factor().ndim == 2 else "vector"
