"""SGHMC with another position step. A template: CONTRIBUTING.md, "Add a gradient sampler"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .momentum import MomentumSampler


@dataclass(frozen=True)
class ToySampler(MomentumSampler):
    """v' = v - eta g - a v + N(0, 2 a eta), theta' = theta + (v + v') / 2.

    Claim: the whole chain is covered, because velocity and theta are functions of noised sums (docs/privacy/sgld.md).
    ``step_size`` is eta. The parameters are those of GradientSampler and

    Parameters
    ----------
    friction
        The public constant a, in (0, 1); the injected noise has variance 2 a eta.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.ToySampler(friction=0.2).friction
    0.2
    """

    core_name: ClassVar[str] = "toy_sampler"
