"""The looks of a Newton run: the noised gradients and curvatures that it released at public points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidArgument

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Look:
    """A noised gradient and curvature of the log-likelihood, summed over all records.

    Attributes
    ----------
    theta
        The public point of the look.
    gradient
        The sum of the records' gradients plus noise of standard deviation `sigma`.
    curvature
        The sum of their curvatures plus symmetric noise: standard deviation `tau` on the diagonal, tau / sqrt(2) off
        it. Entries that were not released (between blocks) are zero. Of a softmax it is the sum of x x', which all
        classes share.
    sigma, tau
        Public noise levels.
    outer
        Whether `curvature` is the sum of outer products of the records' gradients.
    clip
        For counts: where the score and the counts themselves were clipped. Looks with the last look's clip were pooled.
    """

    theta: Floats
    gradient: Floats
    curvature: Floats
    sigma: float
    tau: float
    outer: bool = False
    clip: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the look as plain values."""
        return {
            "theta": self.theta.tolist(),
            "gradient": self.gradient.tolist(),
            "curvature": self.curvature.tolist(),
            "sigma": self.sigma,
            "tau": self.tau,
            "outer": self.outer,
            "clip": None if self.clip is None else list(self.clip),
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Look:
        """Return the inverse of `to_dict`."""
        arrays = {name: np.array(saved[name], dtype=np.float64) for name in ("theta", "gradient", "curvature")}
        outer = bool(saved.get("outer", False))
        clip = None if saved.get("clip") is None else (float(saved["clip"][0]), float(saved["clip"][1]))
        return cls(**arrays, sigma=float(saved["sigma"]), tau=float(saved["tau"]), outer=outer, clip=clip)


@dataclass(frozen=True, eq=False)
class Information:
    """Shares of the posterior's precision by direction, from the least to the best known direction.

    Attributes
    ----------
    directions
        Unit vectors in the space of theta, one per row.
    prior
        Share of the posterior's precision that comes from the prior.
    records
        Share that comes from the released looks.
    lost
        Share of the records' own precision that the privacy noise destroyed.
    """

    directions: Floats
    prior: Floats
    records: Floats
    lost: Floats

    def __str__(self) -> str:
        lines = ["direction     prior   records   lost to privacy"]
        rows = zip(self.prior, self.records, self.lost, strict=True)
        lines += [f"{k:>9}{p:>10.3f}{r:>10.3f}{w:>18.3f}" for k, (p, r, w) in enumerate(rows)]
        return "\n".join(lines)


def information(post: Posterior) -> Information:
    """Return the sources of a Newton posterior's precision."""
    if not post.looks:
        raise InvalidArgument("information: this posterior has no looks, which only Newton releases")
    if len(post.looks[0].curvature) != len(post.looks[0].theta):
        raise InvalidArgument("information: the looks of a softmax hold no curvature of theta to compare with")
    precision = post.plan["prior_precision"]
    if any(value is None for value in precision):
        raise InvalidArgument("information: priors must be Normal or Flat; others have no fixed precision")
    draws = np.concatenate(list(post.draws.values()), axis=2)
    total = np.linalg.inv(np.atleast_2d(np.cov(draws.reshape(-1, draws.shape[2]).T)))
    pooled = [look for look in post.looks if look.clip == post.looks[-1].clip]
    looks = [look for look in pooled if not look.outer] or pooled
    weights = np.array([look.tau**-2.0 for look in looks])
    curvature = np.einsum("k,kij->ij", weights / weights.sum(), np.array([look.curvature for look in looks]))
    values, vectors = np.linalg.eigh(curvature)
    directions = vectors.T
    of_all = np.einsum("ki,ij,kj->k", directions, total, directions)
    of_prior = np.minimum(np.einsum("ki,i,ki->k", directions, np.array(precision, dtype=float), directions), of_all)
    without = np.maximum(values, of_all - of_prior)
    lost = 1.0 - (of_all - of_prior) / np.maximum(without, 1e-300)
    return Information(directions, of_prior / of_all, 1.0 - of_prior / of_all, lost)
