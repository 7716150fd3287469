"""Stochastic-gradient Fisher scoring (Wang et al. 2015, algorithm 4 and its supplement)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...checks import number, reals
from ...errors import InvalidArgument
from .base import GradientSampler
from .sgfs_settings import FisherSettings

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings

MOST_PARAMETERS = 200


@dataclass(frozen=True)
class SGFS(GradientSampler):
    """theta' = theta - 2 (J + 4A/h)^-1 (g + N(0, 4A/h)), J the information in released second moments.

    Where J is the curvature of U plus the variance that the choice of the batch gives to g, the target's variance is
    right at any step size, so that steps may be ten times those of SGLD. Gradient and second moments are clipped
    together and released with one noise. Proof: docs/privacy/sgfs.md. The parameters are those of GradientSampler and

    Parameters
    ----------
    noise_matrix
        A: a number for a multiple of the identity, or its diagonal; public. With the default 1/2 a step size means
        what it means for SGLD: small steps are SGLD's. Only A / step_size matters; the planner's step size is one over
        the largest curvature that the public constants allow.
    information_share
        Share of the squared sensitivity that the second moments have; the gradient has the rest.

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
        """Twice the least of A: the noise that protects has variance 4 min(A) / h."""
        return 2.0 * float(np.min(self.noise_matrix))

    @property
    def stable_share(self) -> float:
        """One: stable whatever J is, and unbiased where it is right."""
        return 1.0

    def settle(self, settings: GradientSettings, request: Request) -> FisherSettings:
        """Return the settings with what the second moments need."""
        name, dim = type(request.model).__name__, settings.dim
        if not request.model.has_second_moments:
            raise InvalidArgument(f"SGFS cannot take the second moments of {name}; use SGLD, SGHMC or SGNHT")
        if dim > MOST_PARAMETERS:
            raise InvalidArgument(
                f"SGFS takes at most {MOST_PARAMETERS} parameters, because it releases all their products, but "
                f'{name} has {dim} here; use SGLD(preconditioner="diagonal")'
            )
        if settings.sampling == "without_replacement" and settings.batch_size < 2:
            raise InvalidArgument(
                "batch_size must be at least 2: SGFS takes the covariance of a batch without replacement"
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
