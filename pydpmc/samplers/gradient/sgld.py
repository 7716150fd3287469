"""Stochastic-gradient Langevin dynamics (Wang et al. 2015 algorithm 2, Li et al. 2019)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...errors import InvalidArgument
from .base import GradientSampler
from .preconditioned_settings import PreconditionedSettings
from .published import CALIBRATIONS

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings


@dataclass(frozen=True)
class SGLD(GradientSampler):
    """theta' = theta - h g + sqrt(2h) xi: the injected noise is itself the Gaussian mechanism.

    Privacy pays for the diffusion time h times steps, so a smaller step with more steps costs compute only.
    The parameters are those of GradientSampler and

    Parameters
    ----------
    calibration
        ``"wang2015"`` (Wang et al. 2015, algorithm 2) or ``"li2019"`` (Li et al. 2019, algorithm 1): step sizes and
        noise as the
        paper prints them, priced by our accountant. As printed, the noise has half the variance that the target needs;
        ``print(plan)`` says what the chain targets instead. Under ``"li2019"`` `step_size` is the paper's eta, which
        multiplies the mean gradient.
    preconditioner
        ``"diagonal"`` shortens the step of each coordinate in which released gradients are large, so that the others
        may move further: for columns of very different scales. It costs no privacy. The planner's step size is then
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
            raise InvalidArgument("preconditioner: the calibrations of the papers know none; leave one of the two out")

    @property
    def core_sampler(self) -> str:
        """The name of the step in the core."""
        return "sgld" if self.preconditioner is None else "psgld"

    @property
    def stable_share(self) -> float:
        """With a preconditioner one: stable whatever it is, and it shortens what is too long."""
        return super().stable_share if self.preconditioner is None else 1.0

    def settle(self, settings: GradientSettings, request: Request) -> GradientSettings:
        """Return the settings, with the bound of the curvature if there is a preconditioner."""
        if self.preconditioner is None:
            return settings
        from .choose import largest_curvature

        given = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}
        return PreconditionedSettings(**given, curvature=largest_curvature(request))
