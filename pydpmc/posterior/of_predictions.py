"""What a posterior predicts for public rows, at no cost in privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..errors import InvalidArgument

if TYPE_CHECKING:
    from .posterior import Posterior
    from .prediction import Prediction
    from .predictive import Predictive
    from .synthetic_sets import SyntheticSets

POINTWISE = (
    "LOO and WAIC need the log-likelihood of every single record, which no guarantee covers, so a posterior does not "
    "hold it. Compare models by private_score of the estimators, or by predictions for public records"
)


class OfPredictions:
    """Methods of `Posterior` that predict."""

    def predict(self, x: Any, *, level: float = 0.9, draws: int = 1000) -> Prediction:
        """Return the posterior of the mean of y given each row of `x`, from at most `draws` draws.

        `x` has the columns of the data of the run. A table with named columns is encoded by the schema of the run; if
        there was none, its columns are taken by their names. Rows are bounded as the records were. For classifiers
        the mean is the probability of class 1. The interval is for the mean, not for a new observation.
        """
        from .prediction import predict

        return predict(cast("Posterior", self), x, level=level, draws=draws)

    def predict_proba(self, x: Any, *, level: float = 0.9, draws: int = 1000) -> Prediction:
        """Return the posterior of the probabilities of the classes given each row of `x`; see `predict`."""
        from .prediction import predict_proba

        return predict_proba(cast("Posterior", self), x, level=level, draws=draws)

    def posterior_predictive(self, x: Any = None, *, draws: int = 1000, seed: int | None = None) -> Predictive:
        """Return new observations for public rows `x`, drawn by the model with the released draws: no cost.

        Parameters
        ----------
        x
            Public rows, as for `predict`; never rows of the data, unless their release is paid for. Left out for models
            without a target, which draw new records.
        draws
            Most draws of the posterior to use.
        seed
            Makes the observations repeatable; the guarantee does not depend on it.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> rng = np.random.default_rng(1)
        >>> x = rng.uniform(-0.7, 0.7, (5000, 1))
        >>> data = dp.Data(x, rng.random(5000) < 0.5 + 0.4 * x[:, 0], row_norm=1.0)
        >>> post = dp.sample(dp.LogisticRegression(), data, epsilon=1.0, delta=1e-6, progress=False)
        >>> post.posterior_predictive([[0.6], [-0.6]], draws=500).values.shape
        (1, 500, 2)
        """
        from .predictive import posterior_predictive

        return posterior_predictive(cast("Posterior", self), x, draws, seed)

    def prior_predictive(self, x: Any = None, *, draws: int = 1000, seed: int | None = None) -> Predictive:
        """Return observations for public rows `x` with parameters from the prior; see `posterior_predictive`."""
        from .predictive import prior_predictive

        return prior_predictive(cast("Posterior", self), x, draws, seed)

    def synthesize(
        self, n: int, *, features: Any = "declared", sets: int = 20, seed: int | None = None
    ) -> SyntheticSets:
        """Return `sets` synthetic tables of n rows, each drawn by the model with one draw of its parameters: no cost.

        Parameters
        ----------
        n
            Rows of each set.
        features
            A public table to draw the features from, with replacement, or ``"declared"``: features of a typical table
            within the declared bounds. Synthetic features are no release of the records' own, and they look like them
            only if the public table does.
        sets
            How many. Their differences carry the uncertainty of the parameters, so one is not enough for intervals:
            ``combine`` joins the analyses of all.
        seed
            Makes the sets repeatable; the guarantee does not depend on it.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> rng = np.random.default_rng(1)
        >>> x = rng.uniform(-0.7, 0.7, (5000, 1))
        >>> data = dp.Data(x, rng.random(5000) < 0.5 + 0.4 * x[:, 0], row_norm=1.0)
        >>> post = dp.sample(dp.LogisticRegression(), data, epsilon=1.0, delta=1e-6, progress=False)
        >>> made = post.synthesize(1000, sets=5, seed=2)
        >>> len(made), made.x.shape, made.y.shape
        (5, (5, 1000, 1), (5, 1000))
        """
        from .synthetic_sets import synthesize

        return synthesize(cast("Posterior", self), n, features, sets, seed)

    def loo(self) -> NoReturn:
        """Say why there is no leave-one-out cross-validation: it needs the log-likelihood of every record."""
        raise InvalidArgument(POINTWISE)

    def waic(self) -> NoReturn:
        """Say why there is no WAIC: it needs the log-likelihood of every record."""
        raise InvalidArgument(POINTWISE)
