"""Privacy amplification by sampling without replacement, as a map from profiles to profiles.

Claim: if h bounds the hockey-stick divergence of a mechanism on any two batches of size b that differ in one record,
then ``h_sub(a) = q h(1 + (a - 1)/q)``, q = b/n, a >= 1, bounds it for a uniform b-subset of n records.
Neighbours: `replace`, n public. There is no such rule for `add_remove`.
Source: Balle, Barthe, Gaboardi 2018, Theorem 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Profile = Callable[[Floats], Floats]


def without_replacement(profile: Profile, rate: float) -> Profile:
    """Return the profile after sampling a share `rate` of the records without replacement."""

    def subsampled(eps: Floats) -> Floats:
        return rate * profile(log1p_scaled(np.asarray(eps, dtype=float), 1.0 / rate))

    return subsampled


def amplified_epsilon(epsilon: float, rate: float) -> float:
    """Return the pure epsilon after sampling, log(1 + rate (e^epsilon - 1)), rounded up."""
    return float(log1p_scaled(np.array([epsilon]), rate)[0]) * (1 + 1e-15)


def log1p_scaled(eps: Floats, factor: float) -> Floats:
    """Return log(1 + factor (e^eps - 1)) for eps >= 0 without overflow."""
    small = np.minimum(eps, 1.0)
    large = np.maximum(eps, 1.0)
    near = np.log1p(factor * np.expm1(small))
    far = large + math.log(factor) + np.log1p((1.0 / factor - 1.0) * np.exp(-large))
    return np.where(eps < 1.0, near, far)
