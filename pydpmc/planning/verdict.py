"""What the result of a plan will be good for, in one sentence: the verdict beside the one on privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

FEWEST_DRAWS = 20.0
USEFUL_WIDTH, AS_WIDE = 3.0, 1.05
FROM_RECORDS = 0.5  # of the posterior's precision
NO_BETTER_THAN_PRIOR, KNOWN, FAR = 0.97, 1.02, 2.0
TOO_NARROW = "too narrow where columns are correlated"


class Usefulness(NamedTuple):
    """A kind (``useful``, ``wide``, ``pulled to the prior``, ``do not use`` or ``unknown``), and why."""

    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def usefulness(outlook: Mapping[str, Any]) -> Usefulness:
    """Return the verdict on a plan from ``plan.outlook.to_dict()``, which a posterior keeps in its plan.

    Examples
    --------
    >>> print(usefulness({"width": 1.31, "error": 1.3, "records_share": 0.99}))
    useful: intervals about 1.3 times as wide as without privacy
    >>> print(usefulness({"width": 4.0, "error": 4.0, "records_share": 0.12}))
    pulled to the prior: the records have 12 % of the weight
    >>> print(usefulness({"is_chain": True, "effective_draws": 0.2}))
    do not use: the chain can make about 1 effective draws
    >>> print(usefulness({"width": 1.31, "error": 1.3, "records_share": 0.99, "approximate": True}))
    useful: intervals about 1.3 times as wide as without privacy; too narrow where columns are correlated
    """
    found = _usefulness(outlook)
    if not outlook.get("approximate") or found.kind in ("do not use", "unknown"):
        return found
    return Usefulness(found.kind, f"{found.reason}; {TOO_NARROW}")


def _usefulness(outlook: Mapping[str, Any]) -> Usefulness:
    width, error, prior_error = (outlook.get(key) for key in ("width", "error", "prior_error"))
    share, effective = outlook.get("records_share"), outlook.get("effective_draws")
    if outlook.get("is_chain") and effective is not None and effective < FEWEST_DRAWS:
        return Usefulness("do not use", f"the chain can make about {max(effective, 1.0):.2g} effective draws")
    if error is None:
        needs = "a built-in model, declared bounds and a public number of records"
        return Usefulness("unknown", f"a forecast needs {needs}; rehearse the plan")
    far_error = outlook.get("far_error") or 1e300
    if (
        prior_error is not None
        and prior_error > KNOWN
        and min(error, far_error / FAR) > NO_BETTER_THAN_PRIOR * prior_error
    ):
        return Usefulness("do not use", "the estimates are no better than the prior alone")
    if share is not None and share < FROM_RECORDS:
        return Usefulness("pulled to the prior", f"the records have {100.0 * share:.0f} % of the weight")
    if width is None:  # infinite: too few draws for an interval
        return Usefulness("wide", f"no intervals; the error is about {error:.2g} times that without privacy")
    reach = max(width, error)
    if reach <= AS_WIDE:
        return Usefulness("useful", "intervals about as wide as without privacy")
    kind = "wide" if reach > USEFUL_WIDTH else "useful"
    return Usefulness(kind, f"intervals about {reach:.2g} times as wide as without privacy")
