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
from ...errors import InvalidArgument

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Statistics = Callable[[Floats], Floats]  # of each record, from rows as Data stores them

NOISE_BITS = 32  # of csrc/random/noise/rounded_normal.hpp
CHUNK_VALUES = 2**18


def exact_sum(
    core: Any,
    rows: npt.NDArray[Any],
    columns: int,
    has_target: bool,
    statistics: Statistics,
    count: int,
    clip: float,
    sd: float,
    stopped: Callable[[], bool] = lambda: False,
) -> Integers:
    """Return the sum of all records' statistics in units of sd / 2^32; a record that is not finite adds nothing.

    Once `stopped()` the sum is not that of all records.
    """
    unit = math.ldexp(sd, -NOISE_BITS)
    if not (clip / unit < 2.0**49 and len(rows) * (clip / unit) + 2.0**37 < 2.0**62):
        raise InvalidArgument("so many records with so little noise overflow a 64-bit sum; add noise, or lower w")
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


def noised(core: Any, key: bytes, sums: Integers, sd: float, releases: int) -> Floats:
    """Return so many independently noised copies of the sums, shape (releases, count)."""
    random = core.random
    noise = [
        random.rounded_normal(random.Stream(key, random.purposes["noise"], i, 0), len(sums)) for i in range(releases)
    ]
    # floor() of the noise is half a grid step low on average.
    return np.asarray((sums + np.array(noise)).astype(np.float64) + 0.5) * math.ldexp(sd, -NOISE_BITS)


def plain_normals(core: Any, key: bytes, draws: int, dim: int) -> Floats:
    """Return standard normals that protect nobody, shape (draws, dim)."""
    random = core.random
    stream = random.Stream(key, random.purposes["diffusion"], 0, 0)
    return np.asarray(random.fill_normal(stream, draws * dim)).reshape(draws, dim)
