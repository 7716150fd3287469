"""The largest step size that a budget pays for: theorems 3 and 4 of Li et al. (2019), priced by our accountant."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .. import accounting as acc
from ..accounting.events.gaussian import largest_mu
from ..checks import inside, number, one_of, positive, whole
from ..errors import InvalidArgument, UnsupportedEventError

VARIANCE = {"langevin": 2.0, "paper": 1.0}  # of the injected noise, in units of eta / n
LEVELS = 120
UNSPENT = 1e-5  # of epsilon
FARTHEST = 4096.0  # from the estimate that holds for large noise multipliers


def max_step_size(
    epsilon: float,
    delta: float,
    n: int,
    steps: int,
    clip: float,
    *,
    batch_size: int,
    adjacency: Literal["replace", "add_remove"] = "replace",
    decay: float = 0.0,
    sampling: Literal["poisson", "without_replacement"] = "poisson",
    noise: Literal["langevin", "paper"] = "langevin",
    chains: int = 1,
) -> float:
    """Return the largest eta_1 for which SGLD with step sizes eta_1 t^-decay is (epsilon, delta)-DP.

    eta multiplies the *mean* clipped gradient, as in Li et al. (2019): ``SGLD(step_size=eta / n)`` in this library.

    Parameters
    ----------
    epsilon, delta
        The budget of all chains.
    n, steps, clip
        Records (public), steps of a chain, bound L on the norm of a record's gradient.
    batch_size
        Expected (``"poisson"``) or exact (``"without_replacement"``) number of records per step.
    decay
        0 for a constant step (theorem 4), 1/3 for the decreasing one (theorem 3).
    noise
        ``"langevin"`` is the variance 2 eta / n that the posterior needs; ``"paper"`` the eta / n that Li et al. (2019)
        prints, with which the chain samples from the square of the posterior.

    Returns
    -------
    float
        A step size found to be within the budget. What the precision of the random numbers adds to delta depends on the
        number of parameters and is left to ``plan``.

    Examples
    --------
    >>> import pydpmc as dp
    >>> eta = dp.max_step_size(1.0, 1e-5, n=50_000, steps=1000, clip=1.0, batch_size=500)
    >>> 0.1 < eta < 10.0
    True
    """
    steps, batch_size, chains = whole(steps, "steps"), whole(batch_size, "batch_size"), whole(chains, "chains")
    _check(epsilon, delta, clip, decay, noise)
    one_of(adjacency, "adjacency", ("replace", "add_remove"))
    one_of(sampling, "sampling", ("poisson", "without_replacement"))
    if batch_size > whole(n, "n"):
        raise InvalidArgument(f"batch_size is {batch_size} but n is {n}: a batch has at most all records")
    if sampling == "without_replacement" and adjacency != "replace":
        raise UnsupportedEventError('sampling="without_replacement" is accounted for under adjacency="replace" only')
    starts, counts = _levels(steps, decay)
    variance = VARIANCE[noise]

    def uses(eta: float) -> list[tuple[acc.Event, int]]:
        multipliers = batch_size / clip * np.sqrt(variance / (n * eta)) * starts ** (decay / 2)
        return [
            (_event(float(z), batch_size, n, sampling), int(k) * chains)
            for z, k in zip(multipliers, counts, strict=True)
        ]

    time = float((np.arange(1.0, steps + 1.0) ** -decay).sum()) * chains
    sensitivity = clip * (2.0 if adjacency == "replace" else 1.0)
    estimate = (largest_mu(epsilon, delta) / sensitivity) ** 2 * n * variance / time
    bracket = (estimate / FARTHEST, estimate * 16.0)
    return acc.calibrate(
        uses, epsilon=epsilon, delta=delta, adjacency=adjacency, bracket=bracket, integer=False, unspent=UNSPENT
    )


def _check(epsilon: float, delta: float, clip: float, decay: float, noise: str) -> None:
    for name, value in (("epsilon", epsilon), ("clip", clip)):
        positive(value, name)
    inside(delta, "delta")
    if not 0 <= number(decay, "decay") <= 1:
        raise InvalidArgument(f"decay must lie in [0, 1], not {decay!r}")
    one_of(noise, "noise", VARIANCE)


def _levels(steps: int, decay: float) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], list[int]]:
    """Group the steps; a group is priced as its first step, which has the least noise.

    Equal parts of t^(1/3): finest where most of the cost lies.
    """
    if decay == 0.0:
        return np.ones(1), [steps]
    edges = np.ceil(steps * (np.arange(LEVELS + 1) / LEVELS) ** 3) + 1.0
    edges = edges[np.append(True, np.diff(edges) > 0.0)]
    return edges[:-1], [int(k) for k in np.diff(edges)]


def _event(z: float, batch_size: int, n: int, sampling: str) -> acc.Event:
    gaussian = acc.Gaussian(z)
    if sampling == "poisson":
        return gaussian.poisson(batch_size / n)
    return gaussian.without_replacement(batch_size, n)
