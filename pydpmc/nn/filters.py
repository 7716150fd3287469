"""Morlet wavelets and their low-pass filter, after Bruna and Mallat (2013): public constants."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats32 = npt.NDArray[np.float32]
WIDTH = 0.8  # standard deviation of the finest wavelet in pixels
FREQUENCY = 0.75 * np.pi  # of the finest wavelet, per pixel
REACH = 5  # half the side of a filter's window at the finest scale
ANGLES = 8
STRIDE = 4  # pixels between features: two scales


@lru_cache(maxsize=8)
def wavelets(scale: int) -> Floats32:
    """Return the wavelets of a scale (0 or 1) as columns: real parts of all angles, then imaginary parts.

    A wavelet is a complex wave under an elongated Gaussian, minus the Gaussian's multiple that makes its sum zero.
    """
    size = 2**scale
    sigma, frequency, reach = WIDTH * size, FREQUENCY / size, REACH * size - 2 * scale
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(np.float64)
    found = []
    for angle in np.arange(ANGLES) * np.pi / ANGLES:
        along, across = x * np.cos(angle) + y * np.sin(angle), -x * np.sin(angle) + y * np.cos(angle)
        hill = np.exp(-(along**2 + (across * 4.0 / ANGLES) ** 2) / (2.0 * sigma**2))
        wave = hill * np.exp(1j * frequency * along)
        wave = wave - hill * wave.sum() / hill.sum()
        found.append((wave / hill.sum()).ravel())
    table = np.array(found)
    return np.concatenate([table.real, table.imag]).T.astype(np.float32)


@lru_cache(maxsize=16)
def averages(height: int, width: int, step: int) -> Floats32:
    """Return the low-pass filter of a grid as a matrix: from its height x width points to every `step`-th of them.

    Beyond an edge the grid is continued as in a mirror.
    """
    sigma = WIDTH * STRIDE / 2.0 / (STRIDE / step)
    rows, columns = (_averages_of_line(side, step, sigma) for side in (height, width))
    matrix: Floats32 = np.einsum("ai,bj->ijab", rows, columns).reshape(height * width, -1).astype(np.float32)
    return matrix


def _averages_of_line(side: int, step: int, sigma: float) -> npt.NDArray[np.float64]:
    centres = range(step // 2, side, step)
    found: npt.NDArray[np.float64] = np.zeros((len(centres), side))
    reach = int(np.ceil(4 * sigma))
    for place, centre in enumerate(centres):
        for offset in range(-reach, reach + 1):
            found[place, mirrored(centre + offset, side)] += np.exp(-(offset**2) / (2.0 * sigma**2))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def mirrored(place: int, side: int) -> int:
    """Return the place within 0 .. side - 1 that a mirror at each edge shows.

    Examples
    --------
    >>> [mirrored(place, 4) for place in (-2, -1, 0, 3, 4, 5)]
    [2, 1, 0, 3, 2, 1]
    """
    period = max(1, 2 * (side - 1))
    place %= period
    return place if place < side else period - place
