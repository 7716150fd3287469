"""A plan as a measurement of OpenDP, to be composed with its other measurements."""

from __future__ import annotations

from typing import Any

from .._optional import require
from ..checks import given, positive
from ..data.data import Data
from ..errors import InvalidArgument, WrongType
from ..planning.plan import Plan
from ..posterior.posterior import Posterior
from .run import run

VOIDING = ("seed", "unsafe_diagnostics")


def to_opendp(plan: Plan, *, delta: float, accept_assumptions: bool = False, **run_options: Any) -> Any:
    """Return a plan as an ``opendp.Measurement``: `Data` in, `Posterior` out (extra ``pydpmc[opendp]``).

    The measurement is priced by (epsilon, delta) at the given delta, under ``ChangeOneDistance`` for the adjacency
    ``"replace"`` and ``SymmetricDistance`` for ``"add_remove"``. Its map knows distances 0 and 1. OpenDP asks to allow
    measurements that it cannot check: ``opendp.prelude.enable_features("contrib", "honest-but-curious")``.

    Parameters
    ----------
    plan
        From ``pydpmc.plan``.
    delta
        Where on the curve of the guarantee the measurement is priced.
    accept_assumptions
        Needed if the guarantee holds under assumptions, because OpenDP has no place to repeat them.
    run_options
        Of ``plan.run``, such as ``ledger`` and ``threads``; those that void the guarantee are refused.

    Examples
    --------
    >>> import numpy as np, opendp.prelude as odp, pydpmc as dp
    >>> odp.enable_features("contrib", "honest-but-curious")
    >>> data = dp.Data(np.repeat([1.0, 0.0], [6000, 4000]))
    >>> plan = dp.plan(dp.BernoulliLogit(), data.public, epsilon=1, delta=1e-6)
    >>> epsilon, delta = dp.to_opendp(plan, delta=1e-6).map(1)
    >>> epsilon <= 1, delta
    (True, 1e-06)
    """
    opendp = require("opendp.prelude", "opendp", "a measurement of OpenDP")
    if not isinstance(plan, Plan):
        raise WrongType(f"plan must be what pydpmc.plan returns, not {given(plan)}")
    plan.confirm()
    price = _price(plan, positive(delta, "delta"), accept_assumptions)
    for name in VOIDING:
        if run_options.get(name):
            raise InvalidArgument(f"{name} voids the guarantee, and a measurement must have one: leave it out")

    def release(data: Data) -> Posterior:
        return run(plan, data, **run_options)

    def privacy_map(distance: int) -> tuple[float, float]:
        if distance > 1:
            raise InvalidArgument(f"the guarantee of a run is for a change of one unit, not of {distance}")
        return price if distance == 1 else (0.0, 0.0)

    return opendp.m.make_user_measurement(
        input_domain=opendp.user_domain("pydpmc.Data", lambda value: isinstance(value, Data)),
        input_metric=_metric(opendp, plan),
        output_measure=opendp.fixed_smoothed_max_divergence(),
        function=release,
        privacy_map=privacy_map,
    )


def _price(plan: Plan, delta: float, accept_assumptions: bool) -> tuple[float, float]:
    guarantee = plan.guarantee
    if guarantee.void is not None:
        raise InvalidArgument(f"plan: a measurement must have a guarantee, and this plan has none: {guarantee.void}")
    if guarantee.assumptions and not accept_assumptions:
        raise InvalidArgument(
            "accept_assumptions: the guarantee of this plan holds only under assumptions, which a measurement of "
            f"OpenDP cannot repeat: {'; '.join(guarantee.assumptions)}. Pass accept_assumptions=True if they hold"
        )
    return guarantee.epsilon(delta), delta


def _metric(opendp: Any, plan: Plan) -> Any:
    if plan.guarantee.unit != "one record":
        return opendp.user_distance(f"number of units that differ, {plan.adjacency}: {plan.guarantee.unit}")
    return opendp.change_one_distance() if plan.adjacency == "replace" else opendp.symmetric_distance()
