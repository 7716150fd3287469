"""The bounds of Minami et al. (2016), for comparison: pydpmc charges what `events/posterior_draw.py` proves.

Theorem 7 and corollary 8 bound the tail of the log-likelihood ratio of two Gibbs posteriors, theorem 10 does so for
strongly convex losses, theorem 15 for the Gaussian mean. Theorem 16 is the limit of many records. Theorem 21 (Dalalyan)
counts the steps after which Langevin Monte Carlo is near its target. All hold under `replace`.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from ...checks import all_positive
from ...errors import InvalidArgument

Variant = Literal["theorem7", "corollary8"]


def minami2016_weight(
    epsilon: float, delta: float, *, lipschitz: float, strong_convexity: float, variant: Variant = "theorem7"
) -> float:
    """Return the largest weight of a Gibbs posterior that is (epsilon, delta)-DP according to Minami et al. (2016).

    Theorem 7 solves delta = exp(-(epsilon - 2 b^2)^2 / (8 b^2)), b = w L / sqrt(m). Corollary 8 is simpler and gives a
    smaller weight; it holds for epsilon <= 1 only.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.minami2016_weight(0.1, 1e-3, lipschitz=1.0, strong_convexity=1.0), 4)
    0.0134
    >>> round(acc.minami2016_weight(0.1, 1e-3, lipschitz=1.0, strong_convexity=1.0, variant="corollary8"), 4)
    0.013
    """
    all_positive(epsilon=epsilon, lipschitz=lipschitz, strong_convexity=strong_convexity)
    if variant == "corollary8" and epsilon > 1.0:
        raise InvalidArgument(f'epsilon must be at most 1 for corollary 8, not {epsilon!r}; use variant="theorem7"')
    b = _theorem7(epsilon, _log_inverse(delta)) if variant == "theorem7" else _corollary8(epsilon, _log_inverse(delta))
    return b * math.sqrt(strong_convexity) / lipschitz


def minami2016_gaussian_mean_weight(epsilon: float, delta: float, n: int, *, radius: float = 1.0) -> float:
    """Return the largest weight of a Gaussian mean's posterior under a flat prior according to theorem 15.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> f"{acc.minami2016_gaussian_mean_weight(0.1, 1e-3, n=1):.3e}"
    '1.797e-04'
    """
    all_positive(epsilon=epsilon, n=n, radius=radius)
    return n * (_theorem7(epsilon, _log_inverse(delta)) / radius) ** 2


def minami2016_strongly_convex_weight(
    epsilon: float, delta: float, n: int, *, lipschitz: float, strong_convexity: float
) -> float:
    """Return the largest weight by theorem 10: a strongly convex loss on a ball, without help from the prior.

    Theorem 7 with the strong convexity n w m of the losses in place of the prior's: b = sqrt(w / (n m)) L. Compare
    ``strongly_convex_weight``, which pydpmc charges.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.minami2016_strongly_convex_weight(0.1, 1e-3, 1000, lipschitz=2.0, strong_convexity=1.0), 4)
    0.0449
    """
    all_positive(epsilon=epsilon, n=n, lipschitz=lipschitz, strong_convexity=strong_convexity)
    return n * strong_convexity * (_theorem7(epsilon, _log_inverse(delta)) / lipschitz) ** 2


def minami2016_inflation(w: float) -> float:
    """Return how many times the asymptotic variance of the Gibbs posterior exceeds that of the posterior.

    Theorem 16 (Bernstein-von Mises): sqrt(n) (theta - theta_0) tends to N(0, (w I)^-1) for a fixed weight w. Example 17
    has w = 0.012, hence its "83 times".

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.minami2016_inflation(0.012), 1)
    83.3
    """
    all_positive(w=w)
    return 1.0 / w


class LangevinSteps(NamedTuple):
    """The number of steps and the step size that theorem 21 requires."""

    steps: int
    step_size: float


def minami2016_steps(gamma: float, *, dim: int, strong_convexity: float, smoothness: float) -> LangevinSteps:
    """Return steps and step size after which Langevin Monte Carlo is within total variation gamma of exp(-U).

    Theorem 21 holds for an m-strongly convex, M-smooth U and a start from N(minimum of U, I/M). A draw that is
    gamma-close adds (1 + e^epsilon) gamma to delta (proposition 12). The guarantee of `Langevin` needs no such count.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> acc.minami2016_steps(1e-2, dim=10, strong_convexity=1.0, smoothness=10.0).steps
    2147268839
    """
    all_positive(gamma=gamma, strong_convexity=strong_convexity, smoothness=smoothness)
    if not gamma < 0.5:
        raise InvalidArgument(f"gamma must lie in (0, 0.5), not {gamma!r}")
    if dim < 2 or smoothness < strong_convexity:
        raise InvalidArgument("dim must be at least 2 and smoothness at least strong_convexity (theorem 21)")
    m, big_m = strong_convexity, smoothness
    horizon = (4.0 * math.log(1.0 / gamma) + dim * math.log(big_m / m)) / (2.0 * m)
    alpha = (1.0 + big_m * dim * horizon / gamma**2) / 2.0
    step_size = gamma**2 * (2.0 * alpha - 1.0) / (big_m**2 * horizon * dim * alpha)
    return LangevinSteps(math.ceil(horizon / step_size), step_size)


def _theorem7(epsilon: float, log_inverse_delta: float) -> float:
    """Return w L / sqrt(m): the root of 2 b^2 + b sqrt(8 log(1/delta)) = epsilon."""
    root = math.sqrt(log_inverse_delta + epsilon) + math.sqrt(log_inverse_delta)
    return epsilon / root / math.sqrt(2.0)


def _corollary8(epsilon: float, log_inverse_delta: float) -> float:
    return epsilon / (2.0 * math.sqrt(1.0 + 2.0 * log_inverse_delta))


def _log_inverse(delta: float) -> float:
    if not 0.0 < delta < 1.0:
        raise InvalidArgument(f"delta must lie in (0, 1), not {delta!r}")
    return -math.log(delta)
