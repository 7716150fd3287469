"""What a run says of itself: a refusal before it spends, a warning before it disappoints, one after it has failed.

All of it follows from public facts or released draws.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import ConvergenceWarning, HopelessPlan, PoorPlanWarning
from ..planning.helps import helps
from ..planning.plan import Plan
from ..posterior.posterior import Posterior

LARGEST_RHAT, ENOUGH_DRAWS = 1.05, 100.0


def refuse_hopeless(plan: Plan, anyway: bool) -> None:
    """Refuse a plan that would waste its budget, unless it is wanted anyway; warn of a poor one."""
    if not plan.private or anyway:
        return
    reason = plan.outlook.hopeless
    if reason is not None:
        raise HopelessPlan(
            f"this plan would waste its budget, and nothing was spent: {reason}.\n"
            + "\n".join(
                f"- {line}" for line in (*helps(plan), "pass anyway=True (pydpmc run --anyway) to run it all the same")
            )
        )
    if plan.outlook.poor is not None:
        warnings.warn(f"{plan.outlook.poor}; print(plan) says what would help", PoorPlanWarning, stacklevel=4)


def warn_of_convergence(post: Posterior) -> None:
    """Warn once of draws that have not converged."""
    doubt = doubt_of(post)
    if doubt is not None:
        warnings.warn(doubt, ConvergenceWarning, stacklevel=4)


def doubt_of(post: Posterior) -> str | None:
    """Return why draws are in doubt, where they are a chain; None if nothing speaks against them."""
    if post.plan.get("independent_draws") or post.interrupted:
        return None
    table = post.summary()
    rhat, ess = (table.column(name) for name in ("rhat", "ess"))
    worst, fewest = _largest(rhat), -_largest(-ess)
    if not (worst > LARGEST_RHAT or fewest < ENOUGH_DRAWS):
        return None
    return (
        f"the draws have not converged: R-hat is up to {worst:.3g} (1.05 at most), and a parameter has {fewest:.0f} "
        "effective draws (100 at least); their intervals are not to be trusted"
    )


def _largest(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else float("nan")
