"""One exact draw from a tempered posterior exp(-U): its cost, and the largest weight w within a budget.

Claim: if U is m-strongly convex for every data set and the difference of U between neighbours is s-Lipschitz, one exact
draw is mu-GDP with mu = s / sqrt(m). Per-record losses with Lipschitz constant L give s = 2 w L under `replace` and
s = w L under `add_remove`. Source: Gopi, Lee, Liu 2022, theorem 4.1; docs/privacy/posterior_sample.md.
"""

from __future__ import annotations

import math

from ...checks import all_positive
from ...errors import InvalidArgument
from .gaussian import largest_mu

ROUNDING_UP = 1.0 + 1e-12


def gibbs_mu(w: float, *, lipschitz: float, strong_convexity: float, adjacency: str = "replace") -> float:
    """Return mu of one exact draw at weight w.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.gibbs_mu(0.05, lipschitz=1.0, strong_convexity=1.0), 6)
    0.1
    """
    all_positive(w=w, lipschitz=lipschitz, strong_convexity=strong_convexity)
    return _records(adjacency) * w * lipschitz / math.sqrt(strong_convexity) * ROUNDING_UP


def gibbs_weight(
    epsilon: float, delta: float, *, lipschitz: float, strong_convexity: float, adjacency: str = "replace"
) -> float:
    """Return the largest weight w for which one exact draw is (epsilon, delta)-DP; it may exceed 1.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> round(acc.gibbs_weight(0.1, 1e-3, lipschitz=1.0, strong_convexity=1.0), 4)
    0.0287
    """
    all_positive(lipschitz=lipschitz, strong_convexity=strong_convexity)
    mu = largest_mu(epsilon, delta)
    return mu * math.sqrt(strong_convexity) / (_records(adjacency) * lipschitz * ROUNDING_UP)


def gaussian_mean_weight(epsilon: float, delta: float, n: int, *, radius: float = 1.0, precision: float = 0.0) -> float:
    """Return the largest w for one exact draw of a Gaussian mean under `replace`, for |x| <= radius and unit variance.

    The posterior is normal with precision n w + `precision`, and neighbours move its mean by at most
    2 radius w / (n w + precision). So mu is exactly 2 radius w / sqrt(n w + precision). The weight may exceed 1.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> f"{acc.gaussian_mean_weight(0.1, 1e-3, n=1):.3g}"
    '0.000825'
    """
    return strongly_convex_weight(epsilon, delta, n, lipschitz=radius, strong_convexity=1.0, precision=precision)


def strongly_convex_weight(
    epsilon: float,
    delta: float,
    n: int,
    *,
    lipschitz: float,
    strong_convexity: float,
    precision: float = 0.0,
    adjacency: str = "replace",
) -> float:
    """Return the largest w for one exact draw if the loss of *each* record is strongly convex, on a convex domain.

    n records give U a strong convexity of n w m + `precision`, so mu is at most s w L / sqrt(n w m + precision), s = 2
    under `replace` and 1 under `add_remove` (n is then the smaller number of records). A loss that is Lipschitz and
    strongly convex needs a bounded domain, such as a ball that the prior does not leave. The weight may exceed 1.

    Examples
    --------
    >>> from pydpmc import accounting as acc
    >>> ball = dict(lipschitz=2.0, strong_convexity=1.0)  # |theta - x| <= 2 for the squared distance on the unit ball
    >>> f"{acc.strongly_convex_weight(0.1, 1e-3, n=1000, **ball):.3g}"
    '0.206'
    """
    all_positive(n=n, lipschitz=lipschitz, strong_convexity=strong_convexity)
    if not precision >= 0.0:
        raise InvalidArgument(f"precision must be at least 0, not {precision!r}")
    slope = largest_mu(epsilon, delta) / (_records(adjacency) * lipschitz)
    scaled = slope**2 / ROUNDING_UP  # w^2 <= scaled (n m w + precision)
    linear = scaled * n * strong_convexity
    return 0.5 * linear * (1.0 + math.sqrt(1.0 + 4.0 * precision * scaled / linear**2)) / ROUNDING_UP


def _records(adjacency: str) -> float:
    if adjacency not in ("replace", "add_remove"):
        raise InvalidArgument(f'adjacency must be "replace" or "add_remove", not {adjacency!r}')
    return 2.0 if adjacency == "replace" else 1.0
