"""Stochastic-gradient Langevin dynamics (Wang et al. 2015 algorithm 2, Li et al. 2019)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import InvalidArgument
from .base import STABILITY, GradientSampler
from .published import CALIBRATIONS
from .settings import GradientSettings

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings


@dataclass(frozen=True)
class SGLD(GradientSampler):
    """theta' = theta - h g + sqrt(2h) xi, where the injected noise is the Gaussian mechanism.

    The privacy cost depends on the diffusion time, h times steps, so smaller and more numerous steps cost only compute.
    See GradientSampler for the other parameters.

    Parameters
    ----------
    calibration
        ``"wang2015"`` (Wang et al. 2015, algorithm 2) or ``"li2019"`` (Li et al. 2019, algorithm 1): step sizes and
        noise as the paper prints them, priced by our accountant. As printed, the noise has half the variance that the
        target needs; ``print(plan)`` says what the chain targets instead. With ``"li2019"``, `step_size` is the paper's
        eta, which multiplies the mean gradient.
    preconditioner
        ``"diagonal"`` shortens the steps of coordinates with large released gradients, so that the others can move
        further. Use it for columns of very different scales. It costs no privacy. The planner then chooses a step size
        ten times as large.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, dp.SGLD(), epsilon=1.0, delta=1e-6)
    >>> plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    core_name: ClassVar[str] = "sgld"
    supports_groups: ClassVar[bool] = True
    calibration: str | None = None
    preconditioner: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.calibration is not None and self.calibration not in CALIBRATIONS:
            raise InvalidArgument(f"calibration must be one of {', '.join(CALIBRATIONS)}, not {self.calibration!r}")
        if self.preconditioner not in (None, "diagonal"):
            raise InvalidArgument(f'preconditioner must be "diagonal" or None, not {self.preconditioner!r}')
        if self.preconditioner is not None and self.calibration is not None:
            raise InvalidArgument("preconditioner cannot be combined with calibration: leave one of them out")

    @property
    def core_sampler(self) -> str:
        """The name of the step in the core."""
        return "sgld" if self.preconditioner is None else "psgld"

    @property
    def stable_share(self) -> float:
        """One with a preconditioner, which shortens steps that are too long."""
        return super().stable_share if self.preconditioner is None else 1.0

    def settle(self, settings: GradientSettings, request: Request) -> GradientSettings:
        """Return the settings, with a bound on the curvature if there is a preconditioner."""
        if self.preconditioner is None:
            return settings
        from .choose import largest_curvature

        given = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}
        return PreconditionedSettings(**given, curvature=largest_curvature(request))


LEAST_WITHOUT_BOUND = 0.001  # least preconditioner if there is no public bound on the curvature


@dataclass(frozen=True)
class PreconditionedSettings(GradientSettings):
    """A fully specified run of preconditioned SGLD."""

    curvature: float | None = None  # public bound, or None

    @property
    def largest_curvature(self) -> float:
        """The initial value and upper bound of the curvature estimate of every coordinate.

        The estimate includes the sampling variance of g, hence the factor.
        """
        if self.curvature is not None:
            return self.curvature * (1.0 + self.w * (1.0 / self.rate - 1.0))
        return STABILITY * (1.0 / LEAST_WITHOUT_BOUND - 1.0) / float(self.step_sizes.max())

    @property
    def least(self) -> float:
        """The least value of the preconditioner."""
        return 1.0 / (1.0 + float(self.step_sizes.max()) * self.largest_curvature / STABILITY)

    @property
    def core_parameters(self) -> dict[str, list[float]]:
        """The parameters of the preconditioner."""
        return {"largest_curvature": [self.largest_curvature], "stability": [STABILITY], "heat": [self.heat]}

    def describe(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return super().describe() | {"preconditioner": "diagonal"}

    def rows(self, size: int | None) -> Sequence[tuple[str, str]]:
        """Return the lines of the plan's page that describe the run."""
        text = f"diagonal, {self.least:.2g} to 1, computed from released gradients at no cost in privacy"
        return [*super().rows(size), ("preconditioner", text)]
