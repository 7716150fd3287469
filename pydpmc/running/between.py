"""What a function of the caller may do between the steps of a chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgument, WrongType
from ..planning.plan import Plan

READS_NOTHING = "the function between steps reads no record"
MOVABLE = ("sgld", "sghmc")  # their state is theta, and a velocity of the same length

Floats = npt.NDArray[np.float64]
Between = Callable[[Floats, Floats | None], None]


def check_between(plan: Plan, between: Between, checkpoint: Any, in_cells: bool) -> None:
    """Refuse a function between steps that the guarantee, or the sampler, has no place for."""
    if not callable(between):
        raise WrongType("between must be a function of theta and velocity")
    if getattr(plan.settings, "sampler", None) not in MOVABLE:
        raise InvalidArgument("between: only SGLD without a preconditioner and SGHMC can be moved between their steps")
    if plan.private and READS_NOTHING not in plan.guarantee.assumptions:
        raise InvalidArgument(
            "between: the guarantee needs an assumption that only you can make; "
            f'plan with assumptions=["{READS_NOTHING}"]'
        )
    if checkpoint is not None:
        raise InvalidArgument("checkpoint: a run with between cannot be resumed, because its function is not saved")
    if in_cells:
        raise InvalidArgument("between: records in several cells cannot be read one step at a time; use one cell")


def move(core: Any, plan: Plan, between: Between) -> None:
    """Let the function change the chains. It is a function of what they have released: docs/privacy/sgld.md."""
    state = np.array(core.state()).reshape(plan.chains, -1, plan.settings.dim)
    between(state[:, 0], state[:, 1] if state.shape[1] > 1 else None)
    core.restore(state.ravel().tolist(), core.steps_done)
