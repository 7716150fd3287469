"""Scores with a guarantee: whole points of every record, summed, with exact discrete Laplace noise.

Claim: a score is epsilon-DP for the records it is taken on, given the fitted estimator. Neighbours: replace or
add_remove. Assumes: what the estimator's own guarantee assumes of how X was made. Proof: docs/privacy/scores.md.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import accounting as acc
from ..checks import positive, whole
from ..data.data import Data
from ..errors import InvalidArgument, NotCoveredWarning
from ..ledger.ledger import opened
from ..quantiles.exact_choice import discrete_laplace, random_words

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
SEEDED = "a seed was given: whoever knows it can replay every random choice"
AGREEMENT = 1e-9  # how far a prediction in a batch may be from that of the record alone, in units of its factors
NOT_COVERED = (
    "score() is a function of the records it is given, and no guarantee covers it: do not release it, and choose no "
    "settings by it, unless these records are public. private_score(X, y, epsilon=...) has a guarantee"
)


@dataclass(frozen=True)
class PrivateScore:
    """A released score in [0, 1], with what it cost."""

    value: float
    guarantee: acc.Guarantee
    ledger_entry: dict[str, Any] | None = None

    def __float__(self) -> float:
        return self.value


class Scored:
    """Scores of classifiers and regressors: one that warns, and one that is private."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return scikit-learn's score (accuracy, or R^2). It is NOT private: no guarantee covers it.

        ``cross_val_score`` and ``GridSearchCV`` call it, or compute the like from predictions: what they return, and
        what is chosen by it, is covered by nothing. Use `private_score`, or ``scoring=private_scorer(...)``.
        """
        if self.private:  # type: ignore[attr-defined]
            warnings.warn(NOT_COVERED, NotCoveredWarning, stacklevel=2)
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]

    def private_score(
        self, X: Any, y: Any, *, epsilon: float, ledger: Any = None, seed: int | None = None
    ) -> PrivateScore:
        """Release how well the estimator predicts these records, within a budget of its own.

        Of a classifier: the share of records whose class is predicted. Of a regressor: one minus the mean absolute
        error as a share of the width of `y_bounds`. A record that cannot be scored counts as wrong.

        Parameters
        ----------
        X, y
            Records, those of the fit or others.
        epsilon
            The budget: the score is epsilon-DP under the estimator's `adjacency`, with delta = 0.
        ledger
            The ledger of these records' data set, charged before a prediction is made; the estimator's by default.
        seed
            For tests: makes the release repeatable and voids its guarantee.

        Examples
        --------
        >>> import numpy as np
        >>> from pydpmc.sklearn import DPLogisticRegression
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(-0.7, 0.7, (4000, 2))
        >>> y = np.where(X @ [3.0, -2.0] + rng.logistic(size=4000) > 0, "yes", "no")
        >>> model = DPLogisticRegression(epsilon=2.0, row_norm=1.0, classes=["no", "yes"]).fit(X, y)
        >>> found = model.private_score(X, y, epsilon=0.1)
        >>> found.value > 0.55, round(found.guarantee.epsilon(0.0), 6)
        (True, 0.1)
        """
        positive(epsilon, "epsilon")
        seed = None if seed is None else whole(seed, "seed", least=0, most=2**64 - 1)
        rows, targets = self._rows_to_score(X, y)  # type: ignore[attr-defined]
        guarantee = self._score_guarantee(float(epsilon), seed)
        entry = self._charge_score(self.ledger if ledger is None else ledger, guarantee, rows, targets)  # type: ignore[attr-defined]
        void = np.full((1, rows.shape[1]), np.nan), np.full(1, np.nan)  # where the number of records is private, also 0
        points, most = self._points(*((rows, targets) if len(rows) else void))  # type: ignore[attr-defined]
        points = points[: len(rows)]
        return PrivateScore(_noised_share(points, most, float(epsilon), guarantee.adjacency, seed), guarantee, entry)

    def _score_guarantee(self, epsilon: float, seed: int | None) -> acc.Guarantee:
        """Return the guarantee of a score; it is void if the fit is void, because points depend on the fit."""
        fitted = self.posterior_.guarantee  # type: ignore[attr-defined]
        reasons = [reason for reason in (fitted.void, None if seed is None else SEEDED) if reason is not None]
        return acc.compose(
            [(acc.PureDP(epsilon), 1)],
            adjacency=self.adjacency,  # type: ignore[attr-defined]
            assumptions=self._stated_assumptions(),  # type: ignore[attr-defined]
            void="; ".join(reasons) or None,
        )

    def _charge_score(self, ledger: Any, guarantee: acc.Guarantee, rows: Floats, targets: Floats) -> Any:
        if ledger is None:
            return None
        ticket, book = secrets.token_hex(16), opened(ledger)
        table = Data(rows, targets, row_norm=self.row_norm, x_bounds=self.x_bounds, on_invalid="drop")  # type: ignore[attr-defined]
        book.admit(table)  # as every fit does
        book.reserve(guarantee, table, {"release": "private score", "sampler": "private score"}, ticket)
        book.commit(ticket)
        return book.entry_of(ticket)


def private_scorer(*, epsilon: float, ledger: Any = None) -> Callable[[Any, Any, Any], float]:
    """Return a scorer for ``cross_val_score`` or ``GridSearchCV``, each call of which spends epsilon.

    It takes an estimator of this package, or a scikit-learn ``Pipeline`` that ends in one.

    Examples
    --------
    >>> from pydpmc.sklearn import private_scorer
    >>> scorer = private_scorer(epsilon=0.1)
    """
    positive(epsilon, "epsilon")

    def scorer(model: Any, X: Any, y: Any) -> float:
        last = model[-1] if hasattr(model, "steps") else model
        if not isinstance(last, Scored):
            raise InvalidArgument(
                "scoring: private_scorer takes estimators of pydpmc.sklearn, or a Pipeline that ends in one"
            )
        prepared = model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X
        return float(last.private_score(prepared, y, epsilon=epsilon, ledger=ledger))

    return scorer


def _noised_share(points: Integers, most: int, epsilon: float, adjacency: str, seed: int | None) -> float:
    """Return the share of points that were won, with noise on those won and, where n is private, on those lost."""
    rate = Fraction(epsilon) / most
    won = int(points.sum()) + discrete_laplace(rate, random_words(seed, 0))
    if adjacency == "replace":
        return min(max(won / (most * max(len(points), 1)), 0.0), 1.0)
    lost = int((most - points).sum()) + discrete_laplace(rate, random_words(seed, 1))
    won, lost = max(won, 0), max(lost, 0)
    return won / (won + lost) if won + lost else 0.0


def alike_alone(of_batch: Floats, near: npt.NDArray[np.bool_], alone: Callable[[int], float]) -> Floats:
    """Return each record's value as a prediction of it alone gives it; only those `near` a decision are made alone.

    What a matrix product rounds for one row depends on the other rows, so a record's points must not come from it
    where a rounding could decide: else one record could change the points of many.
    """
    values = of_batch.copy()
    for i in np.flatnonzero(near):
        values[i] = alone(int(i))
    return values
