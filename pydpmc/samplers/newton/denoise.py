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
    them apart. The sum is smoothed at their typical distance. What chance explains is dropped.
    """
    values, vectors = np.linalg.eigh(matrix)
    sure = _beyond_chance(float(values @ values) / noise_square, len(matrix))
    apart = values[:, None] - values
    moved = noise_square * (apart / (apart**2 + 2.0 * noise_square)).sum(axis=1)
    kept = values - moved
    share = sure * min(1.0, max(0.0, float(kept @ values) / max(float(values @ values), 1e-300)))
    return np.asarray((vectors * (sure * kept)) @ vectors.T), np.full(matrix.shape, share * noise_square / 2.0)


def _beyond_chance(energy: float, dim: int) -> float:
    """Return how much to keep of a matrix whose squares sum to `energy`, over those of its noise on the diagonal.

    Up to BY_CHANCE standard deviations above the energy of noise nothing is kept, from twice as many on all of it: few
    eigenvalues of noise alone would leave a matrix that is wrong in every direction.
    """
    deviations = (energy / (dim * (dim + 1) / 2.0) - 1.0) / hidden_share(dim)
    return min(1.0, max(0.0, deviations / BY_CHANCE - 1.0))


def hidden_share(dim: int) -> float:
    """Return the standard deviation of the energy of a matrix of noise, over its mean: less than that does not show."""
    return math.sqrt(4.0 / (dim * (dim + 1)))


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
