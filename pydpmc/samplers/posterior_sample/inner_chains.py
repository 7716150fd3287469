"""NUTS chains with hidden states, of which a few are released on a public grid after a convergence check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...diagnostics import ess, rhat
from ...errors import NotConvergedError
from ..nuts.settings import UNCLAMPED
from .settings import INDEPENDENT, LEAST_ESS, MOST_RHAT

if TYPE_CHECKING:
    from ..._core import Chains, Target
    from .settings import PosteriorSampleSettings

Floats = npt.NDArray[np.float64]

# The refusal is itself a release, so it has one text for every cause and no numbers.
REFUSED = (
    "the inner chains of PosteriorSample failed their convergence check, and no draw is released. The budget is spent, "
    "because the failure depends on the records. Raise warmup or inner_draws before another attempt"
)


class HiddenNuts:
    """A run of inner chains that releases its draws after the last step."""

    def __init__(self, core: Any, target: Target, chains: Chains, settings: PosteriorSampleSettings) -> None:
        self._settings, self._released = settings, chains.draws
        self._states = np.empty((settings.inner_chains, settings.inner_draws, settings.dim))
        inner = core.Chains(
            init=np.array(np.broadcast_to(chains.init, (settings.inner_chains, settings.dim))),
            draws=self._states,
            warmup=settings.warmup,
            thin=1,
            seed=chains.seed,
        )
        self._run = core.NutsRun(
            target,
            inner,
            weight=settings.w,
            prior_weight=settings.prior_weight,
            loglik_range=settings.loglik_range or UNCLAMPED,
            target_accept=0.8,
            max_depth=10,
            jitter=1.0,
        )

    @property
    def steps_done(self) -> int:
        """Steps that every inner chain has made."""
        return int(self._run.steps_done)

    def advance(self, steps: int, threads: int, block: int) -> None:
        """Make steps; after the last one, check convergence and release the draws."""
        try:
            self._run.advance(steps, threads, block)
        except ValueError:  # no start had a finite density
            raise NotConvergedError(REFUSED) from None
        if self.steps_done >= self._settings.steps:
            self._release()

    def stop(self) -> None:
        """Make no more steps, and release nothing."""
        self._run.stop()

    def _release(self) -> None:
        settings = self._settings
        converged = all(self._converged(self._states[:, :, j]) for j in range(settings.dim))
        if converged:
            grid = np.array(settings.grid)
            self._released[0] = np.rint(picked(self._states, settings.draws, settings.spacing) / grid) * grid
        self._states.fill(0.0)
        if not converged:
            raise NotConvergedError(REFUSED)

    def _converged(self, states: Floats) -> bool:
        effective = ess(states)
        spaced = effective * self._settings.spacing >= INDEPENDENT * states.size
        return bool(rhat(states) < MOST_RHAT and effective >= LEAST_ESS and (spaced or self._one_a_chain))

    @property
    def _one_a_chain(self) -> bool:
        return self._settings.draws <= self._settings.inner_chains


def picked(states: Floats, draws: int, spacing: int) -> Floats:
    """Return `draws` states: the last one of each chain, then those `spacing` steps earlier, and so on."""
    chains, length, _ = states.shape
    order = np.arange(draws)
    return np.asarray(states[order % chains, length - 1 - spacing * (order // chains)])
