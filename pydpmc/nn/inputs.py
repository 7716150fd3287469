"""What a network is told of its inputs: the shape of an image, and the size of their entries, from declared bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..checks import given, whole
from ..data.public import Public
from ..errors import WrongType
from .layers import Shape

INPUT_BITS = 10  # inputs of a dense layer are rounded to their amplitude times 2^-10, in weight gradients alone
LEAST_UNIT_BITS, MOST_UNIT_BITS = 0, 14
TYPICAL_SPREAD = 8.0  # a row's entries seldom exceed so many times their mean size


def checked_shape(shape: Any) -> tuple[int, ...]:
    """Return the shape of an image, or refuse what is none."""
    if not isinstance(shape, Sequence) or isinstance(shape, str) or len(shape) not in (2, 3):
        raise WrongType(f"shape must be (height, width) or (height, width, channels), not {given(shape)}")
    return tuple(whole(side, "shape") for side in shape)


def whole_shape(shape: tuple[int, ...]) -> Shape:
    """Return (height, width, channels)."""
    return (shape[0], shape[1], shape[2] if len(shape) == 3 else 1)


def amplitude_of(public: Public) -> float:
    """Return a size that the inputs seldom exceed, from the declared bounds."""
    sizes = [1.0] if public.x_bounds is None and public.row_norm is None else []
    if public.x_bounds is not None:
        sizes.append(max(max(abs(low), abs(high)) for low, high in public.x_bounds))
    if public.row_norm is not None:
        sizes.append(public.row_norm * min(1.0, TYPICAL_SPREAD / math.sqrt(public.width)))
    return min(sizes)


def unit_of(amplitude: float) -> float:
    """Return the power of two that a dense layer's inputs are rounded to multiples of, in weight gradients alone.

    Examples
    --------
    >>> unit_of(1.0) == 2.0**-9
    True
    """
    bits = INPUT_BITS - (math.frexp(amplitude)[1] if amplitude > 0.0 else 0)
    return 2.0 ** -min(MOST_UNIT_BITS, max(LEAST_UNIT_BITS, bits))
