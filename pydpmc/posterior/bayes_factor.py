"""The evidence for a hypothesis about some parameters against the model that leaves them free, given the looks.

The ratio is the posterior density of the hypothesis over its prior density (Dickey 1971): both models share the prior
of all other parameters. It is a function of the draws, and so costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import reals
from ..errors import InvalidArgument
from .inference import evidence

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BayesFactor:
    """Evidence of the free model over the hypothesis.

    Attributes
    ----------
    log
        Natural logarithm of p(looks | parameters free) / p(looks | parameters as in the hypothesis).
    df
        Number of parameters that the hypothesis fixes.
    """

    log: float
    df: int

    def __float__(self) -> float:
        return math.exp(min(self.log, 700.0))

    def __str__(self) -> str:
        side = "free parameters" if self.log > 0 else "the hypothesis"
        return f"10^{abs(self.log) / math.log(10.0):.2f} to 1 for {side}"


def bayes_factor(post: Posterior, null: npt.ArrayLike, parameters: str | Sequence[str] | None) -> BayesFactor:
    """Return the Bayes factor against the hypothesis that the parameters have the values `null`."""
    if post.plan.get("sampler") != "Newton":
        raise InvalidArgument("bayes_factor needs draws of Newton: those of other samplers are tempered")
    found = evidence(post)
    places = found.chosen(parameters)
    precision = [post.plan["prior_precision"][i] for i in places]
    if any(value is None or value <= 0.0 for value in precision):
        raise InvalidArgument("bayes_factor needs Normal priors of the parameters: others have no density at the null")
    values = reals(null, "null")
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(places)):
        raise InvalidArgument(f"null must be one number or {len(places)} numbers, but its shape is {values.shape}")
    centre = found.known.mean[places]
    covariance = found.known.spread[np.ix_(places, places)]
    prior_mean = np.array([post.plan["prior_mean"][i] for i in places])
    prior = _log_density(values - prior_mean, np.diag(1.0 / np.array(precision, dtype=float)))
    return BayesFactor(prior - _log_density(values - centre, covariance), len(places))


def _log_density(distance: Floats, covariance: Floats) -> float:
    root = np.linalg.cholesky(covariance)
    scaled = np.linalg.solve(root, np.broadcast_to(distance, (len(covariance),)))
    return float(-0.5 * scaled @ scaled - np.log(np.diag(root)).sum() - len(scaled) / 2.0 * math.log(2.0 * math.pi))
