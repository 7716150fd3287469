"""Plan: everything that can be decided without looking at a record."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy.typing as npt

from .. import accounting as acc
from ..checks import whole
from ..data.public import Public
from ..errors import BudgetError
from ..models import Model
from ..models.spec import to_spec
from ..samplers.base import RunSettings, Sampler
from ..samplers.contribution import refuse_groups_without_proof, refuse_weights_without_proof
from ..samplers.request import Request
from . import seal
from .arguments import check_budget, check_kinds, guarantees, sentences
from .default import first_that_fits
from .starts import planned_starts, warm_start

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior

Adjacency = Literal["replace", "add_remove"]
NOT_PRIVATE = "private=False was asked for: the records were used without any protection"
FIXED_IN_ADVANCE = (
    "the settings of the run were not chosen from the earlier releases (its start, and how records are encoded, may be)"
)
MOST_CHAINS = 1000


@dataclass(frozen=True)
class Plan:
    """A run that is fully decided and priced. Print it; then ``run`` it on the data.

    Attributes
    ----------
    model, public, adjacency, chains, private, epsilon, delta, sampler, earlier, assumptions
        As asked for. Under ``add_remove`` the number of records is not kept.
    settings
        Steps, proposal, clip bound and the rest, all decided.
    guarantee
        What the run will cost, whatever the data.
    forecast
        What the chains can be expected to do.
    init
        Start of each chain, shape (chains, dim), chosen without the data; None starts at the prior's centre.
    """

    model: Model
    public: Public
    settings: RunSettings
    adjacency: str
    chains: int
    private: bool
    epsilon: float | None
    delta: float | None
    guarantee: acc.Guarantee
    forecast: Any  # an Outlook of the sampler's own
    sampler: Sampler = field(compare=False)  # plans that run alike are equal, whoever left what open
    init: tuple[tuple[float, ...], ...] | Literal["prior"] | None = None
    earlier: tuple[acc.Guarantee, ...] = ()
    assumptions: tuple[str, ...] = ()
    run: ClassVar[Callable[..., Posterior]]  # on data: running/run.py, which sees records, puts its function here

    def __post_init__(self) -> None:
        self.confirm()

    def confirm(self) -> None:
        """Refuse a plan that ``pydpmc.plan`` does not make of the same request: its guarantee would be another's."""
        if not self.private and self.guarantee.void is not None:
            return  # nothing is promised, and the result will say so
        seal.confirm(_contents(self), self._made_again)

    def _made_again(self) -> Plan:
        return plan(
            self.model,
            self.public,
            self.sampler,
            epsilon=self.epsilon,
            delta=self.delta,
            adjacency=self.adjacency,  # type: ignore[arg-type]
            chains=self.chains,
            private=self.private,
            init=self.init,
            earlier=self.earlier,
            assumptions=self.assumptions,
        )

    def describe(self) -> dict[str, Any]:
        """Return the plan as plain values, for results and files."""
        return {
            "model": repr(self.model),
            "adjacency": self.adjacency,
            "chains": self.chains,
            "private": self.private,
            "epsilon": self.epsilon,
            "delta": self.delta,
            **self.model.normal_prior(self.public),
            "independent_draws": self.settings.releases(self.chains, None, None).hidden,
            "public": self.public.to_dict(),
            "model_spec": to_spec(self.model),
            **self.settings.describe(),
        }

    def __str__(self) -> str:
        from .page import page

        return page(self)


def plan(
    model: Model,
    public: Public,
    sampler: Sampler | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    adjacency: Adjacency = "replace",
    chains: int = 1,
    private: bool = True,
    init: npt.ArrayLike | Posterior | Literal["prior"] | None = None,
    earlier: Sequence[acc.Guarantee] = (),
    assumptions: Sequence[str] = (),
) -> Plan:
    """Decide a run from public facts: choose what the sampler leaves open, price the rest.

    Parameters
    ----------
    model
        The likelihood and its prior.
    public
        ``data.public``: no record is seen here.
    sampler
        The sampler, any of its parameters left open. By default the first of `planning.default.CANDIDATES` that is
        proven for the model and fits the budget: ``Newton``, closed forms, ``Langevin``, then ``Barker``.
    epsilon, delta
        The budget of all chains together. Without epsilon the sampler's own parameters are priced.
    adjacency
        ``"replace"`` (n public, one record changed) or ``"add_remove"``.
    chains
        Number of chains; they share the budget.
    private
        False runs without privacy, and says so in the result.
    init
        Start of the chains: a point, one point per chain, ``"prior"`` for a draw each from the prior, or a
        ``Posterior`` of the same parameters, whose mean is the start and whose guarantee is composed into this
        plan's (the budget pays for both). The prior's centre by default. A point must not be computed from the
        records.
    earlier
        Guarantees of what was released of the same records before, such as ``private_bounds``; the budget pays for
        them too.
    assumptions
        What the guarantee rests on beyond what the run itself needs, a sentence each, such as that a bound was known
        beforehand. They are part of the guarantee, and reach the result, its files and the ledger.

    Returns
    -------
    Plan
        Never costs more than (epsilon, delta).

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=10**6, columns=("a", "b", "c"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, epsilon=1.0, delta=1e-6)
    >>> plan.settings.describe()["sampler"], plan.guarantee.epsilon(1e-6) <= 1.0
    ('Newton', True)
    """
    if sampler is None:
        options: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "chains": chains}
        options |= {"private": private, "init": init, "earlier": earlier, "assumptions": assumptions}
        return first_that_fits(
            lambda candidate: plan(model, public, candidate, **options),
            budgeted=private and epsilon is not None,
        )
    check_kinds(model, public, sampler, adjacency, private)
    refuse_groups_without_proof(sampler, public)
    refuse_weights_without_proof(sampler, public)
    chains = whole(chains, "chains", most=MOST_CHAINS)
    check_budget(epsilon, delta, private)
    model.check_public(public)
    if adjacency == "add_remove":  # before anything is chosen: settings keep what they were chosen from
        public = dataclasses.replace(public, n=public.public_n or 0)
    warm, init = warm_start(model, public, init)
    before, stated = (*warm, *guarantees(earlier)), sentences(assumptions)
    request = Request(model, public, sampler, adjacency, chains, private, epsilon, delta, before)
    settings = sampler.choose(request)
    guarantee = (
        acc.compose(
            [*settings.uses(adjacency, chains), *before],
            adjacency=adjacency,
            assumptions=(*settings.assumptions, *([FIXED_IN_ADVANCE] if before else []), *stated),
            unit=public.unit,
            total_variation=settings.total_variation(chains),
        )
        if private
        else acc.Guarantee(events=(), adjacency=adjacency, void=NOT_PRIVATE, unit=public.unit)
    )
    if epsilon is not None and delta is not None and guarantee.epsilon(delta) > epsilon:
        raise BudgetError(
            f"epsilon = {epsilon:g} at delta = {delta:g} cannot pay for a run of {settings.steps} steps in each of "
            f"{chains} chain(s) at any useful scale; raise it, or lower steps, w or chains"
        )
    contents: dict[str, Any] = {
        "model": model,
        "public": public,
        "settings": settings,
        "adjacency": adjacency,
        "chains": chains,
        "private": private,
        "epsilon": epsilon,
        "delta": delta,
        "guarantee": guarantee,
        "sampler": sampler,
        "init": planned_starts(init, chains, request.dim),
        "earlier": before,
        "assumptions": stated,
    }
    seal.note(contents)
    return Plan(**contents, forecast=settings.forecast(model, public, chains))


def _contents(made: Plan) -> dict[str, Any]:
    """Return all of a plan but its forecast, which promises nothing."""
    return {one.name: getattr(made, one.name) for one in dataclasses.fields(made) if one.name != "forecast"}
