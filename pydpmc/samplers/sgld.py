"""Stochastic-gradient Langevin dynamics (papers/001 algorithm 2, papers/003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .gradient import GradientSampler
from .gradient_calibration import CALIBRATIONS


@dataclass(frozen=True)
class SGLD(GradientSampler):
    """theta' = theta - h g + sqrt(2h) xi: the injected noise is itself the Gaussian mechanism.

    Privacy pays for the diffusion time h times steps, so a smaller step with more steps costs compute only.
    The parameters are those of GradientSampler and

    Parameters
    ----------
    calibration
        ``"wang2015"`` (papers/001, algorithm 2) or ``"li2019"`` (papers/003, algorithm 1): step sizes and noise as the
        paper prints them, priced by our accountant. As printed, the noise has half the variance that the target needs;
        ``print(plan)`` says what the chain targets instead. Under ``"li2019"`` `step_size` is the paper's eta, which
        multiplies the mean gradient.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.calibration is not None and self.calibration not in CALIBRATIONS:
            raise ValueError(f"calibration must be one of {', '.join(CALIBRATIONS)}, not {self.calibration!r}")
