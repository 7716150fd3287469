"""Stacks of images as arguments, and sums that go entry by entry in every image alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given
from ..errors import InvalidArgument, WrongType

Floats = npt.NDArray[np.float64]


def checked_images(images: npt.ArrayLike, smallest: int) -> npt.NDArray[Any]:
    """Return images of shape (n, height, width, channels), or refuse what is no stack of them."""
    # A list would get one dtype from all its images, and a mask would be lost.
    if not isinstance(images, np.ndarray) or isinstance(images, np.ma.MaskedArray):
        raise WrongType(f"images must be a numpy array, not {given(images)}")
    stack = np.asarray(images)
    if stack.dtype.kind not in "buif":
        raise WrongType(f"images must be an array of real numbers, not {given(images)}")
    if stack.ndim == 3:
        stack = stack[..., None]
    if stack.ndim != 4 or stack.shape[3] < 1:
        raise InvalidArgument(
            f"images must have shape (n, height, width) or (n, height, width, channels), but their shape is "
            f"{stack.shape}"
        )
    if min(stack.shape[1:3]) < smallest:
        raise InvalidArgument(f"images must have at least {smallest} pixels a side, but their shape is {stack.shape}")
    return stack


def ordered_sums(values: Floats) -> Floats:
    """Return sums over the last axis, added in its order for every row alike."""
    turned = np.ascontiguousarray(np.moveaxis(values, -1, 0))
    total = np.zeros(values.shape[:-1])
    for entry in turned:
        total += entry
    return total
