"""A proposal that the user wrote: any public function of theta and random numbers. docs/privacy/barker.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgument

if TYPE_CHECKING:
    from ..request import Request

Floats = npt.NDArray[np.float64]
TRIES = 64
PUBLIC = (
    "the proposal is a public function of theta and of the random numbers it is given: it was not made from the "
    "records, and it sees none"
)


def compiled(function: Callable[..., Any]) -> Any:
    """Return the function as the core calls it: every step has random numbers of its own."""

    def propose(theta: Floats, words: tuple[int, int], out: Floats) -> float:
        # A copy: a function may change or keep what it gets, and the core's memory does not outlive the run.
        key = np.array(words, dtype=np.uint64)
        proposal, log_ratio = _proposed(function, theta.copy(), np.random.Philox(key=key))
        out[...] = proposal
        return log_ratio

    return _core.OwnProposal.of_python(propose)


def moves_of(request: Request) -> tuple[float, ...]:
    """Return how far the function moves each coordinate, tried at the start of the chains: no record is seen."""
    function, start = request.sampler.proposal, request.model.centre(request.public)
    moves = []
    for k in range(TRIES):
        try:
            moved, log_ratio = _proposed(function, start.copy(), np.random.Philox(key=k))
        except InvalidArgument:
            raise
        except Exception as error:  # of public numbers: it may be shown
            text = (str(error).strip().splitlines() or [""])[0][:300]
            raise InvalidArgument(
                f"proposal failed at the start of the chains: {type(error).__name__}: {text}"
            ) from error
        if not np.isfinite(moved).all() or math.isnan(log_ratio):
            raise InvalidArgument("proposal gave a theta or a log-ratio that is no number at the start of the chains")
        moves.append(moved - start)
    whole = np.array(request.model.whole_numbers(request.public), dtype=bool)
    if np.any(np.array(moves)[:, whole] % 1.0):
        raise InvalidArgument("proposal must move parameters that are whole numbers by whole numbers")
    spread = np.sqrt((np.array(moves) ** 2).mean(axis=0))
    if not spread.any():
        raise InvalidArgument(f"proposal did not move theta in {TRIES} tries from the start of the chains")
    seldom = spread[spread > 0.0].min()
    return tuple(float(s) for s in np.maximum(spread, seldom))


def _proposed(function: Callable[..., Any], theta: Floats, bits: np.random.BitGenerator) -> tuple[Floats, float]:
    made = function(theta, np.random.Generator(bits))
    proposal, log_ratio = made if isinstance(made, tuple) else (made, 0.0)
    array = np.asarray(proposal, dtype=np.float64)
    if array.shape != theta.shape:
        raise InvalidArgument(
            f"proposal must return a theta of shape {theta.shape}, or a pair of it and the log-ratio of densities "
            f"(back over there), but the shape is {array.shape}"
        )
    return array, float(log_ratio)
