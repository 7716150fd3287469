"""Targets drawn for public rows, from the prior or from the released draws: they cost no privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..checks import inside, whole
from ..errors import InvalidArgument
from ..models import Model
from ..models.simulation import prior_draw, simulate
from .facts import model_of, public_of
from .prediction import new_rows

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
Group = Literal["prior_predictive", "posterior_predictive"]
PRIOR = 1  # a stream of its own: parameters and observations of one seed are independent
MOST_CELLS = 50_000_000  # draws times rows that are kept


@dataclass(frozen=True, eq=False)
class Predictive:
    """New observations for public rows; ``np.asarray(predictive)`` is `values`.

    Attributes
    ----------
    values
        Shape (chain, draw, row), with an axis for the columns behind it for models without a target.
    parameters
        The parameters that each draw was made with, by name, of shape (chain, draw, size).
    group
        ``"prior_predictive"`` or ``"posterior_predictive"``, as ArviZ calls it.
    """

    values: Floats
    parameters: Mapping[str, Floats]
    group: Group

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __repr__(self) -> str:
        return f"Predictive({self.group}, values of shape {self.values.shape}, parameters {', '.join(self.parameters)})"

    def interval(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return the ends of an interval for a new observation of each row."""
        inside(level, "level")
        low, high = np.quantile(self.values, (0.5 - level / 2.0, 0.5 + level / 2.0), axis=(0, 1))
        return np.asarray(low), np.asarray(high)


def posterior_predictive(post: Posterior, x: Any, draws: int, seed: int | None) -> Predictive:
    """Return observations drawn with the parameters of the posterior's draws."""
    chains, count = next(iter(post.draws.values())).shape[:2]
    if count == 0:
        raise InvalidArgument("the posterior has no draws to predict from: its run was stopped too early")
    each = max(1, whole(draws, "draws") // chains)
    chosen = np.unique(np.linspace(0, count - 1, min(each, count)).astype(np.int64))
    parameters = {name: np.asarray(values[:, chosen]) for name, values in post.draws.items()}
    return _drawn(post, x, parameters, "posterior_predictive", np.random.default_rng(_seed(seed)))


def prior_predictive(post: Posterior, x: Any, draws: int, seed: int | None) -> Predictive:
    """Return observations drawn with parameters from the model's prior."""
    parameters = prior_draws(post, whole(draws, "draws"), seed)
    return _drawn(post, x, parameters, "prior_predictive", np.random.default_rng(_seed(seed)))


def prior_draws(post: Posterior, draws: int, seed: int | None) -> dict[str, Floats]:
    """Return draws from the prior, each of shape (1, draws, size)."""
    model, public = model_of(post), public_of(post)
    random = np.random.default_rng(None if seed is None else [whole(seed, "seed", least=0), PRIOR])
    made = [prior_draw(model, public, random) for _ in range(draws)]
    return {name: np.array([one[name] for one in made])[None] for name in made[0]}


def _drawn(
    post: Posterior, x: Any, parameters: Mapping[str, Floats], group: Group, random: np.random.Generator
) -> Predictive:
    model, public = model_of(post), public_of(post)
    rows, absent = _rows(post, model, x)
    chains, count = next(iter(parameters.values())).shape[:2]
    width = 1 if model.needs_target else public.width
    if chains * count * len(rows) * width > MOST_CELLS:
        raise InvalidArgument(f"draws x rows must be at most {MOST_CELLS:,}; lower draws, or pass fewer rows of x")
    made = [
        [
            simulate(model, {name: values[c, k] for name, values in parameters.items()}, rows, random)
            for k in range(count)
        ]
        for c in range(chains)
    ]
    values = np.array(made)
    values[:, :, absent] = np.nan
    return Predictive(values, parameters, group)


def _rows(post: Posterior, model: Model, x: Any) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the rows to draw for; a model without a target has none of its own, and draws one new record."""
    if model.needs_target:
        if x is None:
            raise InvalidArgument("x must be given: public rows with the columns of the data")
        return new_rows(post, x)
    if x is not None:
        raise InvalidArgument(f"x: {type(model).__name__} has no target, so it predicts whole records; leave x out")
    return np.zeros((1, public_of(post).width)), np.zeros(1, dtype=bool)


def _seed(seed: int | None) -> int | None:
    return None if seed is None else whole(seed, "seed", least=0)
