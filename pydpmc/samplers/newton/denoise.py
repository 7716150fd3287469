"""Symmetric matrices without their noise: entry by entry, or by eigenvalues where there are more columns."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
MANY = 8  # columns from which the law of large matrices is worth more than that of single entries
BY_CHANCE = 2.0  # standard deviations by which an energy may exceed that of its noise before it counts


def denoised(matrix: Floats, noise_square: float) -> tuple[Floats, Floats]:
    """Return the matrix without symmetric noise, and the variances that remain (half of them on the diagonal).

    The noise has variance `noise_square` on the diagonal and half of it elsewhere. Among estimates with the
    eigenvectors of `matrix`, the one with the least squared error has eigenvalues
    l_i - noise_square sum_j 1/(l_i - l_j) if there are many (Bun, Allez, Bouchaud, Potters 2016), because noise pushes
    them apart. The sum is smoothed at their typical distance.
    """
    values, vectors = np.linalg.eigh(matrix)
    apart = values[:, None] - values
    moved = noise_square * (apart / (apart**2 + 2.0 * noise_square)).sum(axis=1)
    kept = values - moved
    share = min(1.0, float(kept @ values) / max(float(values @ values), 1e-300))
    if share <= 0.0:  # less than noise alone would give: nothing is seen
        return np.zeros_like(matrix), np.zeros_like(matrix)
    return np.asarray((vectors * kept) @ vectors.T), np.full(matrix.shape, share * noise_square / 2.0)


def shrink(matrix: Floats, size: Floats, variance: float) -> tuple[Floats, Floats]:
    """Return factors that shrink noised entries, and the variances that remain.

    Entries are N(m_ij, variance (1 + [i = j])) with m_ij ~ N(0, c size_i size_j); c follows from the total energy, as
    far as that is beyond what chance often gives.
    """
    noise = variance * (1.0 + np.eye(len(matrix)))
    entries = len(matrix) * (len(matrix) + 1) / 2.0
    size = np.maximum(size, 1e-6 * math.sqrt(variance))
    scale = np.outer(size, size)
    often = 1.0 + BY_CHANCE * math.sqrt(2.0 / entries)
    c = max(0.0, float((matrix**2 - often * noise * (matrix != 0.0)).sum() / scale.sum()))
    keep = c * scale / (c * scale + noise)
    return keep, keep * noise
