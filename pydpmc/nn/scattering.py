"""Scattering features of images: wavelets, absolute values, averages. A row is a function of its own image alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from .filters import ANGLES, STRIDE, averages, mirrored, wavelets
from .images import checked_images, ordered_sums

Floats32 = npt.NDArray[np.float32]
CHUNK = 8  # images that are transformed at a time
SMALLEST = 8  # pixels of a side
PER_GROUP = 3  # channels that are normalised together
LEAST_VARIANCE = 1e-10
CHANNELS = 1 + 2 * ANGLES + ANGLES * ANGLES


def scattering(images: npt.ArrayLike, *, threads: int = 1) -> Floats32:
    """Return scattering features of each image, normalised to rows of norm at most 1; it costs no privacy.

    Absolute values of wavelet transforms (two scales, eight angles, up to two of them in a row) are averaged over
    every four by four pixels: 81 numbers for each, or 3969 for an image of 28 by 28. Groups of three of the 81 are
    then centred and scaled to variance 1 within the image, and the row is scaled to norm 1. Every row is computed from
    its own image by the same operations in the same order, whatever the other images are.

    Parameters
    ----------
    images
        Shape (n, height, width) or (n, height, width, channels), at least 8 pixels a side. Channels are transformed
        one by one. Values are real numbers; only their ratios matter.
    threads
        Threads to use; the result does not depend on it.

    Returns
    -------
    numpy.ndarray
        Shape (n, features), float32. An image with NaN or infinity gives a row of NaN, which ``Data`` lets contribute
        nothing. Declare ``row_norm=1.0`` to ``Data``.

    Notes
    -----
    Bruna and Mallat (2013), Invariant scattering convolution networks; group normalisation of scattering features for
    private learning: Tramer and Boneh (2021), Differentially private learning needs better features.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> features = dp.nn.scattering(np.eye(28)[None])
    >>> features.shape, bool((features**2).sum() <= 1.0)
    ((1, 3969), True)
    """
    stack = checked_images(images, SMALLEST)
    n, height, width, channels = stack.shape
    each = CHANNELS * len(range(STRIDE // 2, height, STRIDE)) * len(range(STRIDE // 2, width, STRIDE))
    out = np.empty((n, channels * each), dtype=np.float32)
    with np.errstate(all="ignore"):  # a warning would depend on an image
        for start in range(0, n, CHUNK):
            part = stack[start : start + CHUNK].astype(np.float32)
            rows = [_normalised(_features(part[..., c], threads)) for c in range(channels)]
            out[start : start + CHUNK] = _of_norm_one(np.concatenate(rows, axis=1))
    return out


def _features(images: Floats32, threads: int) -> Floats32:
    """Return the averages of the image, of its 16 transforms and of the 64 transforms of these: (n, 81, places)."""
    n, height, width = images.shape
    fine = _moduli(images, 0, 1, threads)  # (n, angle, height, width)
    coarse = _moduli(images, 1, 2, threads)
    twice = _moduli(fine.reshape(-1, height, width), 1, 2, threads)
    halves = coarse.shape[2:]
    both = np.concatenate([coarse, twice.reshape(n, ANGLES * ANGLES, *halves)], axis=1)
    whole = np.concatenate([images[:, None], fine], axis=1)
    return np.concatenate([_averaged(whole, STRIDE, threads), _averaged(both, STRIDE // 2, threads)], axis=1)


def _moduli(images: Floats32, scale: int, step: int, threads: int) -> Floats32:
    """Return |image * wavelet| for all angles, at every `step`-th pixel: (n, angle, rows, columns)."""
    n, height, width = images.shape
    filters = wavelets(scale)
    reach = int(np.sqrt(len(filters))) // 2
    padded = images[:, [mirrored(i, height) for i in range(-reach, height + reach)]]
    padded = padded[:, :, [mirrored(i, width) for i in range(-reach, width + reach)]]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1, 2 * reach + 1), axis=(1, 2))
    windows = windows[:, ::step, ::step]
    rows, columns = windows.shape[1:3]
    flat = np.ascontiguousarray(windows).reshape(n * rows * columns, -1)
    found = _core.independent_rows(flat, filters, threads)
    real, imaginary = found[:, :ANGLES], found[:, ANGLES : 2 * ANGLES]
    size = np.sqrt(real * real + imaginary * imaginary)
    return np.ascontiguousarray(size.reshape(n, rows, columns, ANGLES).transpose(0, 3, 1, 2))


def _averaged(maps: Floats32, step: int, threads: int) -> Floats32:
    """Return local averages of each map: (n, maps, places)."""
    n, count, height, width = maps.shape
    matrix = averages(height, width, step)
    found = _core.independent_rows(maps.reshape(n * count, height * width), matrix, threads)
    return found[:, : matrix.shape[1]].reshape(n, count, -1)


def _normalised(features: Floats32) -> Floats32:
    """Return features with mean 0 and variance 1 in every group of channels; sums go entry by entry, as in a loop."""
    n, channels, places = features.shape
    groups = np.ascontiguousarray(features.reshape(n, channels // PER_GROUP, PER_GROUP * places), dtype=np.float64)
    mean = ordered_sums(groups) / groups.shape[2]
    centred = groups - mean[..., None]
    # Relative to the size of the values, so that a multiple of an image has the same features.
    variance = ordered_sums(centred * centred) / groups.shape[2] + LEAST_VARIANCE * (1.0 + mean * mean)
    scaled: Floats32 = (centred / np.sqrt(variance)[..., None]).reshape(n, -1).astype(np.float32)
    return scaled


def _of_norm_one(rows: Floats32) -> Floats32:
    wide = rows.astype(np.float64)
    norm = np.sqrt(ordered_sums(wide * wide))
    scaled = wide / np.where(norm == 0.0, 1.0, norm)[:, None] * (1.0 - 2.0**-20)  # rounding must not exceed 1
    return np.where(np.isfinite(norm)[:, None], scaled, np.nan).astype(np.float32)
