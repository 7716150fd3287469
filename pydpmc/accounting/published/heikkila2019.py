"""The accounting of Heikkilä et al. (2019), for comparison with ours.

Theorem 1 treats tests on all records. Theorem 2 bounds the Renyi divergence of the normals N(D*, C - v), C = 2,
v <= 1, that the paper releases; corollary 2 subsamples and composes. The variant `corrected` repairs two terms of their
proof; `exact` computes the divergence of the two normals at the worst v and dv. pydpmc charges none of these, because
it releases the bit and not the normal.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...checks import all_positive, whole
from ...errors import InvalidArgument
from ..composition.renyi import classic_epsilon, tight_epsilon
from ..composition.renyi_subsampling import subsampled_divergences
from ..events.base import Floats

Variant = Literal["published", "corrected", "exact"]
LARGEST_ORDER = 1000
NOISE_VARIANCE, LARGEST_SAMPLING_VARIANCE = 2.0, 1.0


def heikkila2019(
    *,
    b: int,
    n: int,
    steps: int,
    delta: float,
    variant: Variant = "published",
    conversion: Literal["classic", "tight"] = "classic",
) -> float:
    """Return epsilon of `steps` minibatch steps as Heikkilä et al. (2019) account for them.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.heikkila2019(b=1000, n=10**6, steps=20_000, delta=1e-6), 2)
    1.0
    """
    whole(b, "b", most=whole(n, "n"))
    all_positive(steps=steps, delta=delta)
    divergence = {"published": _published, "corrected": _corrected, "exact": _exact}[variant]
    orders = np.arange(2.0, min(LARGEST_ORDER, (b - 1) // 5) + 1)
    if len(orders) == 0:
        raise InvalidArgument(
            f"b = {b} is too small: the bound of Heikkilä et al. (2019) needs a Rényi order below b/5; use b >= 11"
        )
    step_cost = subsampled_divergences(lambda a: divergence(a, b), b / n, orders)
    convert = {"classic": classic_epsilon, "tight": tight_epsilon}[conversion]
    return convert(steps * step_cost, orders, delta)


def heikkila2019_full(
    *,
    bound: float,
    steps: int,
    delta: float,
    c: float = NOISE_VARIANCE,
    conversion: Literal["classic", "tight"] = "classic",
) -> float:
    """Return epsilon of `steps` tests on all records by theorem 1: each has Renyi divergence 2 a B^2 / C at order a.

    `bound` is B, the largest log-likelihood ratio of one record, and `c` the variance C of the normal that the paper
    releases. Compare ``AcceptBit``, which prices the bit.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.heikkila2019_full(bound=0.03, steps=250, delta=1e-6), 2)
    3.75
    """
    all_positive(bound=bound, steps=steps, delta=delta, c=c)
    orders = np.concatenate([np.linspace(1.01, 2.0, 100), np.geomspace(2.0, 1e5, 2000)])
    convert = {"classic": classic_epsilon, "tight": tight_epsilon}[conversion]
    return convert(2.0 * steps * bound**2 / c * orders, orders, delta)


def _published(a: Floats, b: int) -> Floats:
    """Equation (21), as printed."""
    return 5 / (2 * b) + np.log(2 * b / (b - 5 * a)) / (2 * (a - 1)) + 2 * a / (b - 5 * a)


def _corrected(a: Floats, b: int) -> Floats:
    """Equation (21) with the terms that its derivation gives."""
    rest = b - 5 * (a - 1)
    return 5 / (2 * b) + np.log(b / rest) / (2 * (a - 1)) + 2 * a / rest


def _exact(a: Floats, b: int) -> Floats:
    """Largest divergence of the two normals: means 2/sqrt(b) apart, variances at most 4(b-1)/b^2 apart."""
    change = 4 * (b - 1) / b**2
    worst = np.zeros_like(a)
    for v in np.linspace(0.0, LARGEST_SAMPLING_VARIANCE, 65):
        for dv in np.linspace(-change, change, 9):
            v_other = min(max(v + dv, 0.0), LARGEST_SAMPLING_VARIANCE)
            worst = np.maximum(worst, _normal_divergence(a, NOISE_VARIANCE - v, NOISE_VARIANCE - v_other, 4 / b))
    return worst


def _normal_divergence(a: Floats, variance_p: float, variance_q: float, squared_distance: float) -> Floats:
    """Lemma 1 of Heikkilä et al. (2019)."""
    mixed = a * variance_q + (1 - a) * variance_p
    divergence: Floats = (
        0.5 * np.log(variance_q / variance_p)
        + np.log(variance_q / mixed) / (2 * (a - 1))
        + a * squared_distance / (2 * mixed)
    )
    return divergence
