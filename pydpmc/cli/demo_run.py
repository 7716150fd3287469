"""The demo: a private posterior on synthetic data, compared with the true values."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from ..data.data import Data
from ..models import LogisticRegression
from ..models.priors import Normal
from ..planning.plan import plan
from ..posterior.posterior import Posterior
from ..running.run import run, sample
from ..samplers import Newton

RECORDS = 400_000
TRUTH = (0.8, -0.5, 0.3, 0.0)
COLUMNS = ("age", "dose", "smoker", "placebo")
EPSILON, DELTA = 1.0, 1e-6
REHEARSALS = 2


def make_records(n: int = RECORDS, seed: int = 20261116) -> Data:
    """Return synthetic records of a logistic model whose coefficients are `TRUTH`."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, len(TRUTH)))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = random.random(n) < 1.0 / (1.0 + np.exp(-x @ np.array(TRUTH)))
    return Data(x, y, row_norm=1.0, columns=COLUMNS)


def demo(console: Console | None = None) -> Posterior:
    """Plan, run and compare; return the private posterior."""
    console = console or Console()
    started = time.perf_counter()
    data = make_records()
    model = LogisticRegression(prior=Normal(scale=1.0))
    console.print(f"A made-up study: {RECORDS:,} people, did the treatment work for them?\n", highlight=False)
    planned = plan(model, data.public, epsilon=EPSILON, delta=DELTA)
    console.print(str(planned), markup=False, highlight=False)
    console.print(f"\nRehearsing it on {REHEARSALS} made-up tables ...", highlight=False)
    tried = planned.rehearse(runs=REHEARSALS, threads=1, progress=False)
    console.print(
        f"There its error was {tried.error:.2f} standard deviations of the posterior without privacy "
        f"({tried.forecast.error:.2f} forecast), and its 90 % intervals were {tried.width:.2f} times as wide.",
        highlight=False,
    )
    console.print("\nRunning it ...", highlight=False)
    private = run(planned, data)
    console.print("Running it without privacy, for comparison ...", highlight=False)
    open_ = sample(model, data, Newton(), private=False)
    console.print(_table(private, open_))
    console.print(_verdict(private, open_), highlight=False)
    console.print(f"Verdict on use: {planned.verdict}.", highlight=False)
    console.print(f"\n{private.guarantee.statement(delta=DELTA)}", markup=False, highlight=False)
    console.print(f"\nDone in {time.perf_counter() - started:.1f} s.", highlight=False)
    return private


def _interval(draws: npt.NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(draws, (0.05, 0.95))
    return float(low), float(high)


def _table(private: Posterior, open_: Posterior) -> Table:
    table = Table(title="90 % credible intervals", title_justify="left")
    for heading in ("coefficient", "true", "private", "without privacy", "wider", "covered"):
        table.add_column(heading, justify="left" if heading == "coefficient" else "right")
    for j, (name, truth) in enumerate(zip(COLUMNS, TRUTH, strict=True)):
        cells = []
        for post in (private, open_):
            values = post.draws["beta"][:, :, j]
            low, high = _interval(values)
            cells.append(f"{values.mean():+.3f}  [{low:+.3f}, {high:+.3f}]")
        low, high = _interval(private.draws["beta"][:, :, j])
        cells.append(f"{_wider(private, open_, j):.2f} x")
        table.add_row(name, f"{truth:+.2f}", *(c.replace("[", r"\[") for c in cells), _yes(low <= truth <= high))
    return table


def _yes(covered: bool) -> str:
    return "yes" if covered else "no"


def _wider(private: Posterior, open_: Posterior, j: int) -> float:
    return float(private.draws["beta"][:, :, j].std() / open_.draws["beta"][:, :, j].std())


def _verdict(private: Posterior, open_: Posterior) -> str:
    covered = sum(
        low <= truth <= high
        for j, truth in enumerate(TRUTH)
        for low, high in [_interval(private.draws["beta"][:, :, j])]
    )
    wider = np.median([_wider(private, open_, j) for j in range(len(TRUTH))])
    return (
        f"The private intervals cover {covered} of {len(TRUTH)} true values. They are about "
        f"{wider:.2f} times as wide as those without privacy."
    )
