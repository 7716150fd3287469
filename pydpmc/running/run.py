"""Run a plan: cross into the compiled core, a chunk of steps at a time, and wrap what may leave."""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from ..accounting import Guarantee
from ..checks import whole, yes_or_no
from ..data.cells import StandIn
from ..data.data import Data, require_data
from ..data.schema import Schema
from ..errors import InvalidArgument
from ..ledger.ledger import Ledger
from ..models import Model
from ..planning.arguments import start_points
from ..planning.helps import refuse_hopeless
from ..planning.plan import Adjacency, Plan, plan
from ..posterior.fields import Unsafe
from ..posterior.posterior import Posterior
from ..posterior.stats import sampler_stats
from ..posterior.summary import warn_of_convergence
from ..samplers.barker.settings import Settings
from ..samplers.base import Sampler, target_arguments
from .between import Between, check_between, move
from .core_calls import core_errors, stoppable, usable_threads
from .formulas import of_formula, refuse_leftovers
from .habits import refuse_habits
from .progress import Progress, say_long, say_resumed
from .safekeeping import Safekeeping
from .shards.core import ShardedCore
from .shards.local import LocalCells

SEEDED = "a seed was given: whoever knows it can replay every random choice. For tests only, not for release"
DIAGNOSED = "unsafe diagnostics were asked for: they reveal facts of the records that no budget paid for"
CHUNK_SECONDS = 0.2
BLOCK = 4096

Floats = npt.NDArray[np.float64]


def run(
    plan: Plan,
    data: Data,
    *,
    draws: int | None = None,
    warmup: int | None = None,
    threads: int | None = None,
    progress: bool = True,
    ledger: Ledger | str | Path | None = None,
    checkpoint: str | Path | None = None,
    seed: int | None = None,
    unsafe_diagnostics: bool = False,
    anyway: bool = False,
    between: Between | None = None,
) -> Posterior:
    """Run a plan on the data it was made for.

    Nothing here changes the cost: every planned step of every chain is paid for, kept or not.

    Parameters
    ----------
    plan
        From ``pydpmc.plan``.
    data
        The records; their public facts must be those of the plan.
    draws
        Most draws to keep of each chain (thinned evenly); 10,000 by default.
    warmup
        Steps to leave out at the start of each chain; a fifth by default.
    threads
        Threads to use; all cores by default. Draws do not depend on it.
    progress
        Whether to show one line per chain when the run takes longer than two seconds.
    ledger
        The ledger of the data set, or its file or URL: the run is charged before it reads a record, or refused.
    checkpoint
        A file to save the run in every few seconds. If it exists the run goes on from there, at no further cost; if
        it holds a finished run, that is returned.
    seed
        For tests: makes the run repeatable and voids its guarantee.
    unsafe_diagnostics
        Adds ``post.unsafe`` (the share of clipped ratios) and voids the guarantee.
    anyway
        Runs also a plan that would waste its budget, which is refused otherwise (``HopelessPlan``), nothing spent.
    between
        For SGLD and SGHMC: ``between(theta, velocity)`` is called after every step and may change both arrays, of shape
        (chains, parameters), in place; velocity is None for SGLD. What was released may steer the chain, for example
        towards a public part of the target that moves along. The function must read no record otherwise.

    Returns
    -------
    Posterior
        After Ctrl-C, the draws made so far.
    """
    plan.confirm()
    _check_data(plan, data)
    yes_or_no(progress, "progress")
    yes_or_no(unsafe_diagnostics, "unsafe_diagnostics")
    yes_or_no(anyway, "anyway")
    seed = None if seed is None else whole(seed, "seed", least=0, most=2**64 - 1)
    steps = plan.settings.steps
    release = plan.settings.releases(plan.chains, draws, warmup)
    workers = usable_threads(threads)
    out = np.full((release.chains, release.kept, plan.settings.dim), np.nan)  # not memory that records were in
    if unsafe_diagnostics and not isinstance(plan.settings, Settings):
        raise InvalidArgument(
            "unsafe_diagnostics is for the Barker sampler only: no other sampler counts clipped records"
        )
    records, called = _placed(plan, data)
    if between is not None:
        check_between(plan, between, checkpoint, called is not _core)
    init = start_points(plan, release.chains, seed)
    void = _void(plan, seed is not None, unsafe_diagnostics)
    refuse_hopeless(plan, anyway)
    if progress and plan.private:
        say_long(plan.outlook.seconds, plan.outlook.memory, workers)
    keeping = Safekeeping(plan, data, release, out, ledger, checkpoint)
    keeping.refuse(void)
    with core_errors():
        chains = _core.Chains(init=init, draws=out, warmup=release.warmup, thin=release.thin, seed=seed)
        core = plan.settings.start(called, core_target(plan, records, called), chains, records)
    with keeping, core_errors(), plan.model.silence():
        keeping.begin(core)
        if progress and core.steps_done > 0:
            say_resumed(checkpoint, core.steps_done, steps)
        timed = not plan.private or (plan.adjacency == "replace" and not plan.public.grouped)  # see progress.py
        shown = Progress(release.chains, steps, progress, core.steps_done, timed)
        moved = None if between is None else lambda: move(core, plan, between)
        interrupted = _advance(core, steps, workers, shown, keeping, moved)
        keeping.end(core)
    made = release.of(out, core.steps_done)
    post = _posterior(plan, core, made, void, unsafe_diagnostics, interrupted)
    warn_of_convergence(post)
    return dataclasses.replace(post, ledger_entry=keeping.ledger_entry, schema=data.schema)


Plan.run = run


def sample(
    model: Model | str,
    data: Any,
    sampler: Sampler | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    adjacency: Adjacency = "replace",
    chains: int | None = None,
    private: bool = True,
    init: npt.ArrayLike | Posterior | Literal["prior"] | None = None,
    earlier: Sequence[Guarantee] = (),
    assumptions: Sequence[str] = (),
    purpose: str = "posterior",
    schema: Schema | None = None,
    family: str | None = None,
    prior: Any = None,
    public_n: int | None = None,
    **run_options: Any,
) -> Posterior:
    """Plan, then run: posterior draws of `model` given `data` within a privacy budget.

    Takes the arguments of `plan` (with the data in place of its public facts) and of `run`. In place of a model a
    formula can be given, a table in place of data, and `schema`, the declarations of its columns:
    ``dp.sample("owns ~ age * sex", table, schema=schema, epsilon=1.0, delta=1e-6)``. Then `family`
    (``"logistic"``, ``"softmax"``, ``"linear"``, ``"huber"``, ``"poisson"``) and `prior` say more of the model,
    `public_n` of the data.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> x = np.repeat([1.0, 0.0], [60_000, 40_000])
    >>> post = dp.sample(dp.BernoulliLogit(), dp.Data(x), epsilon=1.0, delta=1e-6, progress=False)
    >>> post.guarantee.epsilon(1e-6) <= 1.0
    True
    """
    known = inspect.signature(run).parameters.keys() - {"plan", "data"}
    if not run_options.keys() <= known:
        refuse_habits(run_options, known)
    if isinstance(model, str):
        model, data = of_formula(model, data, schema, family, prior, public_n)
    elif any(value is not None for value in (schema, family, prior, public_n)):
        refuse_leftovers(schema, family, prior, public_n)
    require_data(data)
    planned = plan(
        model,
        data.public,
        sampler,
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        chains=chains,
        private=private,
        init=init,
        earlier=earlier,
        assumptions=assumptions,
        purpose=purpose,
    )
    return run(planned, data, **run_options)


def _check_data(plan: Plan, data: Data) -> None:
    require_data(data)
    public = data.public
    if plan.adjacency == "add_remove":
        public = dataclasses.replace(public, n=public.public_n or 0)
    if public != plan.public:
        names = [f.name for f in dataclasses.fields(public)]
        differing = [name for name in names if getattr(public, name) != getattr(plan.public, name)]
        raise InvalidArgument(f"data differs from the plan in its public facts ({', '.join(differing)}); plan again")


def _for_model(plan: Plan, data: Data) -> Data:
    """Return the records as the model reads them: one with a label that it does not know contributes nothing."""
    labels = plan.model.label_count
    return data if labels is None else data.of_labels(labels)


def _placed(plan: Plan, data: Data) -> tuple[Data, Any]:
    """Return the records as the model reads them, and the core that reads them: here, or cell by cell."""
    if data._cluster is None and data._cells == 1:
        data.advise(all_in_order=not getattr(plan.settings, "batch_size", 0))
        return _for_model(plan, data), _core
    if data._cluster is not None:
        data._cluster.require(plan.model)
    cells = LocalCells(data) if data._cluster is None else data._cluster
    return _for_model(plan, StandIn(data)), ShardedCore(cells)


def core_target(plan: Plan, data: Data, core: Any = _core) -> Any:
    """Return the posterior of the plan's model given the data, as the compiled core knows it."""
    batch, sampling = getattr(plan.settings, "batch_size", 0), getattr(plan.settings, "sampling", "full")
    return core.Target(**target_arguments(plan.model, data, batch or 0, sampling), coded=data._coded)


def _advance(
    core: Any, steps: int, threads: int, progress: Progress, keeping: Safekeeping, moved: Callable[[], None] | None
) -> bool:
    """Run all steps in chunks of about a fifth of a second, or one by one; return whether Ctrl-C stopped them."""
    chunk = 1
    with progress:
        try:
            with stoppable(core) as advance:
                while core.steps_done < steps:
                    started = time.perf_counter()
                    advance(min(chunk, steps - core.steps_done), threads, BLOCK)
                    elapsed = max(time.perf_counter() - started, 1e-6)
                    if moved is None:
                        chunk = max(1, min(4 * chunk, int(chunk * CHUNK_SECONDS / elapsed)))
                    else:
                        moved()
                    progress.update(core.steps_done)
                    keeping.after_chunk(core)
        except KeyboardInterrupt:
            return True
    return False


def _void(plan: Plan, seeded: bool, unsafe_diagnostics: bool) -> str | None:
    reasons = (plan.guarantee.void, SEEDED if seeded else None, DIAGNOSED if unsafe_diagnostics else None)
    return "; ".join(reason for reason in reasons if reason) or None


def _posterior(
    plan: Plan, core: Any, theta: Floats, void: str | None, unsafe_diagnostics: bool, interrupted: bool
) -> Posterior:
    draws, labels = plan.model.natural(theta, plan.public)
    unsafe = None
    if unsafe_diagnostics and isinstance(plan.settings, Settings):
        reads = core.steps_done * plan.chains * (plan.settings.batch_size or core.units)
        unsafe = Unsafe(clipped_share=core.clipped / max(1, reads))
    return Posterior(
        draws=draws,
        labels=labels,
        guarantee=dataclasses.replace(plan.guarantee, void=void),
        plan=plan.describe() | ({} if plan.comparison is None else {"comparison": plan.comparison.to_dict()}),
        acceptance=tuple(accepted / max(1, core.steps_done) for accepted in getattr(core, "accepted", ())),
        interrupted=interrupted,
        unsafe=unsafe,
        sampler_stats=None if plan.private else sampler_stats(core, theta.shape[1]),
        looks=tuple(getattr(core, "looks", ())),
        agreement=getattr(core, "agreement", None),
        fit=getattr(core, "fit", None),
    )
