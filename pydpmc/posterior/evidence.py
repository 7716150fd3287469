"""The evidence of Newton's looks for a model and its prior: how well they foretold what was released.

The pooled looks are a normal measurement of theta: an estimate t whose error has precision P. Under a normal prior
N(m, S) the standardised measurement P^(1/2) t is normal as well, and its log density is the evidence. It is a function
of the draws, and so costs nothing.
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
from .inference import Evidence, evidence

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
LEAST_SHARE = 1e-6  # of a posterior precision that the looks must add to the prior's


@dataclass(frozen=True, eq=False)
class LookEvidence:
    """The log marginal likelihood of a run's looks, in units of their own error.

    Evidences of one run may be compared: those of its model and of smaller ones (`fixed`). Looks of another run, or of
    another model, are other measurements, and their evidences say nothing about each other.

    Attributes
    ----------
    log
        Log density of the standardised estimate of the looks, averaged over the prior.
    about
        Names, mean and covariance of the draws.
    estimate, precision
        What the looks alone say of the parameters: an estimate, and the precision of its error.
    prior_mean, prior_precision
        Of the normal prior; infinite for parameters that are fixed.
    """

    log: float
    about: Evidence
    estimate: Floats
    precision: Floats
    prior_mean: Floats
    prior_precision: Floats

    def fixed(self, parameters: str | Sequence[str] | None = None, null: npt.ArrayLike = 0.0) -> LookEvidence:
        """Return the evidence for the model in which these parameters have the values `null`, and no prior.

        The difference of the two `log` is the log of the Bayes factor between them.

        Parameters
        ----------
        parameters
            Names of parameters, or of blocks of them; all by default.
        null
            One value for all of them, or one for each.
        """
        places = self.about.chosen(parameters)
        values = reals(null, "null")
        if values.ndim > 1 or (values.ndim == 1 and len(values) != len(places)):
            raise InvalidArgument(f"null must be one number or {len(places)} numbers, but its shape is {values.shape}")
        mean, precision = self.prior_mean.copy(), self.prior_precision.copy()
        mean[places], precision[places] = values, np.inf
        return _evidence(self.about, self.estimate, self.precision, mean, precision)

    def __float__(self) -> float:
        return self.log

    def __str__(self) -> str:
        return f"log evidence {self.log:.2f} of {len(self.about.names)} standardised estimates"


def evidence_of_looks(post: Posterior) -> LookEvidence:
    """Return the evidence of a Newton run's looks for its model."""
    if post.plan.get("sampler") != "Newton":
        raise InvalidArgument("evidence needs draws of Newton: those of other samplers are tempered")
    own, found = post.plan["prior_precision"], evidence(post)
    if any(value is None or value <= 0.0 for value in own):
        raise InvalidArgument("evidence needs Normal priors of all parameters: under others the looks have no density")
    prior, mean = np.array(own, dtype=float), np.array(post.plan["prior_mean"], dtype=float)
    total = np.linalg.inv(found.known.spread)
    values, vectors = np.linalg.eigh(total - np.diag(prior))
    looks = (vectors * np.maximum(values, LEAST_SHARE * np.trace(total) / len(prior))) @ vectors.T
    estimate = np.linalg.solve(looks, total @ found.known.mean - prior * mean)
    return _evidence(found, estimate, looks, mean, prior)


def _evidence(
    about: Evidence, estimate: Floats, precision: Floats, prior_mean: Floats, prior_precision: Floats
) -> LookEvidence:
    """Return log N(P^(1/2) (t - m); 0, I + P^(1/2) S P^(1/2)); S is zero where the prior's precision is infinite."""
    values, vectors = np.linalg.eigh(precision)
    root = (vectors * np.sqrt(values)) @ vectors.T
    covariance = np.eye(len(values)) + root @ np.diag(1.0 / prior_precision) @ root
    gap = root @ (estimate - prior_mean)
    log_det = float(np.linalg.slogdet(covariance)[1])
    log = -0.5 * (float(gap @ np.linalg.solve(covariance, gap)) + log_det + len(gap) * math.log(2.0 * math.pi))
    return LookEvidence(log, about, estimate, precision, prior_mean, prior_precision)
