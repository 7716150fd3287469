"""The base class of the estimators."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..data.columns import RawColumn
from ..data.data import Data
from ..data.public import Public
from ..errors import ConvergenceWarning as OwnConvergenceWarning
from ..errors import InvalidArgument
from ..ledger.ledger import opened
from ..models import Model
from ..models.priors import Normal
from ..planning.plan import plan
from ..posterior.summary import doubt_of
from ..samplers import SGLD, Langevin
from .inputs import features, target_column
from .scores import AGREEMENT

Floats = npt.NDArray[np.float64]
SOME_DRAWS = 8
NESTED = {"sampler": "sampler=Langevin()", "prior": "prior=Normal()"}
PREPARED_BY_RECORD = (
    "X was made record by record: no step before the estimator was fitted to the records, as a StandardScaler or an "
    "imputer would be (declare it with prepared_by_record=True, and this assumption goes away)"
)


class DPEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators.

    Parameters
    ----------
    epsilon, delta
        The budget of one fit. Every fit, also of a fold in cross-validation, spends it anew.
    row_norm, x_bounds
        Public bounds of the features, as for ``Data``; one of them must be declared. Never learn them from the data:
        a ``StandardScaler`` before this estimator is not covered by its guarantee, a ``BoundsScaler`` is.
    prepared_by_record
        Declares that X was made record by record, by public rules: it is as it was collected, or came through steps
        such as ``BoundsScaler`` that learn nothing from records. The estimator cannot see what was before it in a
        pipeline, so that without this declaration its guarantee says that it was assumed.
    fit_intercept
        Whether to add an intercept.
    prior
        Prior of the coefficients; ``Normal(scale=1)`` by default.
    sampler
        A pydpmc sampler; by default the planner takes the proven one whose predictions it expects to be the best.
    adjacency, chains, private
        As for ``pydpmc.plan``.
    public_n
        A public number of records, for ``adjacency="add_remove"``.
    max_weight
        A public bound of a record's weight; needed if ``fit`` gets `sample_weight`, and noise is proportional to it.
    ledger
        A ledger that is charged at every fit.
    verbose
        Whether a fit that takes longer than two seconds shows its progress.
    anyway
        Fits also where public facts say that the budget would be wasted (``HopelessPlan`` otherwise).
    random_state
        For tests: makes a fit repeatable and voids its guarantee.
    """

    epsilon: float
    delta: float
    row_norm: float | None
    x_bounds: Any
    prepared_by_record: bool
    fit_intercept: bool
    prior: Any
    sampler: Any
    adjacency: str
    public_n: int | None
    max_weight: float | None
    chains: int
    private: bool
    ledger: Any
    verbose: bool
    anyway: bool
    random_state: Any

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Store the arguments of the constructor unchanged, as scikit-learn requires."""
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of the sampler and the prior as ``sampler__...`` and ``prior__...``."""
        found = dict(super().get_params(deep=deep))
        for name in NESTED if deep else ():
            spec = found[name]
            if dataclasses.is_dataclass(spec) and not isinstance(spec, type):
                found |= {f"{name}__{f.name}": getattr(spec, f.name) for f in dataclasses.fields(spec) if f.init}
        return found

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also those of the sampler and the prior, so that a search can vary them."""
        inner = {key: value for key, value in params.items() if key.partition("__")[0] in NESTED and "__" in key}
        super().set_params(**{key: value for key, value in params.items() if key not in inner})
        for key, value in inner.items():
            name, _, field = key.partition("__")
            spec = getattr(self, name)
            known = [f.name for f in dataclasses.fields(spec)] if dataclasses.is_dataclass(spec) else []
            if field not in known:
                raise InvalidArgument(
                    f"{key}: {name} has no parameter {field!r}; "
                    + (f"it has {', '.join(known)}" if known else f"give {name} itself first, such as {NESTED[name]}")
                )
            setattr(self, name, dataclasses.replace(spec, **{field: value}))
        return self

    def _open_sampler(self, weighted: bool) -> Any:
        """Return what samples without privacy, where the planner has no budget to choose by."""
        return SGLD() if weighted else Langevin(draws=SOME_DRAWS)

    def _fit(self, X: Floats, y: Floats, model: Model, y_bounds: Any, sample_weight: Any) -> None:
        if self.row_norm is None and self.x_bounds is None:
            raise InvalidArgument(
                "row_norm or x_bounds must be declared, as a public bound that was not learned from the data"
            )
        names = getattr(self, "feature_names_in_", None)
        data = Data(
            X,
            y,
            row_norm=self.row_norm,
            x_bounds=self.x_bounds,
            y_bounds=y_bounds,
            columns=None if names is None else list(names),
            public_n=self.public_n,
            **({} if sample_weight is None else {"sample_weight": sample_weight, "max_weight": self.max_weight}),
        )
        self._fit_data(data, model, self._stated_assumptions())

    def _fit_data(self, data: Data, model: Model, assumptions: tuple[str, ...]) -> None:
        """Plan and run on records that are bounded already, wherever they are."""
        sampler = self.sampler
        if sampler is None and not self.private:
            sampler = self._open_sampler(data.public.max_weight is not None)
        budget: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta} if self.private else {}
        planned = plan(
            model,
            data.public,
            sampler,
            adjacency=self.adjacency,  # type: ignore[arg-type]
            chains=self.chains,
            private=self.private,
            assumptions=assumptions,
            purpose="prediction",
            **budget,
        )
        options: dict[str, Any] = {"progress": bool(self.verbose), "anyway": bool(self.anyway)}
        if self.ledger is not None:
            options["ledger"] = opened(self.ledger)
            options["ledger"].admit(data)  # each fit of a cross-validation has a table of its own
        if self.random_state is not None:
            options["seed"] = int(check_random_state(self.random_state).randint(2**31 - 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OwnConvergenceWarning)
            self.posterior_ = planned.run(data, **options)
        doubt = doubt_of(self.posterior_)
        if doubt is not None:
            warnings.warn(doubt, ConvergenceWarning, stacklevel=4)
        self.guarantee_ = self.posterior_.guarantee
        self.verdict_ = self.posterior_.verdict

    def _stated_assumptions(self) -> tuple[str, ...]:
        """Return the assumptions of the guarantee that only the caller can check."""
        return self._of_preparation(None)

    def _of_preparation(self, schema: Any) -> tuple[str, ...]:
        """Return what is assumed of the steps before this one: nothing of a schema, which encodes record by record."""
        return () if self.prepared_by_record or schema is not None else (PREPARED_BY_RECORD,)

    def _rows_to_score(self, X: Any, y: Any) -> tuple[Floats, Floats]:
        """Return features, and targets as the model has them; NaN where there is none. No record raises an error."""
        check_is_fitted(self)
        rows = features(self, X, reset=False)
        return rows, self._targets(target_column(y, len(rows)))

    def _targets(self, column: RawColumn) -> Floats:
        """Return each target as the model has it, NaN for one that it does not know."""
        raise NotImplementedError

    def _agreement(self) -> float:
        """Return how far predictions of a record, alone and among others, can be from each other."""
        size = sum(float(np.abs(draws).sum(axis=2).max()) for draws in self.posterior_.draws.values())
        norm = Public.from_dict(self.posterior_.plan["public"]).feature_norm
        return AGREEMENT * (1.0 + size * max(1.0, norm or 1.0))

    def _prior(self) -> Any:
        return Normal() if self.prior is None else self.prior

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self)
        return features(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # no record can raise an error, whatever it holds
        tags.input_tags.string = True
        return tags

    def _mean_draw(self, name: str) -> Floats:
        return np.asarray(self.posterior_.draws[name].mean(axis=(0, 1)))
