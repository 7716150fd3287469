"""The settings of a NUTS run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...accounting import Event
from ...data.public import Public
from ...errors import InvalidArgument, NotPrivateError
from ..base import Release
from ..directions import Directions
from ..outlook import Outlook, of_calibrated, run_costs

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from ...data.data import Data
    from ...models import Model

UNCLAMPED = (float("-inf"), float("inf"))


@dataclass(frozen=True)
class NutsSettings:
    """A fully specified run of NUTS, without privacy."""

    draws: int
    warmup: int
    target_accept: float
    max_depth: int
    jitter: float
    w: float
    dim: int

    @property
    def steps(self) -> int:
        """Steps of each chain, warm-up included."""
        return self.warmup + self.draws

    @property
    def assumptions(self) -> tuple[str, ...]:
        """An empty tuple: there is no guarantee."""
        return ()

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Refuse, because NUTS has no accounting rule."""
        raise NotPrivateError("NUTS has no guarantee: plan with private=False")

    def total_variation(self, chains: int) -> float:
        """Return 0."""
        return 0.0

    def releases(self, chains: int, draws: int | None, warmup: int | None) -> Release:
        """Return which iterates are kept: all after the warm-up."""
        for name, value in (("draws", draws), ("warmup", warmup)):
            if value is not None:
                raise InvalidArgument(f"{name} is not an option of this run: set it in NUTS({name}=...)")
        return Release(chains, self.draws, self.warmup, 1)

    def start(self, core: Any, target: Target, chains: Chains, data: Data) -> Any:
        """Return the run in the compiled core."""
        return core.NutsRun(
            target,
            chains,
            weight=self.w,
            prior_weight=1.0,
            loglik_range=UNCLAMPED,
            target_accept=self.target_accept,
            max_depth=self.max_depth,
            jitter=self.jitter,
        )

    def forecast(self, model: Model, public: Public, chains: int) -> Reference:
        """Return an empty forecast: nothing is known before the run."""
        return Reference()

    def outlook(self, ways: Directions, chains: int) -> Outlook:
        """Return what can be expected, in the units of all samplers."""
        return of_calibrated(
            ways, ways.information + ways.prior, **run_costs(ways, 8.0 * self.steps * chains, self.draws * chains)
        )

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "sampler": "NUTS",
            "steps": self.steps,
            "draws": self.draws,
            "warmup": self.warmup,
            "target_accept": self.target_accept,
            "max_depth": self.max_depth,
            "jitter": self.jitter,
            "w": self.w,
        }

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        return [
            ("records per step", "all, at every point of a trajectory"),
            ("draws of each chain", f"{self.draws:,} after {self.warmup:,} steps of warm-up"),
            ("trajectories", f"at most {2**self.max_depth:,} steps, tuned to accept {self.target_accept:g}"),
        ]


@dataclass(frozen=True)
class Reference:
    """The empty forecast of a run that tunes itself to the records."""

    def rows(self) -> list[tuple[str, str]]:
        """Return nothing."""
        return []

    def advice(self, private: bool) -> list[str]:
        """Return nothing."""
        return []
