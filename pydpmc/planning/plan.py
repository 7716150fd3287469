"""Plan: everything that can be decided without looking at a record."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy.typing as npt

from .. import accounting as acc
from ..checks import one_of
from ..data.public import Public
from ..errors import BudgetError
from ..models import Model
from ..models.spec import to_spec
from ..samplers.base import RunSettings, Sampler
from ..samplers.outlook import Outlook, outlook_of
from ..samplers.request import refuse_groups_without_proof, refuse_weights_without_proof
from . import seal
from .arguments import planned_starts, requested, sentences
from .chains import several_chains
from .choice import PURPOSES
from .comparison import Comparison, best_that_fits, compared
from .verdict import Usefulness, usefulness

if TYPE_CHECKING:
    from ..posterior.posterior import Posterior

Adjacency = Literal["replace", "add_remove"]
NOT_PRIVATE = "private=False was asked for: the records were used without any protection"
FIXED_IN_ADVANCE = (
    "the settings of the run were not chosen from the earlier releases (its start, and how records are encoded, may be)"
)


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
    comparison
        The samplers that were compared, if none was given.
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
    forecast: Any  # what the sampler alone can say
    sampler: Sampler = field(compare=False)  # plans that run alike are equal, whoever left what open
    init: tuple[tuple[float, ...], ...] | Literal["prior"] | None = None
    earlier: tuple[acc.Guarantee, ...] = ()
    assumptions: tuple[str, ...] = ()
    comparison: Comparison | None = field(default=None, compare=False, repr=False)
    run: ClassVar[Callable[..., Posterior]]  # on data: running/run.py, which sees records, puts its function here
    rehearse: ClassVar[Callable[..., Any]]  # on made-up records: running/rehearsal.py

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

    @cached_property
    def outlook(self) -> Outlook:
        """What can be expected of the run, in units of the posterior without privacy."""
        size = self.public.size(self.adjacency) if self.private else self.public.n
        return outlook_of(self.settings, self.model, self.public, size, self.chains, self.init)

    @property
    def verdict(self) -> Usefulness:
        """What the result will be good for, in one sentence."""
        return usefulness(self.outlook.to_dict())

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
            "outlook": self.outlook.to_dict(),
            "public": self.public.to_dict(),
            "model_spec": to_spec(self.model),
            **self.model.described(),
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
    chains: int | None = None,
    private: bool = True,
    init: npt.ArrayLike | Posterior | Literal["prior"] | None = None,
    earlier: Sequence[acc.Guarantee] = (),
    assumptions: Sequence[str] = (),
    purpose: str = "posterior",
) -> Plan:
    """Decide a run from public facts: choose what the sampler leaves open, price the rest.

    Parameters
    ----------
    model
        The likelihood and its prior.
    public
        ``data.public``: no record is seen here.
    sampler
        The sampler, any of its parameters left open. By default all that are proven for the model are compared, and
        the best for `purpose` is taken; ``print(plan)`` shows them, and so does ``compare``.
    epsilon, delta
        The budget of all chains together. Without epsilon the sampler's own parameters are priced.
    adjacency
        ``"replace"`` (n public, one record changed) or ``"add_remove"``.
    chains
        Number of chains; they share the budget. By default one of a given sampler; where the planner chooses one whose
        draws are a chain, four or two if their outlook is nearly as good, so that R-hat compares chains.
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
    purpose
        Without a sampler, what is to be best: ``"posterior"`` (intervals with their coverage), ``"prediction"`` or
        ``"point"`` (estimates).

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
    one_of(purpose, "purpose", PURPOSES)
    options: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "chains": chains}
    options |= {"private": private, "earlier": earlier}
    if isinstance(model, Model):
        model.check_sampler(sampler)
    request, start = requested(model, public, sampler, init=init, **options)
    if sampler is None:
        table = compared(request, purpose) if private and epsilon is not None else None
        options |= {"init": start, "earlier": request.earlier, "assumptions": assumptions}

        def plan_by(one: Sampler, **other: Any) -> Plan:
            return plan(model, public, one, **options | {"chains": request.chains} | other)

        made = best_that_fits(plan_by, table)
        if chains is None and table is not None:
            made = several_chains(made, request, purpose, plan_by)
        return dataclasses.replace(made, comparison=table)
    refuse_groups_without_proof(sampler, request.public)
    refuse_weights_without_proof(sampler, request.model, request.public)
    public, chains, before, stated = request.public, request.chains, request.earlier, sentences(assumptions)
    settings = sampler.choose(request)
    guarantee = (
        acc.compose(
            [*settings.uses(adjacency, chains), *before],
            adjacency=adjacency,
            assumptions=(*settings.assumptions, *model.assumptions, *([FIXED_IN_ADVANCE] if before else []), *stated),
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
        "init": planned_starts(start, chains, request.dim, model.whole_numbers(public)),
        "earlier": before,
        "assumptions": stated,
    }
    seal.note(contents)
    return Plan(**contents, forecast=settings.forecast(model, public, chains))


def _contents(made: Plan) -> dict[str, Any]:
    """Return all of a plan but what promises nothing."""
    promised = [one.name for one in dataclasses.fields(made) if one.name not in ("forecast", "comparison")]
    return {name: getattr(made, name) for name in promised}
