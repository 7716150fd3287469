"""Rehearse a plan: run it on made-up records of its public shape. It sees no record, charges nothing, and is void."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from ..checks import visible_html, whole, yes_or_no
from ..data.data import Data
from ..errors import ConvergenceWarning, InvalidArgument, PydpmcError
from ..models import SoftmaxRegression
from ..models.simulation import Parameters
from ..planning.plan import Plan
from ..posterior.posterior import Posterior
from ..posterior.summary import row_names
from ..samplers import NUTS, ConjugateSample, Newton
from ..samplers.outlook import LEVEL, Outlook
from .progress import Progress
from .run import run, sample
from .synthetic import Stage, checked_features, checked_truth, released_rows

Floats = npt.NDArray[np.float64]
REFERENCES = (Newton(), ConjugateSample(draws=4000), NUTS(draws=300, warmup=300))
TAIL = (1.0 - LEVEL) / 2.0


@dataclass(frozen=True)
class Rehearsal:
    """What happened when a plan ran on made-up records, beside its forecast.

    Attributes
    ----------
    coverage
        Share of true parameters within their 90 % intervals.
    error, error_to_open
        Root mean square error of posterior means against the truth, and against the posterior without privacy, in
        standard deviations of the latter. The coefficients of a softmax count less their mean over classes.
    width
        Width of 90 % intervals over their width without privacy (the median).
    rhat, effective_draws
        The largest R-hat and the fewest effective draws of a typical run; None where draws are independent.
    seconds
        Of a typical run.
    truths, estimates
        True values and posterior means, shape (runs, parameters).
    forecast
        The plan's outlook.
    """

    runs: int
    coverage: float
    error: float
    error_to_open: float
    width: float
    rhat: float | None
    effective_draws: float | None
    seconds: float
    truths: Floats
    estimates: Floats
    forecast: Outlook

    def rows(self) -> list[tuple[str, str, str]]:
        """Return label, what happened, and the forecast."""
        seen = self.forecast
        rows = [
            ("coverage of 90 % intervals", f"{100 * self.coverage:.0f} %", _percent(seen.coverage)),
            ("error against the truth", f"{self.error:.3g}", _figure(seen.error)),
            ("error against no privacy", f"{self.error_to_open:.3g}", "-"),
            ("width against no privacy", f"{self.width:.3g}", _figure(seen.width)),
        ]
        if self.effective_draws is not None:
            rows.append(("effective draws", f"{self.effective_draws:.0f}", _figure(seen.effective_draws)))
            rows.append(("R-hat", "-" if self.rhat is None else f"{self.rhat:.3f}", "-"))
        return [*rows, ("seconds", f"{self.seconds:.2g}", _figure(seen.seconds))]

    def __str__(self) -> str:
        lines = [f"Rehearsal of {self.runs} runs on made-up records (void: nothing was charged)", ""]
        lines.append(f"  {'':<28}{'happened':>12}{'forecast':>12}")
        lines += [f"  {label:<28}{happened:>12}{forecast:>12}" for label, happened, forecast in self.rows()]
        return "\n".join([*lines, "", "Errors are in standard deviations of the posterior without privacy."])

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{visible_html(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        head = "<tr><th></th><th>happened</th><th>forecast</th></tr>"
        note = f"<p>{self.runs} runs on made-up records; void, nothing was charged.</p>"
        return f"<table><thead>{head}</thead><tbody>{cells}</tbody></table>{note}"

    def plot(self, ax: Any = None) -> Any:
        """Draw private estimates against the truth, with the line on which both agree."""
        pyplot = require("matplotlib.pyplot", "plots", "a plot of a rehearsal")
        ax = pyplot.subplots()[1] if ax is None else ax
        ax.scatter(self.truths.ravel(), self.estimates.ravel(), s=12)
        low, high = float(self.truths.min()), float(self.truths.max())
        ax.plot([low, high], [low, high], color="grey", linestyle="--", label="estimate = truth")
        ax.set(xlabel="truth", ylabel="private estimate", title=f"{self.runs} rehearsals")
        ax.legend()
        return ax


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
        As for ``run``.
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
    made = []
    with Progress(1, runs, progress) as shown:
        for k in range(runs):
            made.append(_one(plan, stage, seed + k, threads))
            shown.update(k + 1)
    return _together(plan, made)


Plan.rehearse = rehearse


@dataclass(frozen=True, eq=False)
class _Run:
    truth: Floats
    mean: Floats
    open_mean: Floats
    open_sd: Floats
    covered: npt.NDArray[np.bool_]
    width: Floats
    rhat: float
    effective_draws: float
    seconds: float


def _one(plan: Plan, stage: Stage, seed: int, threads: int | None) -> _Run:
    parameters, data, ungrouped = stage.table(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.perf_counter()
        post = run(plan, data, progress=False, threads=threads, seed=seed, anyway=True)
        seconds = time.perf_counter() - started
        reference = _shown(plan, _without_privacy(plan, ungrouped, seed, threads))
    post = _shown(plan, post)
    truth, means = _flat(plan, parameters), _column(post, "mean")
    low, high = _intervals(plan, post)
    open_sd = np.maximum(_column(reference, "sd"), 1e-300)
    open_width = np.maximum(_column(reference, "95%") - _column(reference, "5%"), 1e-300)
    table = post.summary()
    rhat, ess = table.column("rhat"), table.column("ess")
    return _Run(
        truth,
        means,
        _column(reference, "mean"),
        open_sd,
        (low <= truth) & (truth <= high),
        (high - low) / open_width,
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


def _flat(plan: Plan, parameters: Parameters) -> Floats:
    named = {block.name: parameters[block.name] for block in plan.model.blocks(plan.public)}
    return np.concatenate([_contrasts(plan, values) for values in named.values()])


def _contrasts(plan: Plan, values: Floats) -> Floats:
    """Return what records can show of a block: classes less their mean, whose posterior is the prior."""
    return plan.model.contrasts(values) if isinstance(plan.model, SoftmaxRegression) else values


def _shown(plan: Plan, post: Posterior) -> Posterior:
    return dataclasses.replace(post, draws={name: _contrasts(plan, values) for name, values in post.draws.items()})


def _column(post: Posterior, name: str) -> Floats:
    return post.summary().column(name)


def _intervals(plan: Plan, post: Posterior) -> tuple[Floats, Floats]:
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
    return _column(post, "5%"), _column(post, "95%")


def _together(plan: Plan, made: list[_Run]) -> Rehearsal:
    def root_mean_square(values: list[Floats]) -> float:
        return float(np.sqrt(np.mean(np.square(values))))

    independent = plan.settings.releases(plan.chains, None, None).hidden
    return Rehearsal(
        runs=len(made),
        coverage=float(np.mean([one.covered for one in made])),
        error=root_mean_square([(one.mean - one.truth) / one.open_sd for one in made]),
        error_to_open=root_mean_square([(one.mean - one.open_mean) / one.open_sd for one in made]),
        width=float(np.median([one.width for one in made])),
        rhat=None if independent else float(np.nanmedian([one.rhat for one in made])),
        effective_draws=None if independent else float(np.nanmedian([one.effective_draws for one in made])),
        seconds=float(np.median([one.seconds for one in made])),
        truths=np.array([one.truth for one in made]),
        estimates=np.array([one.mean for one in made]),
        forecast=plan.outlook,
    )


def _figure(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.3g}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
