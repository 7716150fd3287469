"""The order of the numbers that a look releases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...posterior.looks import Look

Floats = npt.NDArray[np.float64]


def look_of(theta: Floats, released: Floats, blocks: Sequence[int], sigma: float, tau: float) -> Look:
    """Return the look whose numbers the core released: the gradient, then the upper triangle within blocks."""
    dim, across = len(theta), len(blocks)  # of a softmax the curvature is that of one predictor
    curvature, (i, j) = np.zeros((across, across)), entries(blocks)
    curvature[i, j] = curvature[j, i] = released[dim:]
    return Look(np.array(theta), np.array(released[:dim]), curvature, sigma, tau)


def entries(blocks: Sequence[int]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return rows and columns of the released entries of the curvature, in their order."""
    i, j = np.triu_indices(len(blocks))
    of = np.asarray(blocks)
    kept = of[i] == of[j]
    return i[kept], j[kept]
