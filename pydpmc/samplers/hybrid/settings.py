"""The settings of a start and a chain, and the run of one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...accounting import Event
from ...data.public import Public
from ..base import Release, RunSettings
from ..directions import Directions
from ..outlook import Outlook

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...models import Model

PARTS = 50  # the start runs in this many chunks, so that it can be stopped
OTHER_SEED = 1 << 63  # in seeded tests, start and chain must not share random numbers


@dataclass(frozen=True)
class HybridSettings:
    """Settings of the start and of the chain; `share` is the start's share of the budget."""

    first: RunSettings
    chain: RunSettings
    share: float | None

    @property
    def steps(self) -> int:
        """Steps of each chain after the start."""
        return self.chain.steps

    @property
    def dim(self) -> int:
        """Length of theta."""
        return self.chain.dim

    @property
    def w(self) -> float:
        """Tempering weight of the chain."""
        return self.chain.w

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of both guarantees."""
        return tuple(dict.fromkeys((*self.first.assumptions, *self.chain.assumptions)))

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of start and chains, with equal events merged."""
        merged: dict[Event, int] = {}
        for event, count in (*self.first.uses(adjacency, 1), *self.chain.uses(adjacency, chains)):
            merged[event] = merged.get(event, 0) + count
        return list(merged.items())

    def total_variation(self, chains: int) -> float:
        """Return the total variation between the random numbers of both and the laws that are accounted."""
        return self.first.total_variation(1) + self.chain.total_variation(chains)

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates of the chain are released."""
        return self.chain.releases(chains, draws, warmup)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> HybridRun:
        """Return the run."""
        return HybridRun(self, core, target, chains, data)

    def forecast(self, model: Model, public: Public, chains: int) -> Any:
        """Return the forecast of the chain."""
        return self.chain.forecast(model, public, chains)

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected of the chain from one draw of the start's posterior on."""
        away = 2.0 / (self.first.w * ways.information + ways.prior)
        return self.chain.outlook(dataclasses.replace(ways, start=away), chains)

    def describe(self) -> dict[str, Any]:
        """Return the settings of the chain as plain values, and those of the start under "start"."""
        chain = self.chain.describe()
        return {
            **chain,
            "sampler": "Hybrid",
            "chain": chain["sampler"],
            "start": self.first.describe(),
            "share": self.share,
        }

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        first = self.first.describe()
        share = "" if self.share is None else f", with {100 * self.share:g} % of the budget at most"
        return [
            ("start", f"{first['sampler']}, {self.first.steps:,} step(s) at w = {self.first.w:.4g}{share}"),
            ("then", str(self.chain.describe()["sampler"])),
            *self.chain.rows(size),
        ]


class HybridRun:
    """A run of the start, whose draws are not returned, and then of the chains from the mean of these draws."""

    def __init__(self, settings: HybridSettings, core: Any, target: Target, chains: Chains, data: Data) -> None:
        self._settings, self._core, self._target, self._chains, self._data = settings, core, target, chains, data
        self._chain: Any = None
        self._running: Any = None
        self._stopped = False

    def stop(self) -> None:
        """Make no more steps of the start or of the chain."""
        self._stopped = True
        if self._running is not None:
            self._running.stop()

    @property
    def steps_done(self) -> int:
        """Steps of each chain."""
        return 0 if self._chain is None else int(self._chain.steps_done)

    @property
    def accepted(self) -> Sequence[int]:
        """Accepted proposals of each chain; empty if the sampler proposes nothing."""
        return tuple(getattr(self._chain, "accepted", ()))

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Run the start if it has not run yet, then make steps of the chains."""
        if self._chain is None:
            point = self._point(threads, block)
            if self._stopped:
                return
            given = self._chains
            chains = self._core.Chains(
                init=np.array(np.broadcast_to(point, given.init.shape)),
                draws=given.draws,
                warmup=given.warmup,
                thin=given.thin,
                seed=given.seed,
            )
            self._chain = self._settings.chain.start(self._core, self._target, chains, self._data)
            self._running = self._chain
        if self._stopped:  # `_running` is set above, so a stop() from now on reaches the chain
            return
        self._chain.advance(steps, threads, block)

    def _point(self, threads: int, block: int) -> Any:
        first, seed = self._settings.first, self._chains.seed
        release = first.releases(1, None, None)
        out = np.zeros((release.chains, release.kept, first.dim))  # a stopped start leaves some of it as it is
        chains = self._core.Chains(
            init=np.array(np.broadcast_to(self._chains.init[0], (release.chains, first.dim))),
            draws=out,
            warmup=release.warmup,
            thin=release.thin,
            seed=None if seed is None else seed ^ OTHER_SEED,
        )
        run = self._running = first.start(self._core, self._target, chains, self._data)
        while run.steps_done < first.steps and not self._stopped:
            run.advance(min(1 + first.steps // PARTS, first.steps - run.steps_done), threads, block)
        return out.mean(axis=(0, 1))
