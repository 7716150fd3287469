"""How many records have each declared level, with noise: a cheap check that a level is spelt as the records spell it.

Claim: all counts together are epsilon-DP, whatever the records. Neighbours: replace or add_remove. Assumes: nothing.
Proof: docs/privacy/shares.md.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import accounting as acc
from ..checks import given, one_of, positive, visible, whole
from ..data.data import Data
from ..data.public import Public
from ..data.schema.levels import level_codes
from ..data.schema.tables import columns_of
from ..data.storage import labels
from ..data.values import canonical
from ..errors import InvalidArgument
from ..ledger.ledger import opened
from .exact_choice import discrete_laplace, random_words

Adjacency = Literal["replace", "add_remove"]
OTHER = "any other value"
MOST_LEVELS = 10_000
DOUBT = 1e-3  # chance that the noise of a level without a record exceeds `error`


@dataclass(frozen=True)
class Shares:
    """Noised shares of the records by level, with what they cost; prints as a table.

    Attributes
    ----------
    counts
        Noised counts by level, the last that of any other value (missing ones too); noise may make them negative.
    shares
        The counts as shares of their sum or, under ``replace``, of the public number of records; within [0, 1].
    error
        What the noise of a count exceeds in one of a thousand releases.
    guarantee
        What was promised for the release.
    """

    counts: Mapping[str, int]
    shares: Mapping[str, float]
    error: float
    guarantee: acc.Guarantee

    @property
    def absent(self) -> tuple[str, ...]:
        """The levels whose count does not exceed its noise: perhaps no record has them, or they are misspelt."""
        return tuple(level for level, count in self.counts.items() if count <= self.error and level != OTHER)

    def __getitem__(self, level: Any) -> float:
        return self.shares[str(level)]

    def __str__(self) -> str:
        width = max(len(visible(level)) for level in self.counts)
        lines = [f"{visible(k):<{width}}  {v:>12,}  {100 * self.shares[k]:>6.2f} %" for k, v in self.counts.items()]
        return "\n".join([*lines, f"(each count is off by more than {self.error:,.0f} once in a thousand times)"])


def private_shares(
    values: Any,
    levels: Sequence[Any],
    *,
    epsilon: float,
    adjacency: Adjacency = "replace",
    missing_values: Sequence[str] = ("",),
    ledger: Any = None,
    seed: int | None = None,
) -> Shares:
    """Release how many records have each level of a column, with exact discrete noise.

    A level, class or target value that no record has makes a meaningless model, and fitting it spends the budget all
    the same. This check costs little: ``epsilon=0.05`` shows a level that a few hundred records have.

    Parameters
    ----------
    values
        The column, or a ``Data``, whose target is counted (`levels` name its classes 0, 1, ...).
    levels
        The declared levels. Never collect them from the records.
    epsilon
        The budget: all counts together are epsilon-DP, with delta = 0.
    adjacency
        ``"replace"`` (the number of records is public) or ``"add_remove"``.
    missing_values
        Texts that stand for a missing value.
    ledger
        A ``Ledger``, or its file, to charge before a record is counted.
    seed
        For tests: makes the release repeatable and voids its guarantee.

    Examples
    --------
    >>> import pydpmc as dp
    >>> found = dp.private_shares(["yes"] * 900 + ["no"] * 2100, ["yes", "No"], epsilon=0.1)
    >>> found.absent, 0.2 < found["yes"] < 0.4
    (('No',), True)
    """
    names = _checked_levels(levels)
    positive(epsilon, "epsilon")
    one_of(adjacency, "adjacency", ("replace", "add_remove"))
    seed = None if seed is None else whole(seed, "seed", least=0, most=2**64 - 1)
    codes = _codes(values, levels, missing_values)
    void = None if seed is None else "a seed was given: whoever knows it can replay every random choice"
    guarantee = acc.compose([(acc.PureDP(float(epsilon)), 1)], adjacency=adjacency, void=void)
    if ledger is not None:
        ticket, book = secrets.token_hex(16), opened(ledger)
        table = values if isinstance(values, Data) else None
        book.reserve(guarantee, table, {"release": "private shares", "levels": names[:-1]}, ticket)
        book.commit(ticket)
    rate = Fraction(epsilon) / (2 if adjacency == "replace" else 1)  # the changes of all counts together
    exact = np.bincount(np.where(codes < 0, len(levels), codes), minlength=len(names)).tolist()
    noised = [count + discrete_laplace(rate, random_words(seed, j)) for j, count in enumerate(exact)]
    whole_of = max(1, len(codes) if adjacency == "replace" else sum(max(0, count) for count in noised))
    shares = {name: min(1.0, max(0.0, count / whole_of)) for name, count in zip(names, noised, strict=True)}
    return Shares(dict(zip(names, noised, strict=True)), shares, _error(float(rate)), guarantee)


def _error(rate: float) -> float:
    """Return what discrete Laplace noise of this rate exceeds with probability `DOUBT`, rounded up."""
    return math.ceil(-math.log(DOUBT * (1.0 + math.exp(-rate))) / rate)


def _checked_levels(levels: Any) -> list[str]:
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not 1 <= len(levels) <= MOST_LEVELS:
        raise InvalidArgument(f"levels must be a list of 1 to {MOST_LEVELS:,} declared levels, not {given(levels)}")
    keys = [canonical(level) for level in levels]
    if None in keys or len(set(keys)) != len(keys) or len({str(level) for level in levels} | {OTHER}) <= len(keys):
        raise InvalidArgument('levels must be distinct numbers, texts or dates: 1, 1.0, True and "1" are one level')
    return [*(str(level) for level in levels), OTHER]


def _codes(values: Any, levels: Sequence[Any], missing_values: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the place of each record's level, negative for any other value."""
    if not isinstance(values, Data):
        raw = columns_of({"values": values}, ["values"], ["values"])
        return level_codes(levels, raw["values"], missing_values)
    public: Public = values.public
    if public.grouped or not public.has_target:
        raise InvalidArgument(
            "values: the target of a Data is counted record by record, but this Data has no target or protects groups"
        )
    if values._cluster is not None:
        raise InvalidArgument(
            "values: the records of this Data are at the workers of a cluster, where nothing is counted; use a Data on "
            "one machine"
        )
    target = labels(values._rows, public.width, True)
    known = (target >= 0) & (target < len(levels)) & (target == np.floor(target))
    return np.where(known, np.where(known, target, 0.0), -1.0).astype(np.int64)
