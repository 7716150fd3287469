"""Confident-GNMax (Papernot et al. 2018) on a binary task, with its data-independent price.

Teachers are logistic regressions on disjoint parts of the records. For a public query every teacher votes; if the
larger count, noised, exceeds a threshold, the larger of the noised counts is released as the label. One record moves
one vote: the maximum by at most 1, the two counts by sqrt(2). Every query is charged for both Gaussian mechanisms,
answered or not.
"""

from __future__ import annotations

from collections.abc import Callable

import erm
import numpy as np

from pydpmc import accounting as acc

TEACHERS, THRESHOLD, CHECK_SHARE = 200, 0.75, 0.5
QUERIES = (10, 30, 100, 300)


def price(noise: float, queries: int, delta: float) -> float:
    """Return epsilon of so many queries, a record added or removed; `noise` is the sd of the votes' noise."""
    check = noise * CHECK_SHARE**-0.5
    uses = [(acc.Gaussian(noise / 2**0.5), queries), (acc.Gaussian(check), queries)]
    return float(acc.compose(uses, adjacency="add_remove").epsilon(delta))


def least_noise(epsilon: float, queries: int, delta: float) -> float:
    low, high = 1e-2, 1e8
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if price(middle, queries, delta) <= epsilon else (middle, high)
    return high


def student(
    x: np.ndarray, y: np.ndarray, epsilon: float, delta: float, rng: np.random.Generator
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the predictor of a student; queries are rows drawn like the records but labelled by teachers alone.

    The queries are held out of the records and taken as public, as the paper does. The number of queries is the largest
    that leaves the noise below a tenth of the votes, or the fewest.
    """
    order = rng.permutation(len(y))
    public, private = order[:1000], order[1000:]
    parts = np.array_split(private, TEACHERS)
    teachers = np.array([erm.minimiser(x[part], y[part], 1.0) for part in parts])
    counts = [q for q in QUERIES if least_noise(epsilon, q, delta) < TEACHERS / 10] or [QUERIES[0]]
    noise = least_noise(epsilon, counts[-1], delta)
    asked = x[public[: counts[-1]]]
    votes = (asked @ teachers.T > 0).sum(axis=1)
    tally = np.column_stack([TEACHERS - votes, votes]).astype(float)
    sure = tally.max(axis=1) + rng.normal(size=len(tally)) * noise * CHECK_SHARE**-0.5 > THRESHOLD * TEACHERS
    labels = (tally + rng.normal(size=tally.shape) * noise).argmax(axis=1)
    if sure.sum() < 2 or len(set(labels[sure])) < 2:
        constant = bool(np.round(labels[sure].mean())) if sure.any() else False
        return lambda rows: np.full(len(rows), constant)
    theta = erm.minimiser(asked[sure], labels[sure].astype(float), 1.0)
    return lambda rows: rows @ theta > 0
