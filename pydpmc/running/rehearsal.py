"""Rehearse a plan: run it on made-up records of its public shape. It sees no record, charges nothing, and is void."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..checks import whole, yes_or_no
from ..data.data import Data
from ..errors import ConvergenceWarning, InvalidArgument, PydpmcError
from ..models import SoftmaxRegression
from ..models.own.model import OwnModel
from ..models.simulation import Parameters
from ..planning.plan import Plan
from ..posterior.posterior import Posterior
from ..posterior.summary import Summary, row_names
from ..samplers import NUTS, ConjugateSample, Newton
from ..samplers.outlook import LEVEL
from .core_calls import usable_threads
from .progress import Progress
from .rehearsed import Rehearsal
from .run import run, sample
from .synthetic import Stage, checked_features, checked_truth, released_rows

__all__ = ["Rehearsal", "rehearse"]

Floats = npt.NDArray[np.float64]
REFERENCES = (ConjugateSample(draws=4000), Newton(), NUTS(draws=300, warmup=300))
PREDICTED, SOME_DRAWS = 500, 200  # records and draws of which predictions are compared
LARGE = 50_000_000  # numbers in a table: of larger ones there is one at a time


def rehearse(
    plan: Plan,
    runs: int = 20,
    truth: npt.ArrayLike | Posterior | str = "prior",
    features: npt.ArrayLike | str = "declared",
    *,
    threads: int | None = None,
    progress: bool = True,
    seed: int = 0,
) -> Rehearsal:
    """Run a plan on made-up records of its public shape, and compare with what was forecast.

    No record is seen and nothing is charged, so rehearse as often as you like; results are void.

    Parameters
    ----------
    runs
        Number of runs, each with records of its own.
    truth
        ``"prior"`` draws the true parameters anew for each run (shortened where targets would leave their bounds), or
        their values. A result of this plan rehearses at its estimate: whether intervals cover there is a check of that
        result which costs no privacy, because it sees only what was released.
    features
        ``"declared"`` draws rows within the declared bounds as forecasts assume them (with the moments that the looks
        showed, if `truth` is a result of ``Newton``), or a public table to draw from.
    threads, progress
        As for ``run``; runs are shared by the threads, each on one of them.
    seed
        Of the made-up records and of the runs.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=5000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, epsilon=1.0, delta=1e-6)
    >>> plan.rehearse(runs=2, progress=False).error > 0.0
    True
    """
    runs, seed = whole(runs, "runs"), whole(seed, "seed", least=0, most=2**62)
    yes_or_no(progress, "progress")
    units = plan.public.size(plan.adjacency) if plan.private else plan.public.n
    if not units:
        raise InvalidArgument("public_n must be declared to rehearse: the number of records is private")
    rows = checked_features(features, plan.public)
    if rows is None and isinstance(truth, Posterior):
        rows = released_rows(truth, plan.public, seed)
    stage = Stage(plan, checked_truth(truth, plan), rows, units)
    with Progress(1, runs, progress, unit="runs") as shown, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _together(plan, _split(plan, stage, runs, seed, threads, shown))


Plan.rehearse = rehearse


def _split(plan: Plan, stage: Stage, runs: int, seed: int, threads: int | None, shown: Progress) -> list[_Run]:
    """Return all runs, several at a time where that is safe and their tables are not large."""
    workers = min(usable_threads(threads), runs)
    if isinstance(plan.model, OwnModel) or (plan.public.n or 0) * (plan.public.width + 1) > LARGE:
        workers = 1
    if workers == 1:
        made = []
        for k in range(runs):
            made.append(_one(plan, stage, seed + k, threads))
            shown.update(k + 1)
        return made
    pool = ThreadPoolExecutor(workers, thread_name_prefix="pydpmc rehearsal")
    try:
        jobs = [pool.submit(_one, plan, stage, seed + k, 1) for k in range(runs)]
        for k, _ in enumerate(as_completed(jobs)):
            shown.update(k + 1)
        return [job.result() for job in jobs]
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, eq=False)
class _Run:
    truth: Floats
    mean: Floats
    open_mean: Floats
    open_sd: Floats
    covered: npt.NDArray[np.bool_]
    width: Floats
    missed: tuple[float, float]  # mean square error of predicted means, with and without privacy
    rhat: float
    effective_draws: float
    seconds: float


def _one(plan: Plan, stage: Stage, seed: int, threads: int | None) -> _Run:
    parameters, data, ungrouped = stage.table(np.random.default_rng(seed))
    started = time.perf_counter()
    post = run(plan, data, progress=False, threads=threads, seed=seed, anyway=True)
    seconds = time.perf_counter() - started
    open_post = _without_privacy(plan, ungrouped, seed, threads)
    missed = _missed(plan, parameters, data, (post, open_post))
    reference, post = _shown(plan, open_post).summary(), _shown(plan, post)
    truth, table = _flat(plan, parameters), post.summary()
    low, high = _intervals(plan, post, table)
    open_sd = np.maximum(reference.column("sd"), 1e-300)
    open_width = np.maximum(reference.column("95%") - reference.column("5%"), 1e-300)
    rhat, ess = table.column("rhat"), table.column("ess")
    return _Run(
        truth,
        table.column("mean"),
        reference.column("mean"),
        open_sd,
        (low <= truth) & (truth <= high),
        (high - low) / open_width,
        missed,
        float(np.nanmax(rhat)) if np.isfinite(rhat).any() else math.nan,
        float(np.nanmin(ess)) if np.isfinite(ess).any() else math.nan,
        seconds,
    )


def _without_privacy(plan: Plan, data: Data, seed: int, threads: int | None) -> Posterior:
    """Return the posterior without privacy, by the first sampler that knows the model."""
    for sampler in REFERENCES:
        try:
            return sample(plan.model, data, sampler, private=False, progress=False, seed=seed, threads=threads)
        except PydpmcError:
            continue
    raise InvalidArgument(f"{type(plan.model).__name__} cannot be rehearsed: no sampler runs it without privacy")


def _missed(plan: Plan, truth: Parameters, data: Data, posts: tuple[Posterior, Posterior]) -> tuple[float, float]:
    """Return how far predicted means of some records are from the truth; NaN for models without predictions."""
    model = plan.model
    means = model.probabilities if isinstance(model, SoftmaxRegression) else model.mean
    rows = np.asarray(data._rows[:PREDICTED, : plan.public.width], dtype=np.float64)
    try:
        if not model.needs_target:
            raise InvalidArgument("there is no target to predict")
        true = means({name: np.asarray(values)[None] for name, values in truth.items()}, rows)[0]
        private, open_ = (means(_thinned(post), rows).mean(axis=0) for post in posts)
    except PydpmcError:
        return math.nan, math.nan
    return float(np.mean((private - true) ** 2)), float(np.mean((open_ - true) ** 2))


def _thinned(post: Posterior) -> dict[str, Floats]:
    flat = {name: values.reshape(-1, values.shape[2]) for name, values in post.draws.items()}
    return {name: values[:: max(1, len(values) // SOME_DRAWS)] for name, values in flat.items()}


def _flat(plan: Plan, parameters: Parameters) -> Floats:
    named = {block.name: parameters[block.name] for block in plan.model.blocks(plan.public)}
    return np.concatenate([_contrasts(plan, values) for values in named.values()])


def _contrasts(plan: Plan, values: Floats) -> Floats:
    """Return what records can show of a block: classes less their mean, whose posterior is the prior."""
    return plan.model.contrasts(values) if isinstance(plan.model, SoftmaxRegression) else values


def _shown(plan: Plan, post: Posterior) -> Posterior:
    return dataclasses.replace(post, draws={name: _contrasts(plan, values) for name, values in post.draws.items()})


def _intervals(plan: Plan, post: Posterior, table: Summary) -> tuple[Floats, Floats]:
    """Return 90 % intervals: of the draws or, where those are tempered, ``Posterior.interval`` if it has an answer."""
    if post.plan.get("w", 1.0) < 1.0 and not isinstance(plan.model, SoftmaxRegression):
        try:
            found = post.interval(LEVEL)
            names = [n for b, v in post.draws.items() for n in row_names(b, v.shape[2], post.labels)]
            ends = np.array([found[name] for name in names])
            if np.isfinite(ends).all():
                return ends[:, 0], ends[:, 1]
        except (PydpmcError, KeyError, np.linalg.LinAlgError):
            pass
    return table.column("5%"), table.column("95%")


def _together(plan: Plan, made: list[_Run]) -> Rehearsal:
    def root_mean_square(values: list[Floats]) -> float:
        return float(np.sqrt(np.mean(np.square(values))))

    missed = np.mean([one.missed for one in made], axis=0)
    independent = plan.settings.releases(plan.chains, None, None).hidden
    return Rehearsal(
        runs=len(made),
        coverage=float(np.mean([one.covered for one in made])),
        error=root_mean_square([(one.mean - one.truth) / one.open_sd for one in made]),
        error_to_open=root_mean_square([(one.mean - one.open_mean) / one.open_sd for one in made]),
        width=float(np.median([one.width for one in made])),
        prediction_error=None if math.isnan(missed[0]) else math.sqrt(missed[0] / max(missed[1], 1e-300)),
        rhat=None if independent else float(np.nanmedian([one.rhat for one in made])),
        effective_draws=None if independent else float(np.nanmedian([one.effective_draws for one in made])),
        seconds=float(np.median([one.seconds for one in made])),
        truths=np.array([one.truth for one in made]),
        estimates=np.array([one.mean for one in made]),
        forecast=plan.outlook,
    )
