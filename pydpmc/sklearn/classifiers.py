"""Classifiers whose probabilities are averaged over private draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ..data.columns import RawColumn
from ..data.data import Data
from ..data.schema.levels import level_codes
from ..errors import InvalidArgument
from ..models import LogisticRegression, Model, SoftmaxRegression
from ..samplers import SGLD
from .base import DPEstimator, Floats
from .inputs import declared_table, features, target_column
from .scores import Integers, Scored, alike_alone

TINY = 1e-300  # a probability below it has this one's logarithm
LABELS_PUBLIC = "the set of labels is public (declare it with classes=, and this assumption goes away)"


class _DPClassifier(Scored, ClassifierMixin, DPEstimator):  # type: ignore[misc]
    """A classifier; `classes` is the public list of labels, taken from y (and then assumed public) if left out."""

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        row_norm: float | None = None,
        x_bounds: Any = None,
        classes: Any = None,
        prepared_by_record: bool = False,
        fit_intercept: bool = True,
        prior: Any = None,
        sampler: Any = None,
        adjacency: str = "replace",
        public_n: int | None = None,
        max_weight: float | None = None,
        chains: int = 1,
        private: bool = True,
        ledger: Any = None,
        verbose: bool = False,
        anyway: bool = False,
        random_state: Any = None,
    ) -> None:
        self._keep(locals())

    def _model(self, count: int) -> Model:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Draw from the private posterior given X and y, or given a ``Data``, which may be on a cluster.

        `sample_weight` says how often each record counts; weights above `max_weight` are lowered to it.
        """
        if isinstance(X, Data):
            return self._fit_declared(declared_table(self, X, y, sample_weight))
        table = features(self, X, y)
        labels = target_column(y, len(table))
        self.classes_ = _labels_of(y) if self.classes is None else np.array(sorted(self.classes))
        if len(self.classes_) < 2:
            raise InvalidArgument("y holds one class only; a classifier needs two: declare them with classes=")
        model = self._model(len(self.classes_))
        self._fit(table, self._targets(labels), model, (0.0, len(self.classes_) - 1.0), sample_weight)
        return self

    def _fit_declared(self, data: Data) -> Any:
        levels = data.public.target_levels if self.classes is None else sorted(self.classes)
        if levels is None or len(levels) < 2:
            raise InvalidArgument("classes must be declared, in the order of the target's codes 0, 1, ... in this Data")
        self.classes_ = np.array(levels)
        self._fit_data(data, self._model(len(levels)), self._of_preparation(data.schema))
        return self

    def _stated_assumptions(self) -> tuple[str, ...]:
        return (*super()._stated_assumptions(), *(() if self.classes is not None else (LABELS_PUBLIC,)))

    def _targets(self, column: RawColumn) -> Floats:
        levels = self.classes_.tolist() if self.classes is None else sorted(self.classes)
        codes = level_codes(levels, column, ())
        return np.where(codes < 0, np.nan, codes.astype(np.float64))  # a label that is not declared: a void record

    def _points(self, rows: Floats, targets: Floats) -> tuple[Integers, int]:
        """Return 1 for each record whose class is predicted, 0 for others."""
        known = np.isfinite(targets) & np.isfinite(rows).all(axis=1)
        codes = np.where(known, targets, 0.0).astype(np.int64)
        safe = np.where(known[:, None], rows, 0.0)
        shares = np.asarray(self.posterior_.predict_proba(safe).mean)
        top = np.sort(shares, axis=1)
        near = top[:, -1] - top[:, -2] <= self._agreement()

        def alone(i: int) -> float:
            return float(np.asarray(self.posterior_.predict_proba(safe[i : i + 1]).mean)[0].argmax())

        predicted = alike_alone(shares.argmax(axis=1).astype(np.float64), near & known, alone)
        return (known & (predicted == codes)).astype(np.int64), 1

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of `classes_`, averaged over the draws; NaN for a row with a missing value."""
        new = self._checked(X)
        return np.asarray(self.posterior_.predict_proba(new))

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row; the first class for a row with a missing value."""
        probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[probable]

    def decision_function(self, X: Any) -> Floats:
        """Return the log-odds of the second of two classes, or log-probabilities of several, averaged over the draws.

        Positive log-odds mean the second class, as `predict` has it; NaN for a row with a missing value.
        """
        logs = np.log(np.maximum(self.predict_proba(X), TINY))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = bool(self.private)  # scikit-learn's checks use a few hundred records only
        return tags


class DPLogisticRegression(_DPClassifier):
    """Private Bayesian logistic regression for two classes.

    See `pydpmc.sklearn.base.DPEstimator` for the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from pydpmc.sklearn import DPLogisticRegression
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(-0.7, 0.7, (4000, 2))
    >>> y = np.where(X @ [3.0, -2.0] + rng.logistic(size=4000) > 0, "yes", "no")
    >>> model = DPLogisticRegression(epsilon=2.0, row_norm=1.0, classes=["no", "yes"]).fit(X, y)
    >>> model.private_score(X, y, epsilon=0.1).value > 0.55, model.guarantee_.epsilon(1e-6) <= 2.0
    (True, True)
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Draw from the private posterior given X and y, or given a ``Data``, which may be on a cluster.

        `sample_weight` says how often each record counts; weights above `max_weight` are lowered to it.
        """
        super().fit(X, y, sample_weight)
        self.coef_ = self._mean_draw("beta")[None, :]
        self.intercept_ = self._mean_draw("intercept") if self.fit_intercept else np.zeros(1)
        return self

    def _model(self, count: int) -> Model:
        if count > 2:
            raise InvalidArgument(
                f"Only binary classification is supported. The target has {count} classes: use DPSoftmaxRegression"
            )
        return LogisticRegression(prior=self._prior(), intercept=self.fit_intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class DPSoftmaxRegression(_DPClassifier):
    """Private Bayesian multinomial logistic regression.

    See `pydpmc.sklearn.base.DPEstimator` for the parameters.

    Examples
    --------
    >>> from pydpmc.sklearn import DPSoftmaxRegression
    >>> DPSoftmaxRegression(row_norm=1.0, classes=["a", "b", "c"]).epsilon
    1.0
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Draw from the private posterior given X and y, or given a ``Data``, which may be on a cluster.

        `sample_weight` says how often each record counts; weights above `max_weight` are lowered to it.
        """
        super().fit(X, y, sample_weight)
        count = len(self.classes_)
        self.coef_ = self._mean_draw("beta").reshape(count, -1)
        self.intercept_ = self._mean_draw("intercept") if self.fit_intercept else np.zeros(count)
        return self

    def _model(self, count: int) -> Model:
        return SoftmaxRegression(prior=self._prior(), intercept=self.fit_intercept, classes=count)

    def _open_sampler(self, weighted: bool) -> Any:
        return SGLD()


def _labels_of(y: Any) -> Any:
    """Return the labels in y, which are assumed public: what cannot be a set of labels is refused."""
    try:
        checked = column_or_1d(y)
        if checked.dtype.kind == "f":
            assert_all_finite(checked, input_name="y")
        check_classification_targets(checked)
        return np.unique(checked)
    except (TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidArgument(f"{reason} To take whatever y holds, declare the labels with classes=") from None
