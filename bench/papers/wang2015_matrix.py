"""What the Lipschitz matrix F of algorithm 4 (Wang et al. 2015) buys where columns are nearly collinear.

python wang2015_matrix.py [--runs 3]     runs what wang2015_matrix.json lacks (two minutes of CPU time)
python wang2015_matrix.py --quick        one run of each at one correlation, epsilon 1
python wang2015_matrix.py --table        prints what is kept

Logistic regression, 20,000 records, 5 columns whose correlation is public, delta = 1e-6, one record replaced, prior
Normal(3), settings from the planner. "ball": rows of norm at most R as they are. "ellipsoid": a gradient g is bounded
by |F^-1 g| <= 1 and gets noise of covariance proportional to FF^T. That is the same as rows mapped by a public matrix
(docs/privacy/sgfs.md, lemma 3), so no code of its own is needed. R and FF^T are such that the same share of rows,
three percent, is shortened in both.
"""

from __future__ import annotations

import argparse

import numpy as np
from results import Found, Results, command, markdown, mean_and_error
from scipy.linalg import eigh

import pydpmc as dp
from pydpmc.samplers.base import Sampler

N, DELTA, PRIOR, SHORTENED = 20_000, 1e-6, 3.0, 0.03
TRUTH = np.array([1.0, -1.0, 0.5, 0.0, 0.8])
CORRELATIONS, EPSILONS = (0.0, 0.9, 0.99), (1.0, 10.0)
SAMPLERS = {"SGLD": dp.SGLD, "SGFS": dp.SGFS}


def design(correlation: float, rng: np.random.Generator, n: int = N) -> np.ndarray:
    d = len(TRUTH)
    return rng.normal(size=(n, d)) @ np.linalg.cholesky((1 - correlation) * np.eye(d) + correlation).T


def outer_matrix(correlation: float, kind: str) -> np.ndarray:
    """Return FF^T, from public rows: the identity or the covariance, scaled so that few rows lie outside."""
    public = design(correlation, np.random.default_rng(99), 100_000)
    shape = np.eye(len(TRUTH)) if kind == "ball" else np.cov(public.T)
    squares = (public * np.linalg.solve(shape, public.T).T).sum(axis=1)
    return np.asarray(shape * np.quantile(squares, 1.0 - SHORTENED))


def error(sampler: Sampler, correlation: float, kind: str, epsilon: float, run: int) -> float:
    """Return the root mean square distance of the mean of the draws from the truth."""
    rng = np.random.default_rng([run, 23])
    x = design(correlation, rng)
    y = (rng.random(N) < 1 / (1 + np.exp(-x @ TRUTH))).astype(float)
    values, matrix = eigh(np.eye(len(TRUTH)) / PRIOR**2, outer_matrix(correlation, kind))
    data = dp.Data(x @ matrix, y, row_norm=1.0)
    model = dp.LogisticRegression(prior=dp.Normal(scale=tuple(values**-0.5)))
    post = dp.sample(model, data, sampler, epsilon=epsilon, delta=DELTA, progress=False, anyway=True)
    return float(np.sqrt(np.mean((matrix @ post.draws["beta"].mean(axis=(0, 1)) - TRUTH) ** 2)))


def measure(kept: Results, options: argparse.Namespace) -> None:
    for correlation in (0.9,) if options.quick else CORRELATIONS:
        for name, sampler in SAMPLERS.items():
            for kind in ("ball", "ellipsoid"):
                for epsilon in EPSILONS[:1] if options.quick else EPSILONS:
                    cells = kept.found.setdefault(f"{correlation:g}", {}).setdefault(f"{name}, {kind}", {})

                    def run(k: int) -> float:
                        return error(sampler(), correlation, kind, epsilon, k)  # noqa: B023

                    label = f"correlation {correlation:g}, {name}, {kind}, epsilon {epsilon:g}"
                    kept.repeat(cells.setdefault(str(epsilon), []), 1 if options.quick else options.runs, run, label)


def tables(found: Found) -> list[str]:
    rows = []
    for correlation, methods in sorted(found.items(), key=lambda item: float(item[0])):
        for name, cells in methods.items():
            shown = [mean_and_error(cells[str(e)]) if cells.get(str(e)) else "" for e in EPSILONS]
            rows.append([correlation, name, *shown, ", ".join(map(str, sorted({len(c) for c in cells.values()})))])
    return markdown(["correlation", "sampler, clip", *(f"error at epsilon {e:g}" for e in EPSILONS), "runs"], rows)


if __name__ == "__main__":
    command(
        __file__, __doc__, measure, tables, arguments=lambda parser: parser.add_argument("--runs", type=int, default=3)
    )
