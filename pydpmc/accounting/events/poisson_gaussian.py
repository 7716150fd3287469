"""A clipped Gaussian sum over a Poisson sample.

Claim: let s be the noise multiplier and M(c) = (1-q) N(0, s^2) + q N(c, s^2). Under `add_remove`, M(1) against M(0)
dominates if a record is removed, and M(0) against M(1) if one is added. Under `replace`, M(1) against M(-1) dominates.
Source: Zhu, Dong, Wang 2022, Lebeda et al. 2024; docs/privacy/accounting.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...checks import positive, share
from ...errors import InvalidArgument
from ...rounding import lower, upper
from ..loss.gaussian_cells import LARGEST_DEVIATION, PIECE, mixture_losses
from ..loss.privacy_loss import LARGEST_EXPONENT, PrivacyLoss
from .base import Event, Floats


@dataclass(frozen=True)
class PoissonGaussian(Event):
    """`Gaussian(noise_multiplier).poisson(rate)`."""

    noise_multiplier: float
    rate: float

    def __post_init__(self) -> None:
        positive(self.noise_multiplier, "noise_multiplier")
        share(self.rate, "rate")
        if self.rate == 1.0:
            raise InvalidArgument("rate must be below 1; without sampling use Gaussian(noise_multiplier)")

    def largest_loss(self, adjacency: str) -> float:  # noqa: D102
        farthest = 1.0 + LARGEST_DEVIATION * self.noise_multiplier
        loss = self._log_ratio(farthest, 1.0)
        if adjacency == "replace":
            loss -= self._log_ratio(-farthest, 1.0)
        return min(loss, LARGEST_EXPONENT)

    def privacy_loss(self, adjacency: str, step: float) -> tuple[PrivacyLoss, ...]:  # noqa: D102
        return (self._replaced(step),) if adjacency == "replace" else self._removed_and_added(step)

    def _log_ratio(self, x: float, centre: float) -> float:
        """Return log(1 - q + q N(centre)/N(0)) at x."""
        exponent = (x - centre / 2) * centre / self.noise_multiplier**2
        return float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + exponent))

    def _replaced(self, step: float) -> PrivacyLoss:
        s, q = self.noise_multiplier, self.rate
        last = math.ceil(self.largest_loss("replace") / step)
        edges = np.zeros(2 * last + 1)
        for start in range(1, last + 1, PIECE):
            end = min(start + PIECE, last + 1)
            losses = step * np.arange(start, end, dtype=float)
            # x/s^2 = l/2 + arcsinh((1-q)/q e^{1/(2 s^2)} sinh(l/2)), in logarithms to avoid overflow
            log_sinh = losses / 2 + np.log(-np.expm1(-losses) / 2)
            half = s**2 * (losses / 2 + _arcsinh_exp(log_sinh + math.log((1 - q) / q) + 0.5 / s**2))
            edges[last + start : last + end] = half
            edges[last - end + 1 : last - start + 1] = -half[::-1]
        return mixture_losses(step, -last, edges, s, [(1 - q, 0.0), (q, 1.0)], [(1 - q, 0.0), (q, -1.0)])[0]

    def _removed_and_added(self, step: float) -> tuple[PrivacyLoss, ...]:
        s, q = self.noise_multiplier, self.rate
        lowest = math.floor(self._log_ratio(-LARGEST_DEVIATION * s, 1.0) / step)
        highest = math.ceil(self.largest_loss("add_remove") / step)
        edges = np.empty(highest + 1 - lowest)
        for start in range(0, len(edges), PIECE):
            end = min(start + PIECE, len(edges))
            edges[start:end] = self._edges(step * np.arange(lowest + start, lowest + end, dtype=float))
        return mixture_losses(step, lowest, edges, s, [(1 - q, 0.0), (q, 1.0)], [(1.0, 0.0)], both=True)

    def _edges(self, losses: Floats) -> Floats:
        """Return where the loss of the mixture against N(0, s^2) takes these ascending values; -inf if nowhere."""
        q, s = self.rate, self.noise_multiplier
        small, large = np.split(losses, [np.searchsorted(losses, 1.0)])
        with np.errstate(divide="ignore"):
            near = np.log1p(np.maximum(np.expm1(small) / q, -1.0))
        far = large + np.log1p(-(1 - q) * np.exp(-large)) - math.log(q)
        return np.asarray(0.5 + s**2 * np.append(near, far))

    @property
    def level(self) -> tuple[tuple[object, ...], float]:  # noqa: D102
        return (PoissonGaussian, self.rate), 1.0 / self.noise_multiplier

    def describe(self) -> str:  # noqa: D102
        return (
            f"a sum over a Poisson sample (each record with probability {upper(self.rate)}, drawn anew) with "
            f"Gaussian noise (noise multiplier {lower(self.noise_multiplier)})"
        )


def _arcsinh_exp(exponents: Floats) -> Floats:
    """Return arcsinh(exp(x)) without overflow."""
    small, large = np.minimum(exponents, 0.0), np.maximum(exponents, 0.0)
    return np.where(exponents < 0.0, np.arcsinh(np.exp(small)), large + np.log1p(np.sqrt(1.0 + np.exp(-2 * large))))
