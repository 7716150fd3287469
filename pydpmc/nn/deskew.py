"""Images moved to the centre of their mass and sheared upright. A row is a function of its own image alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .images import checked_images, ordered_sums

Floats = npt.NDArray[np.float64]
CHUNK = 1024  # images that are moved at a time
SMALLEST = 2  # pixels of a side
MOST_SHEAR = 1.0  # columns per row


def deskew(images: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return each image moved to the middle and sheared until its axis stands upright; it costs no privacy.

    The size of a pixel's value is its mass. The image is shifted so that its centre of mass is the middle of the frame,
    and its rows are shifted against each other so that columns and rows of mass are uncorrelated; values between pixels
    are interpolated linearly, and those from beyond the frame are zero. Every image is moved by the same operations in
    the same order, whatever the other images are.

    Parameters
    ----------
    images
        Shape (n, height, width) or (n, height, width, channels), at least 2 pixels a side. Channels move together.

    Returns
    -------
    numpy.ndarray
        The same shape, float32. An image without mass stays as it is; one with NaN or infinity becomes NaN, which
        ``Data`` lets contribute nothing.

    Notes
    -----
    LeCun, Bottou, Bengio and Haffner (1998) deskew digits in this way.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> image = np.zeros((1, 5, 5))
    >>> image[0, range(5), range(5)] = 1.0  # a diagonal
    >>> dp.nn.deskew(image)[0].sum(axis=0)
    array([0., 0., 5., 0., 0.], dtype=float32)
    """
    stack = checked_images(images, SMALLEST)
    out = np.empty(stack.shape, dtype=np.float32)
    with np.errstate(all="ignore"):  # a warning would depend on an image
        for start in range(0, len(stack), CHUNK):
            out[start : start + CHUNK] = _upright(stack[start : start + CHUNK].astype(np.float64))
    return out.reshape(np.shape(images))


def _upright(images: Floats) -> Floats:
    n, height, width, _ = images.shape
    y, x = (axis.ravel().astype(np.float64) for axis in np.mgrid[:height, :width])
    mass = ordered_sums(np.abs(images)).reshape(n, -1)
    total = ordered_sums(mass)
    known = np.isfinite(total)
    divisor = np.where(known & (total > 0.0), total, 1.0)
    middle_y, middle_x = (height - 1) / 2.0, (width - 1) / 2.0

    def mean(values: Any, otherwise: float) -> Floats:
        found = ordered_sums(np.where(known[:, None], mass, 0.0) * values) / divisor
        return np.where(known & (total > 0.0), found, otherwise)

    centre_y, centre_x = mean(y, middle_y), mean(x, middle_x)
    away_y, away_x = y - centre_y[:, None], x - centre_x[:, None]
    spread = mean(away_y * away_y, 0.0)
    shear = np.clip(mean(away_y * away_x, 0.0) / np.where(spread > 0.0, spread, 1.0), -MOST_SHEAR, MOST_SHEAR)
    from_y = np.arange(height) + (centre_y - middle_y)[:, None]
    lean = shear[:, None] * (np.arange(height) - middle_y) + (centre_x - middle_x)[:, None]
    from_x = np.arange(width) + lean[:, :, None]
    found = _between(images, np.broadcast_to(from_y[:, :, None], from_x.shape), from_x)
    return np.where(known[:, None, None, None], found, np.nan)


def _between(images: Floats, y: Floats, x: Floats) -> Floats:
    """Return the values at places between pixels, by linear interpolation; beyond the frame they are zero."""
    n, height, width, _ = images.shape
    framed = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    each = np.arange(n)[:, None, None]
    top, left = np.floor(y), np.floor(x)
    down, right = (y - top)[..., None], (x - left)[..., None]

    def at(row: Floats, column: Floats) -> Floats:
        rows = np.clip(row, -1, height).astype(np.int64) + 1
        return framed[each, rows, np.clip(column, -1, width).astype(np.int64) + 1]

    above = (1.0 - right) * at(top, left) + right * at(top, left + 1)
    below = (1.0 - right) * at(top + 1, left) + right * at(top + 1, left + 1)
    return np.asarray((1.0 - down) * above + down * below)
