"""Coefficients in the units of the table: a linear map of the draws, from the bounds that the schema declares."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..data.schema.natural import Factor, factors_of
from ..errors import InvalidArgument

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
Monomial = tuple[str, ...]
NO_SCHEMA = 'units="natural" needs the schema of the data: make the data with schema.data(table)'
NO_INTERCEPT = "there is no intercept, which would have to take up the centres of the columns"


def natural_draws(post: Posterior) -> dict[str, Floats]:
    """Return the draws of coefficients of the columns as the table has them; other parameters stay as they are."""
    if post.schema is None:
        raise InvalidArgument(NO_SCHEMA)
    if "beta" not in post.draws:
        raise InvalidArgument('units="natural": this model has no coefficients of columns')
    factors = factors_of(post.schema)
    matrix = _to_natural(factors, "intercept" in post.draws)
    beta = post.draws["beta"]
    by_class = beta.reshape(*beta.shape[:2], -1, len(factors))
    constant = post.draws.get("intercept", np.zeros((*by_class.shape[:3],)))
    turned = np.concatenate([constant[..., None], by_class], axis=3) @ matrix
    changed = {"beta": turned[..., 1:].reshape(beta.shape), "intercept": turned[..., 0]}
    return {name: changed.get(name, values) for name, values in post.draws.items()}


def unit_sentence(post: Posterior) -> str:
    """Return what a change of one encoded column is in the table, for captions; empty if nothing was rescaled."""
    if post.schema is None or "beta" not in post.draws:
        return ""
    scaled = {factor.name: factor for factors in factors_of(post.schema) for factor in factors if factor.scale != 1.0}
    if not scaled:
        return ""
    units = "; ".join(f"{f.name}: per {f.scale:.4g}, from {f.centre:.4g} on" for f in scaled.values())
    return f"Coefficients are those of rescaled columns ({units})"


def _to_natural(factors: list[tuple[Factor, ...]], intercept: bool) -> Floats:
    """Return the matrix that takes (intercept, beta) of encoded columns to those of the table's."""
    places: dict[Monomial, int] = {(): 0}
    places |= {_monomial(product): j + 1 for j, product in enumerate(factors)}
    matrix = np.zeros((len(factors) + 1, len(factors) + 1))
    matrix[0, 0] = 1.0
    for j, product in enumerate(factors):
        for kept in itertools.product((True, False), repeat=len(product)):
            left = math.prod(-f.centre for f, keep in zip(product, kept, strict=True) if not keep)
            monomial = _monomial(tuple(f for f, keep in zip(product, kept, strict=True) if keep))
            if left == 0.0:
                continue
            if monomial not in places or (monomial == () and not intercept):
                what = NO_INTERCEPT if monomial == () else f"there is no feature {':'.join(monomial)}"
                raise InvalidArgument(f'units="natural": {what}; read the coefficients as they are')
            matrix[j + 1, places[monomial]] += left / math.prod(f.scale for f in product)
    return matrix


def _monomial(product: tuple[Factor, ...]) -> Monomial:
    return tuple(sorted(factor.name for factor in product))
