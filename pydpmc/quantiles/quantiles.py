"""Private quantiles and bounds of columns whose bounds nobody knows.

Claim: each quantile is one draw of an exponential mechanism of bounded range eta, drawn exactly, whatever the
records. Neighbours: replace or add_remove. Assumes: nothing. Proof: docs/privacy/quantiles.md.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import accounting as acc
from ..checks import given, inside, number, one_of, positive, reals, whole
from ..data.columns import numbers
from ..data.schema.tables import columns_of
from ..errors import InvalidArgument
from ..ledger.ledger import opened
from .exact_choice import choose, random_words
from .grids import apart, checked_grid, decimal_grid, grids_within

Floats = npt.NDArray[np.float64]
Adjacency = Literal["replace", "add_remove"]


@dataclass(frozen=True)
class Quantiles:
    """Released quantiles, in the order asked for and never decreasing in it, with what they cost."""

    values: tuple[float, ...]
    guarantee: acc.Guarantee


@dataclass(frozen=True)
class PrivateBounds:
    """Released (low, high) by column, with what they cost: ``dp.Number(*found["income"])``."""

    bounds: Mapping[str, tuple[float, float]]
    guarantee: acc.Guarantee

    def __getitem__(self, column: str) -> tuple[float, float]:
        return self.bounds[column]


def private_quantiles(
    values: npt.ArrayLike,
    quantiles: Sequence[float],
    *,
    grid: npt.ArrayLike,
    epsilon: float,
    delta: float = 0.0,
    adjacency: Adjacency = "replace",
    missing_values: Sequence[str] = ("",),
    ledger: Any = None,
    seed: int | None = None,
) -> Quantiles:
    """Release quantiles of one column, chosen among the points of a public grid.

    Parameters
    ----------
    values
        The column. Missing values take no part.
    quantiles
        Probabilities in (0, 1), increasing.
    grid
        Public candidates. The answer is one of them.
    epsilon, delta
        The budget of all quantiles together. With delta = 0 the release is epsilon-DP.
    adjacency
        ``"replace"`` or ``"add_remove"``.
    missing_values
        Texts that stand for a missing value.
    ledger
        A ``Ledger``, or its file, to charge before a record is used.
    seed
        For tests: makes the release repeatable and voids its guarantee.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> incomes = np.random.default_rng(1).lognormal(10.0, 1.0, 10_000)
    >>> found = dp.private_quantiles(incomes, [0.05, 0.95], grid=np.arange(0, 300_000, 1000), epsilon=0.5)
    >>> 3_000 <= found.values[0] <= 6_000
    True
    """
    raw = columns_of({"values": values}, ["values"], ["values"], ["values"])
    grids = {"values": checked_grid(grid)}
    released, guarantee = _release(raw, quantiles, grids, epsilon, delta, adjacency, missing_values, ledger, seed)
    return Quantiles(released["values"], guarantee)


def private_bounds(
    table: Any,
    columns: Sequence[str],
    *,
    epsilon: float,
    delta: float = 0.0,
    coverage: float = 0.98,
    grid: npt.ArrayLike | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    adjacency: Adjacency = "replace",
    missing_values: Sequence[str] = ("",),
    ledger: Any = None,
    seed: int | None = None,
) -> PrivateBounds:
    """Release a low and a high quantile of each column, to declare as its bounds.

    Parameters
    ----------
    table
        Whatever ``Schema.data`` takes.
    columns
        Names of number columns.
    epsilon, delta
        The budget of all columns together.
    coverage
        Share of the values that shall lie between the bounds; the rest will be clamped.
    grid
        Public candidates; by default 0 and 1, 2 and 5 times the powers of ten from 1e-6 to 1e12, of both signs.
    limits
        What a column can hold, known without the records: with ``{"income": (0, math.inf)}`` no bound of the column
        income is negative. A finite limit is a candidate itself.
    adjacency, missing_values, ledger, seed
        As for `private_quantiles`.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> table = {"income": np.random.default_rng(1).lognormal(10.0, 1.0, 10_000)}
    >>> found = dp.private_bounds(table, ["income"], epsilon=0.5, limits={"income": (0.0, np.inf)})
    >>> dp.Number(*found["income"]).high in (200_000.0, 500_000.0)
    True
    """
    inside(coverage, "coverage")
    if isinstance(columns, str) or not columns:
        raise InvalidArgument(f"columns must be a list of column names, not {given(columns)}")
    tail = (1.0 - coverage) / 2
    grids = grids_within(decimal_grid() if grid is None else checked_grid(grid), columns, limits)
    raw = columns_of(table, list(columns), list(columns), list(columns))
    released, guarantee = _release(
        raw, (tail, 1.0 - tail), grids, epsilon, delta, adjacency, missing_values, ledger, seed
    )
    return PrivateBounds({name: apart(pair[0], pair[1], grids[name]) for name, pair in released.items()}, guarantee)


def rank_costs(column: Floats, q: Fraction, grid: Floats) -> list[int]:
    """Return, times the denominator of q, how far the rank of each candidate is from q times the number present."""
    present = np.sort(column[~np.isnan(column)])
    target = q.numerator * len(present)
    less = np.searchsorted(present, grid, side="left").tolist()
    up_to = np.searchsorted(present, grid, side="right").tolist()
    return [max(0, a * q.denominator - target, target - b * q.denominator) for a, b in zip(less, up_to, strict=True)]


def cost_rate(eta: float, q: Fraction, adjacency: str) -> Fraction:
    """Return the c at which exp(-c cost) has range eta, twice c times the sensitivity of the cost."""
    sensitivity = Fraction(1) if adjacency == "replace" else max(q, 1 - q)
    return Fraction(eta) / (2 * sensitivity * q.denominator)


def _release(
    raw: Mapping[str, Any],
    quantiles: Sequence[float],
    grids: Mapping[str, Floats],
    epsilon: float,
    delta: float,
    adjacency: str,
    missing_values: Sequence[str],
    ledger: Any,
    seed: int | None,
) -> tuple[dict[str, tuple[float, ...]], acc.Guarantee]:
    seed = None if seed is None else whole(seed, "seed", least=0, most=2**64 - 1)
    fractions = _checked_quantiles(quantiles)
    uses = len(raw) * len(fractions)
    eta = _affordable_range(uses, epsilon, delta, adjacency)
    void = None if seed is None else "a seed was given: whoever knows it can replay every random choice"
    guarantee = acc.compose([(acc.BoundedRange(eta=eta), uses)], adjacency=adjacency, void=void)
    columns = {name: numbers(values, missing_values) for name, values in raw.items()}
    if ledger is not None:
        _charge(ledger, guarantee, list(columns))
    released, use = {}, 0
    for name, column in columns.items():
        picks, points = [], grids[name]
        for q in fractions:
            words = random_words(seed, use)
            picks.append(float(points[choose(rank_costs(column, q, points), cost_rate(eta, q, adjacency), words)]))
            use += 1
        released[name] = tuple(sorted(picks))
    return released, guarantee


def _charge(ledger: Any, guarantee: acc.Guarantee, names: list[str]) -> None:
    """Charge a ledger. Raw columns are not the table that later runs will use, so there is none to compare."""
    ticket, book = secrets.token_hex(16), opened(ledger)
    book.reserve(guarantee, None, {"release": "private quantiles", "columns": names}, ticket)
    book.commit(ticket)


def _affordable_range(uses: int, epsilon: float, delta: float, adjacency: str) -> float:
    positive(epsilon, "epsilon")
    if not 0.0 <= number(delta, "delta") <= 1e-3:
        raise InvalidArgument(f"delta must lie in [0, 0.001], not {delta!r}")
    one_of(adjacency, "adjacency", ("replace", "add_remove"))
    pure = epsilon / uses * (1 - 1e-12)
    if delta == 0.0 or uses == 1:
        return pure
    return acc.calibrate(
        lambda eta: [(acc.BoundedRange(eta=eta), uses)],
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        bracket=(pure, max(pure, epsilon)),
        integer=False,
    )


def _checked_quantiles(quantiles: Sequence[float]) -> list[Fraction]:
    wanted = reals(quantiles, "quantiles").ravel().tolist()
    if not wanted or not all(0.0 < q < 1.0 for q in wanted) or sorted(set(wanted)) != wanted:
        raise InvalidArgument(f"quantiles must be increasing numbers in (0, 1), not {wanted!r}")
    return [Fraction(q).limit_denominator(10**6) if 1e-6 <= q <= 1 - 1e-6 else Fraction(q) for q in wanted]
