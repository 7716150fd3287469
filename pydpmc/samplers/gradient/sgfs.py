"""Stochastic-gradient Fisher scoring (Wang et al. 2015, algorithm 4 and its supplement)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...accounting import Event
from ...checks import number, reals
from ...errors import InvalidArgument
from .base import GradientSampler
from .settings import GradientSettings

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings


MOST_PARAMETERS = 200


@dataclass(frozen=True)
class SGFS(GradientSampler):
    """theta' = theta - 2 (J + 4A/h)^-1 (g + N(0, 4A/h)), where J is the information in released second moments.

    If J is the curvature of U plus the sampling variance of g, the chain has the target's variance at any step size, so
    its steps may be ten times as long as those of SGLD. Gradient and second moments are clipped and noised as one
    vector. Proof: docs/privacy/sgfs.md. See GradientSampler for the other parameters.

    Parameters
    ----------
    noise_matrix
        The public matrix A: a number (a multiple of the identity) or its diagonal. With the default 1/2, small steps
        equal those of SGLD with the same step size. Only A / step_size matters; the planner chooses the reciprocal of
        the largest curvature as step size.
    information_share
        Share of the squared sensitivity that the second moments take; the gradient takes the rest.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, dp.SGFS(), epsilon=1.0, delta=1e-6)
    >>> plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    core_name: ClassVar[str] = "sgfs"
    noise_matrix: float | Sequence[float] = 0.5
    information_share: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        diagonal = reals(self.noise_matrix, "noise_matrix")
        if diagonal.ndim > 1 or diagonal.size == 0 or not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
            raise InvalidArgument("noise_matrix must be a positive number, or the positive diagonal of A")
        if diagonal.ndim == 1:
            object.__setattr__(self, "noise_matrix", tuple(diagonal.tolist()))
        if not 0 < number(self.information_share, "information_share") <= 0.5:
            raise InvalidArgument(f"information_share must lie in (0, 0.5], not {self.information_share!r}")

    @property
    def friction_of_noise(self) -> float:
        """Twice the least entry of A: the noise that counts for privacy has variance 4 min(A) / h."""
        return 2.0 * float(np.min(self.noise_matrix))

    @property
    def stable_share(self) -> float:
        """One: the step is stable for every J, and unbiased if J is exact."""
        return 1.0

    def settle(self, settings: GradientSettings, request: Request) -> FisherSettings:
        """Return the settings with the parameters of the second moments."""
        name, dim = type(request.model).__name__, settings.dim
        if not request.model.has_second_moments:
            raise InvalidArgument(f"SGFS cannot compute the second moments of {name}; use SGLD, SGHMC or SGNHT")
        if dim > MOST_PARAMETERS:
            raise InvalidArgument(
                f"SGFS takes at most {MOST_PARAMETERS} parameters, because it releases all their products, but "
                f'{name} has {dim} here; use SGLD(preconditioner="diagonal")'
            )
        if settings.sampling == "without_replacement" and settings.batch_size < 2:
            raise InvalidArgument(
                "batch_size must be at least 2: SGFS computes the covariance of a batch without replacement"
            )
        diagonal = reals(self.noise_matrix, "noise_matrix")
        if diagonal.ndim == 1 and len(diagonal) != dim:
            raise InvalidArgument(f"noise_matrix has {len(diagonal)} entries but {name} has {dim} parameters here")
        given = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}
        return FisherSettings(
            **given,
            noise_matrix=tuple(np.broadcast_to(diagonal, (dim,)).tolist()),
            prior_precision=tuple(request.model.prior_precision(request.public).tolist()),
            information_share=self.information_share,
            noised=request.private,
        )


UNCLIPPED_MOMENTS = 2.0**6  # without privacy: bound on |g| in g g^T in units of the noise


@dataclass(frozen=True)
class FisherSettings(GradientSettings):
    """A fully specified run of SGFS."""

    noise_matrix: tuple[float, ...] = ()  # the diagonal of A
    prior_precision: tuple[float, ...] = ()
    information_share: float = 0.0  # share of the squared sensitivity that the second moments take
    noised: bool = True  # False: the second moments have no noise, and the run is not private

    @property
    def moment_clip(self) -> float:
        """The bound on |g| in g g^T."""
        return self.clip if self.noised else UNCLIPPED_MOMENTS * float(self.noise.min())

    @property
    def moment_scale(self) -> float:
        """The factor of g g^T that gives it its share of the sensitivity."""
        if not self.noised:
            return self.clip / self.moment_clip**2
        return math.sqrt(self.information_share / (1.0 - self.information_share)) / self.clip

    @property
    def sensitivity(self) -> float:
        """The largest norm of (g, scale g g^T)."""
        return math.hypot(self.clip, self.moment_scale * self.moment_clip**2)

    @property
    def released(self) -> int:
        """The length of the gradient and the upper triangle of its second moments."""
        return self.dim + self.dim * (self.dim + 1) // 2

    @property
    def core_parameters(self) -> dict[str, list[float]]:
        """The parameters of J_t: weights and scales, the prior's precision, and the noise."""
        per_record = self.w / self.rate * (1.0 + self.w * (1.0 / self.rate - 1.0))
        return {
            "noise_matrix": list(self.noise_matrix),
            "prior_precision": list(self.prior_precision),
            "weight": [per_record],
            "centred": [float(self.batch_size) if self.sampling == "without_replacement" else 0.0],
            "moment_scale": [self.moment_scale],
            "moment_clip": [self.moment_clip],
            "moments_noised": [float(self.noised)],
            "heat": [self.heat],
        }

    def uses(self, adjacency: str, chains: int) -> list[tuple[Event, int]]:
        """Return the events of all steps of all chains, second moments included."""
        if not self.noised:
            raise InvalidArgument("the second moments of this run have no noise: plan it with private=True")
        return super().uses(adjacency, chains)

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        own = {"noise_matrix": list(self.noise_matrix), "information_share": self.information_share}
        return super().describe() | own

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        low, high = min(self.noise_matrix), max(self.noise_matrix)
        matrix = f"{low:.4g} times the identity" if low == high else f"a given diagonal, {low:.4g} to {high:.4g}"
        share = f"{100 * self.information_share:.3g} % of the squared sensitivity" if self.noised else "without noise"
        return [*super().rows(size), ("noise matrix A", matrix), ("second moments", share)]
