"""The two-component mixture of Heikkilä et al. (2019), section 4."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..checks import positive
from ..data.public import Public
from .base import Block, Model
from .priors import Normal, Prior


@dataclass(frozen=True)
class GaussianMixture(Model):
    """x ~ (N(theta_1, variance) + N(theta_1 + theta_2, variance)) / 2.

    Lipschitz constant: none for unbounded theta; ``clip`` bounds each record's log-likelihood ratio. With a
    declared bound R on |x| the planner suggests the slope at |theta| <= 1: sqrt(2) (R + 2) / variance.

    Parameters
    ----------
    prior
        Prior of theta = (theta_1, theta_2); the default is the paper's, N(0, 10) and N(0, 1).
    variance
        Variance of both components.

    Examples
    --------
    >>> import pydpmc as dp
    >>> dp.GaussianMixture().dim(dp.Public(n=9, columns=("x",), has_target=False))
    2
    """

    core_name: ClassVar[str] = "gaussian_mixture"
    has_second_moments: ClassVar[bool] = True
    needs_target: ClassVar[bool] = False
    one_column: ClassVar[bool] = True
    prior: Prior | Mapping[str, Prior] = field(default_factory=lambda: Normal(scale=(math.sqrt(10.0), 1.0)))
    variance: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.variance, "variance")

    @property
    def constants(self) -> tuple[float, float]:
        """Return (variance, 0)."""
        return (self.variance, 0.0)

    def priors(self) -> Prior | Mapping[str, Prior]:
        """Return the prior of theta."""
        return self.prior

    def blocks(self, public: Public) -> tuple[Block, ...]:
        """Return theta = (theta_1, theta_2)."""
        return (Block("theta", 2),)

    def typical_lipschitz(self, public: Public) -> float | None:
        """Return sqrt(2) (R + 2) / variance."""
        norm = public.feature_norm
        return None if norm is None else math.sqrt(2.0) * (norm + 2.0) / self.variance

    def information(self, public: Public) -> float:
        """Return 1 / (4 variance): about half of the records are informative about a coordinate."""
        return 0.25 / self.variance
