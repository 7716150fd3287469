"""The prior density of each scalar parameter, for plots."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..models.priors import Flat, Laplace, Normal, StudentT
from .facts import model_of, public_of

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
Density = Callable[[Floats], Floats]


def prior_densities(post: Posterior) -> list[Density | None]:
    """Return the prior density of every scalar parameter in the order of the summary; None if it is improper.

    None too for a model of one's own, which a result names but does not hold.
    """
    if "shapes" in post.plan:
        return [None] * sum(values.shape[2] for values in post.draws.values())
    model, public = model_of(post), public_of(post)
    table = model.prior_table(public)
    return [_density(row) for row in table]


def _density(row: Floats) -> Density | None:
    from scipy import stats

    kind, loc, scale, df, positive = row
    laws = {
        Normal.code: lambda: stats.norm(loc, scale),
        Laplace.code: lambda: stats.laplace(loc, scale),
        StudentT.code: lambda: stats.t(df, loc, scale),
    }
    if int(kind) == Flat.code:
        return None
    law = laws[int(kind)]()
    mass = law.sf(0.0) if positive else 1.0  # the prior of a positive parameter is truncated at 0

    def density(x: Floats) -> Floats:
        return np.where((x > 0) | (not positive), law.pdf(x) / mass, 0.0)

    return density
