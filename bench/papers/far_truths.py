"""Newton and DPVI where truths are drawn from the prior, and where they are twice as far: errors and intervals.

python far_truths.py [--runs 10]     runs what far_truths.json lacks (minutes of CPU time)
python far_truths.py --quick         one table of each setting that has few records, nothing is kept
python far_truths.py --table         prints what is kept

Made-up tables of logistic regression, prior Normal(1), settings from the planner: the evidence for its rule, which
takes DPVI where Newton's intervals would rest on the prior. The error is that of the posterior's mean, root mean square
over coefficients; coverage is that of 90 % intervals. Columns are even in [-1, 1] or, if correlated, half of each is
common to all; rows are scaled to norm 1 at most.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from results import Found, Results, command, markdown

import pydpmc as dp

Floats = npt.NDArray[np.float64]
DELTA = 1e-5
SAMPLERS = {"Newton": dp.Newton, "DPVI": dp.DPVI}


class Setting(NamedTuple):
    """A kind of tables, and the budget."""

    n: int
    dim: int
    epsilon: float
    common: float  # share of every column's variance that is common to all

    @property
    def name(self) -> str:
        columns = "correlated" if self.common else "independent"
        return f"{self.n:,} x {self.dim}, {columns}, epsilon {self.epsilon:g}"


SETTINGS = [
    Setting(n, dim, epsilon, common)
    for n, dim, epsilon in ((5_000, 20, 1.0), (20_000, 60, 0.3), (20_000, 60, 1.0), (100_000, 20, 1.0))
    for common in (0.0, 0.5)
]
DISTANCES = (1.0, 2.0)  # of the truth, over what the prior expects


def table_of(setting: Setting, distance: float, rng: np.random.Generator) -> tuple[dp.Data, Floats]:
    """Return a table and its truth."""
    n, dim, _, common = setting
    x = np.sqrt(1.0 - common) * rng.uniform(-1.0, 1.0, (n, dim)) + np.sqrt(common) * rng.uniform(-1.0, 1.0, (n, 1))
    x /= np.sqrt(dim) * (np.sqrt(1.0 - common) + np.sqrt(common))
    truth = distance * rng.normal(size=dim)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-x @ truth))).astype(float)
    return dp.Data(x, y, row_norm=1.0, public_n=n), truth


def run(setting: Setting, sampler: str, distance: float, k: int) -> tuple[float, float]:
    """Return the error of the posterior's mean and the share of truths within 90 % intervals."""
    data, truth = table_of(setting, distance, np.random.default_rng([k, setting.n, setting.dim]))
    model = dp.LogisticRegression(prior=dp.Normal(scale=1.0))
    budget = {"epsilon": setting.epsilon, "delta": DELTA}
    post = dp.sample(model, data, SAMPLERS[sampler](), progress=False, anyway=True, **budget)
    draws = post.draws["beta"].reshape(-1, setting.dim)
    low, high = np.quantile(draws, [0.05, 0.95], axis=0)
    error = float(np.sqrt(((draws.mean(axis=0) - truth) ** 2).mean()))
    return error, float(((low < truth) & (truth < high)).mean())


def taken(setting: Setting) -> str:
    """Return what the planner takes, which it decides without a record."""
    data, _ = table_of(setting._replace(n=10), 1.0, np.random.default_rng(0))
    public = dp.Public(n=setting.n, columns=data.public.columns, has_target=True, row_norm=1.0)
    model = dp.LogisticRegression(prior=dp.Normal(scale=1.0))
    return dp.compare(model, public, epsilon=setting.epsilon, delta=DELTA).taken or "none"


def measure(kept: Results, options: argparse.Namespace) -> None:
    for setting in SETTINGS:
        if options.quick and setting.n > 5_000:
            continue
        of_setting = kept.found.setdefault(setting.name, {"taken": taken(setting)})
        for sampler in SAMPLERS:
            for distance in DISTANCES:
                cell = of_setting.setdefault(f"{sampler}, {distance:g}", [])
                while len(cell) < (1 if options.quick else options.runs):
                    cell.append([round(value, 4) for value in run(setting, sampler, distance, len(cell))])
                    kept.save()
        print(setting.name, flush=True)


def tables(found: Found) -> list[str]:
    rows = []
    for name, cells in found.items():
        for sampler in SAMPLERS:
            runs = [np.array(cells[f"{sampler}, {distance:g}"]) for distance in DISTANCES]
            figures = [f"{cell[:, i].mean():.2f}" for i in (0, 1) for cell in runs]
            chosen = "taken" if cells["taken"] == sampler else ""
            rows.append([name, sampler, *figures, chosen, str(len(runs[0]))])
    header = ["records x columns", "sampler", "error", "if far", "coverage of 90 %", "if far", "planner", "runs"]
    return markdown(header, rows)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10)


if __name__ == "__main__":
    command(__file__, __doc__, measure, tables, arguments=arguments)
