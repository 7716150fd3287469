"""Sums over records with Gaussian noise: exact integer sums by the core's kernel, noise on the same grid.

The kernel is that of the gradient samplers: the gradient of ``GaussianMean`` with unit sigma at zero is the record
itself, clipped and rounded to integers (docs/privacy/sgld.md, lemmas 1 to 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...data.storage import as_doubles, empty_rows

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Statistics = Callable[[Floats], Floats]  # of each record, from rows as Data stores them

NOISE_BITS = 32  # of csrc/random/noise/rounded_normal.hpp
LEAST_BITS = 8  # of a standard deviation of the noise: below, rounding would be felt
CHUNK_VALUES = 2**18


def grid_bits(clip: float, sd: float, room: int) -> int:
    """Return b for a grid step of sd / 2^b on which sums of `room` records fit 64 bits; `room` is public.

    The number of records must not decide here: under add_remove it is private, and so is whether it is too large.
    """
    farthest = min(2.0**61 / max(room, 1), 2.0**48) * (sd / clip)
    return min(NOISE_BITS, math.floor(math.log2(max(farthest, 1.0))))


def exact_sum(
    core: Any,
    rows: npt.NDArray[Any],
    columns: int,
    has_target: bool,
    statistics: Statistics,
    count: int,
    clip: float,
    unit: float,
    stopped: Callable[[], bool] = lambda: False,
) -> Integers:
    """Return the sum of all records' statistics in grid steps of `unit`; a record that is not finite adds nothing.

    Once `stopped()` the sum is not that of all records.
    """
    total = np.zeros(count, dtype=np.int64)
    size = max(1, CHUNK_VALUES // count)
    for start in range(0, len(rows), size):
        if stopped():
            break
        part = as_doubles(rows[start : start + size], columns, has_target)
        table = empty_rows(len(part), count, False, "float64")
        with np.errstate(all="ignore"):  # a warning would depend on the records
            table[:, :count] = statistics(part)
        total += core.gradient_sum(
            rows=table,
            columns=count,
            has_target=False,
            model="gaussian_mean",
            intercept=False,
            constants=(1.0, 0.0),
            theta=[0.0] * count,
            clip=clip,
            per_unit=1.0 / unit,
        )
    return total


def noised(core: Any, key: bytes, sums: Integers, sd: float, bits: int, releases: int) -> Floats:
    """Return so many independently noised copies of sums on the grid of sd / 2^bits, shape (releases, count)."""
    random = core.random
    noise = [
        random.rounded_normal(random.Stream(key, random.purposes["noise"], i, 0), len(sums)) for i in range(releases)
    ]
    # A shift of floor() is floor() on a coarser grid; it is half a grid step low on average.
    coarse = np.array(noise) >> (NOISE_BITS - bits)
    return np.asarray((sums + coarse).astype(np.float64) + 0.5) * math.ldexp(sd, -bits)


def plain_normals(core: Any, key: bytes, draws: int, dim: int) -> Floats:
    """Return standard normals that protect nobody, shape (draws, dim)."""
    random = core.random
    stream = random.Stream(key, random.purposes["diffusion"], 0, 0)
    return np.asarray(random.fill_normal(stream, draws * dim)).reshape(draws, dim)
