"""What all records together are forecast to say of theta, direction by direction, from public facts alone.

Forecasts assume the rows of a typical table, and rehearsals draw them. No record is seen.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from ..data.public import DECAY, SEED, Public, typical_rows
from ..models import Model
from ..models.linear_predictor import LinearPredictor
from ..models.softmax_regression import SoftmaxRegression

Floats = npt.NDArray[np.float64]
LARGEST_SPREAD = 2.0  # of the predictor: a wider prior seldom means that the data are as extreme
ROWS, WIDEST = 4000, 300
ASSUMED = "rows at 0.7 of their declared norm, their variance falling off as 1/k over directions k = 1, 2, ..."


@dataclass(frozen=True, eq=False)
class Directions:
    """A table of `n` records as its public facts let one expect it.

    Attributes
    ----------
    information
        Fisher information of all records along each direction.
    prior
        Precision of the prior along each direction.
    moments
        E (x . v)^2 of a record's features along each direction; 1 where the model has no features.
    assumption
        What was assumed of the records, for a person.
    start
        Squared distance of a chain's start from the truth; None for that of the prior's centre.
    far
        How far the truth is from the prior's centre, in the prior's standard deviations.
    """

    model: Model
    public: Public
    n: int
    information: Floats
    prior: Floats
    moments: Floats
    assumption: str
    start: Floats | None = None
    far: float = 1.0

    @cached_property
    def open_variance(self) -> Floats:
        """The variance of the posterior without privacy."""
        return np.asarray(1.0 / (self.information + self.prior))

    @property
    def truth(self) -> Floats:
        """The expected squared distance of the truth from the prior's centre; infinite for a flat prior."""
        known = self.prior > 0.0
        return np.where(known, self.far**2 / np.where(known, self.prior, 1.0), np.inf)

    @property
    def dim(self) -> int:
        """The number of directions."""
        return len(self.prior)


def directions(model: Model, public: Public, n: int | None, even: bool = False) -> Directions | None:
    """Return what can be expected, or None where the number of records is private or bounds are missing.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=1000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> ways = directions(dp.LogisticRegression(), public, 1000)
    >>> bool(ways.information[0] > ways.information[1])
    True
    """
    if n is None or n < 1:
        return None
    n *= 1 if public.records_per_unit is None else public.records_per_unit
    precision = model.prior_precision(public)
    has_slopes = isinstance(model, LinearPredictor)
    prior = np.full(_shown(model, len(precision)), float(precision.mean()))
    if isinstance(model, LinearPredictor) and model.norm(public) is None:
        return None
    moments = _moments(model, public, len(prior), even) if has_slopes else np.ones(len(prior))
    expected = moments / np.where(prior > 0.0, prior, np.inf)
    spread = LARGEST_SPREAD if prior.min() <= 0.0 else min(math.sqrt(float(expected.sum())), LARGEST_SPREAD)
    curvature = model.typical_curvature(public, 0.0 if even else spread)
    if curvature is None:
        return None
    return Directions(model, public, n, n * curvature * moments, prior, moments, _assumption(model, public, has_slopes))


def _shown(model: Model, dim: int) -> int:
    """Return how many directions records can show: the mean over the classes of a softmax keeps its prior."""
    return dim - dim // model.classes if isinstance(model, SoftmaxRegression) else dim


def _moments(model: Model, public: Public, dim: int, even: bool) -> Floats:
    """Return a moment for each direction of theta; classes have the same ones, a scale parameter that of a constant."""
    of_rows = np.array(second_moments(dataclasses.replace(public, n=1, public_n=None), model.has_intercept, even))
    copies, rest = divmod(dim, len(of_rows))
    return np.concatenate([np.tile(of_rows, copies), np.ones(rest)])


def _assumption(model: Model, public: Public, has_slopes: bool) -> str:
    stated = [ASSUMED] if has_slopes and public.typical_norm is None else []
    if has_slopes and public.second_moments is not None:
        stated = ["rows with the second moments that were declared"]
    elif has_slopes and public.typical_norm is not None:
        stated = [
            f"rows of norm {public.typical_norm:g} as declared, their variance falling off as 1/k over directions"
        ]
    if model.label_count == 2:
        stated.append("both labels alike" if public.base_rate is None else f"a base rate of {public.base_rate:g}")
    return "; ".join(stated)


@lru_cache(maxsize=64)
def second_moments(public: Public, intercept: bool, even: bool) -> tuple[float, ...]:
    """Return the eigenvalues of E x x' of typical rows, with the constant 1 of an intercept, largest first."""
    width = public.width
    if width > WIDEST and public.second_moments is not None and not even:
        values = np.maximum(np.linalg.eigvalsh(np.array(public.second_moments)), 0.0)[::-1]
        return (*((1.0,) if intercept else ()), *np.maximum(values, 1e-12 * values[0]).tolist())
    if width > WIDEST:
        few = typical_rows(public, 200, np.random.default_rng(SEED), even)
        shares = np.ones(width) if even else np.arange(1.0, width + 1.0) ** -DECAY
        values = shares / shares.sum() * float((few**2).sum(axis=1).mean())
        return (*((1.0,) if intercept else ()), *values.tolist())
    rows = typical_rows(public, ROWS, np.random.default_rng(SEED), even)
    if intercept:
        rows = np.hstack([np.ones((ROWS, 1)), rows])
    values = np.linalg.eigvalsh(rows.T @ rows / ROWS)
    return tuple(np.maximum(values[::-1], 1e-12 * values[-1]).tolist())
