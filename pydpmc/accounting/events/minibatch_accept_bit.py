"""The accept bit of the minibatch Barker test: what one step of DP-MCMC releases.

Claim: `MinibatchAcceptBit.profile` bounds the hockey-stick divergence of one subsampled bit.
Neighbours: `replace` with n public. Assumes: a fresh batch of b of n records without replacement, and the arithmetic of
the compiled test (clamped D* and v, acceptance probability with a relative error of at most 2**-30).
Proof: docs/privacy/minibatch_accept_bit.md.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..._core import minibatch_profile, normal_cdf
from ...errors import InvalidArgument
from ...rounding import upper
from .barker_correction import Correction, Floats, correction
from .base import ProfileEvent

_ARITHMETIC_ERROR = 1e-9  # bounds the absolute error of D*, and of v, in the compiled test
_THRESHOLD_ERROR = 2.0**-30  # bounds the relative error of the realised p, and of 1 - p
_SMALLEST_PROBABILITY = 2.0**-34
_LARGEST_LOSS = 100.0
_ROUND_UP = 1.0 + 1e-12  # covers the rounding of the few operations that follow a proven bound


@dataclass(frozen=True)
class MinibatchAcceptBit(ProfileEvent):
    """One accept/reject bit of the Barker test on a batch drawn without replacement.

    With r_i in [-K, K] on the batch, D* is the mean of r plus a public term, clamped to [-x_max, x_max], and
    v = kappa * popvar(r) lies in [0, v_max]. The step accepts with probability F_v(D*), where F_v is the distribution
    function of N(0, c - v) + V_cor.

    Parameters
    ----------
    b : int
        Batch size, at least 2 and below `n`.
    n : int
        Number of records, public.
    v_max : float
        Largest variance estimate, ``kappa * K**2``; above 0 and below `c`.
    c : float
        Total variance of the sampling error of D* and the added normal noise.

    Examples
    --------
    >>> import numpy as np
    >>> from pydpmc.accounting.events.minibatch_accept_bit import MinibatchAcceptBit
    >>> bit = MinibatchAcceptBit(b=1000, n=10**6, v_max=0.5)
    >>> bool(bit.profile(np.zeros(1))[0] < 1.4e-5)
    True
    """

    slack: ClassVar[float] = 1e-3  # relative gap between the proven profile and an attained one
    points: ClassVar[tuple[int, int]] = 321, 17  # grid of x and v on which the largest loss is searched
    b: int
    n: int
    v_max: float
    c: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.b, Integral) and isinstance(self.n, Integral)):
            raise InvalidArgument(f"b and n count records and must be integers, not {self.b!r} and {self.n!r}")
        if self.b < 2:
            raise InvalidArgument(f"b is {self.b} but the variance of a batch needs at least 2 records")
        if self.b >= self.n:
            raise InvalidArgument(f"b is {self.b} and n is {self.n}: a batch must be smaller than the data")
        if not 0.0 < self.v_max < self.c:
            raise InvalidArgument(f"v_max is {self.v_max} but must lie above 0 and below c = {self.c}")
        correction(self.c)

    @property
    def kappa(self) -> float:
        """Variance of the batch mean per unit of batch variance, finite-population factor included."""
        return (1.0 - self.b / self.n) / (self.b - 1)

    @property
    def q(self) -> float:
        """Sampling rate."""
        return self.b / self.n

    @property
    def s(self) -> float:
        """Largest change of D* when one record of the batch is replaced."""
        return 2.0 * math.sqrt(self.v_max / self.kappa) / self.b

    @property
    def dv(self) -> float:
        """Largest change of v when one record of the batch is replaced."""
        return 4.0 * self.v_max * (self.b - 1) / self.b**2

    @property
    def correction(self) -> Correction:
        """V_cor."""
        return correction(self.c)

    @property
    def x_max(self) -> float:
        """Public clamp of D*, which keeps the probabilities of the test above 2**-34 for every v."""
        return _clamp(self.v_max, self.c)

    @property
    def epsilon_max(self) -> float:
        """Pure-DP bound of one subsampled bit, rounded up."""
        a_max = float(_batch_profile(self)[0][-1])
        return math.log1p(self.q * (a_max * _ROUND_UP**4 - 1.0)) * _ROUND_UP

    def describe(self) -> str:
        """Return a description of the event for `Guarantee.statement`."""
        return (
            f"one accept/reject bit of the Barker test on {self.b} of {self.n} records drawn without "
            f"replacement (variance estimate at most {upper(self.v_max)} of {self.c:g})"
        )

    def batch_profile(self, a: npt.ArrayLike) -> Floats:
        """Upper bound of h(a), a >= 1, before subsampling: convex, non-increasing, linear between nodes."""
        nodes, bounds = _batch_profile(self)
        return np.asarray(np.interp(np.asarray(a, dtype=float), nodes, bounds))

    def profile(self, eps: Floats) -> Floats:
        """Upper bound of h_sub(e^eps), eps >= 0, over both orders of every pair of neighbours."""
        epsilon = np.asarray(eps, dtype=float)
        if np.any(epsilon < 0.0):
            raise InvalidArgument("eps must be at least 0; for smaller values use the symmetry of `replace`")
        a = 1.0 + np.expm1(np.minimum(epsilon, 700.0)) / (self.q * _ROUND_UP)
        return np.minimum(1.0, self.q * _ROUND_UP * self.batch_profile(a / _ROUND_UP))

    def roughly(self) -> MinibatchAcceptBit:  # noqa: D102
        return RoughMinibatchAcceptBit(self.b, self.n, self.v_max, self.c)


class RoughMinibatchAcceptBit(MinibatchAcceptBit):
    """The same bit with a looser profile that takes a tenth of the time to compute."""

    slack: ClassVar[float] = 3e-2
    points: ClassVar[tuple[int, int]] = 81, 5


@functools.lru_cache(maxsize=256)
def _clamp(v_max: float, c: float) -> float:
    law = correction(c)
    for x in np.arange(16.0, 0.0, -0.125).tolist():
        far = [normal_cdf((np.append(law.atoms, -law.atoms) - x) / math.sqrt(c - v)) for v in (0.0, v_max)]
        if 0.5 * float(np.tile(law.weights, 2) @ np.minimum(*far)) >= _SMALLEST_PROBABILITY:
            return float(x)
    raise InvalidArgument(f"c - v_max = {c - v_max} leaves too little noise: lower v_max")


@functools.lru_cache(maxsize=256)
def _batch_profile(bit: MinibatchAcceptBit) -> tuple[Floats, Floats]:
    """Return nodes a and proven bounds of h at them; the last bound is 0."""
    top = _largest_loss_on_a_grid(bit)
    while top < _LARGEST_LOSS:
        eps = _nodes_up_to(top)
        bounds = _bounds_at(bit, np.exp(eps))
        if bounds[-1] <= 0.0:
            last = int(np.flatnonzero(bounds > 0.0)[-1]) + 1
            return _convex_minorant(np.exp(eps[: last + 1]), np.append(bounds[:last], 0.0))
        top = eps[-1]
    raise InvalidArgument(f"c - v_max = {bit.c - bit.v_max} leaves too little noise for a useful bound: lower v_max")


def _convex_minorant(a: Floats, bounds: Floats) -> tuple[Floats, Floats]:
    """Return the lower convex hull of the points; h is convex, so the hull still bounds it."""
    kept: list[int] = []
    for k in range(len(a)):
        while len(kept) > 1:
            i, j = kept[-2:]
            if (bounds[j] - bounds[i]) * (a[k] - a[j]) < (bounds[k] - bounds[j]) * (a[j] - a[i]):
                break
            kept.pop()
        kept.append(k)
    return a[kept], bounds[kept]


def _nodes_up_to(top: float) -> Floats:
    """Return nodes: even from 0 to `top`, where h nearly vanishes, denser just below it, and above to prove h = 0."""
    even = top * np.linspace(0.0, 1.0, 201)
    before = top * (1.0 - np.geomspace(1e-4, 5e-3, 20))
    after = top * (1.0 + np.append(np.linspace(5e-4, 5e-3, 10), np.geomspace(1e-2, 1.0, 20)))
    nodes: Floats = np.sort(np.concatenate([even, before, after]))
    return np.asarray(nodes[np.append(True, np.diff(nodes) > 0.0)])


def _bounds_at(bit: MinibatchAcceptBit, a: Floats) -> Floats:
    law = bit.correction
    upper, _, _ = minibatch_profile(
        atoms=np.append(law.atoms, -law.atoms).tolist(),
        weights=np.tile(law.weights / 2.0, 2).tolist(),
        c=bit.c,
        v_max=bit.v_max,
        shift=min(bit.s * _ROUND_UP + 2.0 * _ARITHMETIC_ERROR, 2.0 * bit.x_max),
        change=bit.dv * _ROUND_UP + 2.0 * _ARITHMETIC_ERROR,
        x_max=bit.x_max,
        nodes=(a * (1.0 - _THRESHOLD_ERROR) / (1.0 + _THRESHOLD_ERROR)).tolist(),
        slack=bit.slack,
    )
    return np.asarray(upper) * (1.0 + _THRESHOLD_ERROR) * _ROUND_UP


def _largest_loss_on_a_grid(bit: MinibatchAcceptBit) -> float:
    """Approximate the largest loss, only to place the nodes: no bound rests on it."""
    law, shift = bit.correction, min(bit.s, 2.0 * bit.x_max)
    x = np.linspace(-bit.x_max, max(-bit.x_max, bit.x_max - shift), bit.points[0])[:, None]
    v = np.linspace(0.0, bit.v_max, bit.points[1])
    below = np.log(law.cdf(x, v))
    return max(
        float((np.log(law.cdf(x + shift, np.clip(v + change, 0.0, bit.v_max))) - below).max())
        for change in (-bit.dv, 0.0, bit.dv)
    )
