"""Renyi divergence after sampling without replacement.

Claim: Wang, Balle, Kasiviswanathan 2019, Theorem 9, for integer orders under `replace`. It is looser than
amplification.py and is kept for comparison with papers that use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..._optional import special
from ..events.base import Floats


def subsampled_divergences(
    divergence: Callable[[Floats], Floats], rate: float, orders: Floats, pure_epsilon: float = math.inf
) -> Floats:
    """Return the divergence of each integer order after sampling a share `rate` without replacement."""
    largest = int(np.max(orders))
    j = np.arange(2, largest + 1, dtype=float)
    base = divergence(j)
    finite = math.isfinite(pure_epsilon)
    log_gap = math.log(math.expm1(pure_epsilon)) if finite else math.inf
    with np.errstate(over="ignore"):
        log_terms = (j - 1) * base + (np.minimum(math.log(2), j * log_gap) if finite else math.log(2))
    log_terms[0] = min(math.log(4 * math.expm1(base[0])), log_terms[0])
    cap = math.log1p(rate * math.expm1(pure_epsilon)) if finite else math.inf
    return np.array([min(_one_order(int(a), rate, j, log_terms), base[int(a) - 2], cap) for a in orders])


def _one_order(a: int, rate: float, j: Floats, log_terms: Floats) -> float:
    k = j[: a - 1]
    log_choose = special.gammaln(a + 1) - special.gammaln(k + 1) - special.gammaln(a - k + 1)
    return float(np.logaddexp(0.0, special.logsumexp(k * math.log(rate) + log_choose + log_terms[: a - 1]))) / (a - 1)
