"""What a result is good for, in one sentence, from public facts and draws: the verdict beside the one on privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

LARGEST_RHAT, ENOUGH_DRAWS = 1.05, 100.0
STUCK_RHAT, FEWEST_DRAWS = 1.2, 20.0
USEFUL_WIDTH, AS_WIDE = 3.0, 1.05
FROM_RECORDS = 0.5  # of the posterior's precision
NO_BETTER_THAN_PRIOR, KNOWN = 0.97, 1.02


class Usefulness(NamedTuple):
    """A sentence, and its kind: ``useful``, ``wide``, ``pulled``, ``caution``, ``do not use`` or ``unknown``."""

    kind: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def usefulness(outlook: Mapping[str, Any], *, rhat: float | None = None, ess: float | None = None) -> Usefulness:
    """Return the verdict on a plan, or on a run of which R-hat and effective draws are known.

    Parameters
    ----------
    outlook
        ``plan.outlook.to_dict()``, which a posterior keeps as ``post.plan["outlook"]``; empty if there is none.
    rhat, ess
        The largest R-hat and the fewest effective draws of any parameter, where draws are a chain.

    Examples
    --------
    >>> print(usefulness({"width": 1.31, "error": 1.3, "records_share": 0.99}))
    useful: intervals about 1.3 times as wide as without privacy
    >>> print(usefulness({"width": 4.0, "error": 4.0, "records_share": 0.12}))
    pulled to the prior: the records have 12 % of the weight
    >>> print(usefulness({"is_chain": True}, rhat=2.1, ess=3.0))
    do not use: the chain did not converge (R-hat 2.1, 3 effective draws)
    """
    found = _of_chain(rhat, ess)
    if found is not None and found.kind == "do not use":
        return found
    before = _of_plan(outlook, forecast=ess is None)
    return before if found is None or before.kind == "do not use" else found


def _of_chain(rhat: float | None, ess: float | None) -> Usefulness | None:
    if rhat is None and ess is None:
        return None
    told = [] if rhat is None or not math.isfinite(rhat) else [f"R-hat {rhat:.3g}"]
    told += [] if ess is None or not math.isfinite(ess) else [f"{ess:.0f} effective draws"]
    figures = f" ({', '.join(told)})" if told else ""
    stuck = rhat is not None and not rhat <= STUCK_RHAT
    if stuck or (ess is not None and not ess >= FEWEST_DRAWS):
        return Usefulness("do not use", f"do not use: the chain did not converge{figures}")
    if (rhat is not None and rhat > LARGEST_RHAT) or (ess is not None and ess < ENOUGH_DRAWS):
        return Usefulness("caution", f"use with caution: the chain has hardly converged{figures}")
    return None


def _of_plan(outlook: Mapping[str, Any], forecast: bool) -> Usefulness:
    width, error, prior_error = (outlook.get(key) for key in ("width", "error", "prior_error"))
    share, effective = outlook.get("records_share"), outlook.get("effective_draws")
    if forecast and outlook.get("is_chain") and effective is not None and effective < FEWEST_DRAWS:
        few = max(effective, 1.0)
        return Usefulness("do not use", f"do not use: the chain can make about {few:.2g} effective draws")
    if error is None:
        return Usefulness("unknown", "unknown: a forecast needs declared bounds and a public number of records")
    if prior_error is not None and prior_error > KNOWN and error > NO_BETTER_THAN_PRIOR * prior_error:
        return Usefulness("do not use", "do not use: the estimates are no better than the prior alone")
    if share is not None and share < FROM_RECORDS:
        return Usefulness("pulled", f"pulled to the prior: the records have {100.0 * share:.0f} % of the weight")
    if width is None:  # infinite: too few draws for an interval
        return Usefulness("wide", f"point estimates only: their error is about {error:.2g} times that without privacy")
    reach = max(width, error)
    if reach <= AS_WIDE:
        return Usefulness("useful", "useful: intervals about as wide as without privacy")
    if reach > USEFUL_WIDTH:
        return Usefulness("wide", f"wide: intervals about {reach:.2g} times as wide as without privacy")
    return Usefulness("useful", f"useful: intervals about {reach:.2g} times as wide as without privacy")
