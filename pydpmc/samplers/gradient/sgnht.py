"""Stochastic-gradient Nose-Hoover thermostat (Wang et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .momentum import MomentumSampler


@dataclass(frozen=True)
class SGNHT(MomentumSampler):
    """SGHMC whose friction adapts so that the momentum keeps the right temperature.

    ``step_size`` is eta. See GradientSampler for the other parameters.

    Parameters
    ----------
    friction
        The public constant a, in (0, 1); the injected noise has variance 2 a eta.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.SGNHT(friction=0.2).friction
    0.2
    """

    core_name: ClassVar[str] = "sgnht"
    supports_groups: ClassVar[bool] = True
