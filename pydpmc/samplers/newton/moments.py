"""Second moments of columns with noise on every entry, shrunk towards what columns often have in common.

Diagonal entries are shrunk towards their mean, others towards b Q_ii Q_jj: indicators that are independent have such
moments, columns with one common factor do, and b is 0 for columns that are centred. What is left beyond noise stays.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .denoise import BY_CHANCE, MANY, denoised

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
LEAST = 0.1  # of the noise: what a mean square is raised to


def shrunk_moments(
    moments: Floats, sd: float, known: Mask, has_constant: bool, even: float | None
) -> tuple[Floats, Floats]:
    """Return the moments with less noise, and the variances that remain (half of them on the diagonal).

    Noise has standard deviation `sd` on the diagonal and sd / sqrt(2) elsewhere; entries that are not `known` are zero.
    `even` is what a mean square is expected to be, where curvatures may show nothing.
    """
    first, noise = int(has_constant), sd**2 / 2.0
    diagonal, stays = _alike(np.diag(moments), sd, first)
    diagonal = np.maximum(diagonal, LEAST * sd)
    if even is not None:
        towards, stays = sd**2 / (sd**2 + even**2), 1.0
        diagonal = np.maximum(towards * even + (1.0 - towards) * np.diag(moments), LEAST * min(sd, even))
    found, uncertain = np.diag(diagonal), np.diag(stays * diagonal / (diagonal + sd))
    for group in _groups(known, first):
        target, rest, remains = _towards_product(moments, diagonal, group, noise)
        columns = group[first:, first:]
        if group[first:, first:].any() and len(columns) >= MANY and known.all():
            rest, left = np.zeros_like(rest), denoised((moments - target)[first:, first:] * columns, sd**2)
            rest[first:, first:] = left[0] * columns
            remains = np.zeros_like(remains)
            remains[first:, first:] = left[1] * columns / noise
        found, uncertain = found + target + rest, uncertain + remains
    if even is not None:
        most = np.sqrt(np.outer(diagonal, diagonal))
        found = np.clip(found, -most, most)
    return found, uncertain * noise


def _groups(known: Mask, first: int) -> tuple[Mask, ...]:
    """Return the entries beside a constant, if there is one, and the others."""
    beside = known & ~np.eye(len(known), dtype=bool)
    constant = np.zeros_like(beside)
    constant[:first] = constant[:, :first] = True
    return beside & constant, beside & ~constant


def _alike(squares: Floats, sd: float, first: int) -> tuple[Floats, float]:
    """Return mean squares of columns, shrunk towards their mean (Lindley), and how much of their noise stays."""
    some = squares[first:]
    if len(some) < 4:
        return squares, 1.0
    middle = float(some.mean())
    keep = max(0.0, 1.0 - (len(some) - 3) * sd**2 / max(float(((some - middle) ** 2).sum()), 1e-300))
    stays = keep + (1.0 - keep) / len(some)
    return np.concatenate([squares[:first], middle + keep * (some - middle)]), stays


def _towards_product(moments: Floats, diagonal: Floats, group: Mask, noise: float) -> tuple[Floats, Floats, Floats]:
    """Return b Q_ii Q_jj of a group of entries, what is kept of the rest, and the share of noise that stays."""
    scale, count = np.outer(diagonal, diagonal) * group, max(int(group.sum()), 1)
    target = float((moments * scale).sum()) / max(float((scale**2).sum()), 1e-300) * scale
    rest = (moments - target) * group
    often = 1.0 + BY_CHANCE * math.sqrt(4.0 / count)
    excess = float((rest**2).sum()) - often * count * noise
    typical = max(0.0, excess / max(float(scale.sum()), 1e-300))
    keep = typical * scale / (typical * scale + noise)
    return target, keep * rest, keep + (group - keep) * 2.0 / count  # b has an error as well
