"""A model with a discrete parameter by private MCMC, which Heikkilä et al. (2019) name as what gradients cannot do.

python heikkila2019_discrete.py [--runs 10]     runs what heikkila2019_discrete.json lacks (two minutes)
python heikkila2019_discrete.py --quick         one run of few steps
python heikkila2019_discrete.py --table         prints what is kept

Counts y on days 0 to 29, Poisson with one rate before an unknown day and another from it on: theta = (day, log rate
before, log rate after). `Barker` with a proposal of our own: the day moves by one to three, or the rates walk. The
likelihood is tempered to N0 records. Given the day, the exact law is two integrals, so the chain can be checked.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any

import numpy as np
from results import Found, Results, command, markdown, mean_and_error

import pydpmc as dp

N, N0, BATCH, DELTA, DAYS = 100_000, 100, 20_000, 1e-6, 30
CHANGE, RATES = 12, (1.0, 1.7)
CLIP, WALK = 1.4, 0.15  # the sampling variance is at most (N0 CLIP)^2 / BATCH = 0.98
EPSILONS = (0.1, 0.3, 1.0)


def log_likelihood(theta: dict[str, Any], record: dict[str, Any]) -> Any:
    log_rate = np.where(record["x"][:, 0] < theta["change"], theta["before"], theta["after"])
    return record["y"] * log_rate - np.exp(log_rate)


def propose(theta: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Move the day or both rates; public, and symmetric."""
    if random.random() < 0.5:
        return theta + np.array([random.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]), 0.0, 0.0])
    return theta + np.array([0.0, *(WALK * random.normal(size=2))])


@cache
def records() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    days = rng.integers(0, DAYS, N).astype(float)
    return days, np.minimum(rng.poisson(np.where(days < CHANGE, *RATES)), 8).astype(float)


def model() -> dp.models.Model:
    return dp.models.from_numpy(
        log_likelihood,
        parameters={"change": dp.models.Parameter((), "whole"), "before": (), "after": ()},
        prior={"change": dp.Uniform(1, DAYS - 1), "before": dp.Normal(1.0), "after": dp.Normal(1.0)},
    )


@cache
def exact() -> np.ndarray:
    """Return the probabilities of the days 1 to 29 under the tempered posterior."""
    days, counts = records()
    grid = np.linspace(-3.0, 3.0, 4001)
    log_terms = []
    for change in range(1, DAYS):
        term = 0.0
        for inside in (days < change, days >= change):
            density = N0 / N * (counts[inside].sum() * grid - inside.sum() * np.exp(grid)) - grid**2 / 2
            term += float(density.max() + np.log(np.exp(density - density.max()).sum()))
        log_terms.append(term)
    law = np.exp(np.array(log_terms) - max(log_terms))
    return np.asarray(law / law.sum())


def one_run(epsilon: float, quick: bool) -> list[float]:
    """Return the total variation of the day's law from the exact one, the error of its mean, and the steps."""
    days, counts = records()
    data = dp.Data(days, counts, x_bounds=(0.0, DAYS), y_bounds=(0.0, 8.0))
    sampler = dp.Barker(proposal=propose, clip=CLIP, n0=N0, batch_size=BATCH, steps=500 if quick else None)
    options = {"init": [15.0, 0.2, 0.2], "progress": False, "anyway": True}
    budget = {} if quick else {"epsilon": epsilon, "delta": DELTA}
    post = dp.sample(model(), data, sampler, **budget, **options)
    found = np.asarray(post.draws["change"]).ravel().astype(int)
    law = np.bincount(found, minlength=DAYS)[1:] / len(found)
    mean = float(law @ np.arange(1, DAYS) - exact() @ np.arange(1, DAYS))
    return [round(float(np.abs(law - exact()).sum() / 2), 4), round(abs(mean), 3), float(post.plan["steps"])]


def measure(kept: Results, options: argparse.Namespace) -> None:
    for epsilon in EPSILONS[:1] if options.quick else EPSILONS:
        cell = kept.found.setdefault(str(epsilon), [])
        while len(cell) < (1 if options.quick else options.runs):
            cell.append(one_run(epsilon, options.quick))
            print(f"epsilon {epsilon:g}: {cell[-1]}", flush=True)
            kept.save()


def tables(found: Found) -> list[str]:
    rows = []
    for epsilon, runs in found.items():
        distance, mean, steps = zip(*runs, strict=True)
        row = [f"{float(epsilon):g}", f"{steps[0]:,.0f}", mean_and_error(distance), mean_and_error(mean, 2)]
        rows.append([*row, str(len(runs))])
    header = ["epsilon", "steps", "total variation of the day's law", "error of its mean, days", "runs"]
    return markdown(header, rows)


if __name__ == "__main__":
    command(
        __file__, __doc__, measure, tables, arguments=lambda parser: parser.add_argument("--runs", type=int, default=10)
    )
