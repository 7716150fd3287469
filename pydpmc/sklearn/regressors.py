"""Regressors whose predictions are averaged over private draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from ..data.columns import RawColumn, numbers
from ..data.data import Data
from ..data.public import target_bounds
from ..errors import InvalidArgument
from ..models import HuberRegression, Model, PoissonRegression
from ..samplers import Barker
from .base import DPEstimator, Floats
from .inputs import declared_table, features, target_column
from .scores import Integers, Scored, alike_alone

MOST_POINTS = 256  # points per record: more of them reduce the rounding and do not increase the relative noise


class _DPRegressor(Scored, RegressorMixin, DPEstimator):  # type: ignore[misc]
    """A regressor; `y_bounds` are the public bounds of the target, and must be declared."""

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        row_norm: float | None = None,
        x_bounds: Any = None,
        y_bounds: Any = None,
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

    def _model(self, bounds: tuple[float, float]) -> Model:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Draw from the private posterior given X and y, or given a ``Data``, which may be on a cluster.

        `sample_weight` says how often each record counts; weights above `max_weight` are lowered to it.
        """
        if self.y_bounds is None:
            raise InvalidArgument(
                "y_bounds must be declared, as public bounds of the target that were not learned from it"
            )
        bounds = target_bounds(self.y_bounds)
        if isinstance(X, Data):
            self._fit_declared(declared_table(self, X, y, sample_weight), bounds)
        else:
            table = features(self, X, y)
            target = numbers(target_column(y, len(table)))
            self._fit(table, target, self._model(bounds), bounds, sample_weight)
        self.coef_ = self._mean_draw("beta")
        self.intercept_ = float(self._mean_draw("intercept")[0]) if self.fit_intercept else 0.0
        return self

    def _fit_declared(self, data: Data, bounds: tuple[float, float]) -> None:
        if data.public.y_bounds != bounds:
            raise InvalidArgument(f"y_bounds are {data.public.y_bounds} in this Data, not {bounds}; give the same")
        self._fit_data(data, self._model(bounds), self._of_preparation(data.schema))

    def _targets(self, column: RawColumn) -> Floats:
        found = numbers(column)
        return np.where(np.isfinite(found), np.clip(found, *target_bounds(self.y_bounds)), np.nan)

    def _points(self, rows: Floats, targets: Floats) -> tuple[Integers, int]:
        """Return whole points, up to `MOST_POINTS` for a prediction without error and 0 for one off by the width."""
        low, high = target_bounds(self.y_bounds)
        known = np.isfinite(targets) & np.isfinite(rows).all(axis=1)
        safe, wanted = np.where(known[:, None], rows, 0.0), np.where(known, targets, low)

        def points(means: Floats, own: Floats) -> Floats:
            with np.errstate(all="ignore"):  # a warning would depend on the records
                return np.asarray(MOST_POINTS * (1.0 - np.abs(means - own) / (high - low)))

        exact = points(np.asarray(self.posterior_.predict(safe).mean), wanted)
        agreement = MOST_POINTS * self._agreement() * (1.0 + (abs(low) + abs(high)) / (high - low))
        far = exact < -agreement
        near = ~(far | (np.abs(exact - np.rint(exact)) > agreement))  # also what is no number

        def alone(i: int) -> float:
            return float(points(np.asarray(self.posterior_.predict(safe[i : i + 1]).mean), wanted[i : i + 1])[0])

        whole = np.floor(np.maximum(alike_alone(exact, near & known, alone), 0.0))
        return np.where(known & (whole >= 0.0), whole, 0.0).astype(np.int64), MOST_POINTS

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the posterior mean of the mean of y, and its posterior standard deviation if asked for."""
        new = self._checked(X)
        prediction = self.posterior_.predict(new)
        return (prediction.mean, prediction.sd) if return_std else prediction.mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = bool(self.private)  # scikit-learn's checks use a few hundred records only
        return tags


class DPLinearRegression(_DPRegressor):
    """Private Bayesian linear regression with Huber's loss, which bounds one record's influence without clipping.

    Parameters
    ----------
    y_bounds
        Public bounds of the target.
    sigma
        Public scale of the residuals; an eighth of the range of y by default.
    epsilon, delta, row_norm, x_bounds, fit_intercept, prior, sampler, adjacency, chains, private, ledger, ...
        See `pydpmc.sklearn.base.DPEstimator`. The prior is that of coefficients in the units of y.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> from pydpmc.sklearn import DPLinearRegression
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(-0.7, 0.7, (2000, 2))
    >>> y = X @ [1.0, -0.5] + rng.normal(0, 0.2, 2000)
    >>> model = DPLinearRegression(epsilon=5.0, row_norm=1.0, y_bounds=(-2.0, 2.0), sampler=dp.Langevin(draws=4))
    >>> model.fit(X, y).private_score(X, y, epsilon=0.1).value > 0.8
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        row_norm: float | None = None,
        x_bounds: Any = None,
        y_bounds: Any = None,
        sigma: float | None = None,
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

    def _model(self, bounds: tuple[float, float]) -> Model:
        low, high = bounds
        sigma = (high - low) / 8 if self.sigma is None else self.sigma
        return HuberRegression(prior=self._prior(), intercept=self.fit_intercept, sigma=sigma)


class DPPoissonRegressor(_DPRegressor):
    """Private Bayesian Poisson regression.

    See `pydpmc.sklearn.base.DPEstimator` for the parameters.

    Examples
    --------
    >>> from pydpmc.sklearn import DPPoissonRegressor
    >>> DPPoissonRegressor(row_norm=1.0, y_bounds=(0, 20)).y_bounds
    (0, 20)
    """

    def _model(self, bounds: tuple[float, float]) -> Model:
        return PoissonRegression(prior=self._prior(), intercept=self.fit_intercept)

    def _open_sampler(self, weighted: bool) -> Any:
        return Barker(steps=5000)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags
