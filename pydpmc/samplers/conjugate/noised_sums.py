"""Sums over records with Gaussian noise: exact integer sums by the core's kernel, with noise on the same grid.

The kernel of the gradient samplers computes them: the gradient of ``GaussianMean`` with unit sigma at zero is the
record itself, clipped and rounded to integers (docs/privacy/sgld.md, lemmas 1 to 3).
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
Statistics = Callable[[Floats], Floats]  # maps stored rows to the statistics of each record

NOISE_BITS = 32  # as in csrc/random/noise/rounded_normal.hpp
LEAST_BITS = 8  # with a coarser grid, rounding would change the law of the noise noticeably
CHUNK_VALUES = 2**18


def grid_bits(clip: float, sd: float, room: int) -> int:
    """Return b for a grid step of sd / 2^b on which sums of `room` records fit 64 bits.

    `room` is public. The number of records must not be used, because under add_remove it is private.
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

    If `stopped()` becomes true, the sum is incomplete.
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
    """Return `releases` independently noised copies of the sums on the grid of sd / 2^bits, one per row."""
    random = core.random
    noise = [
        random.rounded_normal(random.Stream(key, random.purposes["noise"], i, 0), len(sums)) for i in range(releases)
    ]
    # A shifted floor() is floor() on a coarser grid, which is half a grid step too low on average.
    coarse = np.array(noise) >> (NOISE_BITS - bits)
    return np.asarray((sums + coarse).astype(np.float64) + 0.5) * math.ldexp(sd, -bits)


def plain_normals(core: Any, key: bytes, draws: int, dim: int) -> Floats:
    """Return standard normals that no guarantee depends on, shape (draws, dim)."""
    random = core.random
    stream = random.Stream(key, random.purposes["diffusion"], 0, 0)
    return np.asarray(random.fill_normal(stream, draws * dim)).reshape(draws, dim)
