"""What a posterior of Newton can say beyond its draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy.typing as npt

from .bayes_factor import BayesFactor, bayes_factor
from .evidence import LookEvidence, evidence_of_looks
from .looks import Information, information
from .plots import plot_looks

if TYPE_CHECKING:
    from .posterior import Posterior


class OfLooks:
    """Methods of `Posterior` that need the looks of ``Newton``."""

    @property
    def information(self) -> Information:
        """Where the posterior of ``Newton`` comes from, per direction: prior, records, and what privacy noise took."""
        return information(_posterior(self))

    def bayes_factor(self, null: npt.ArrayLike = 0.0, parameters: str | Sequence[str] | None = None) -> BayesFactor:
        """Return the evidence of ``Newton``'s looks for free parameters over a hypothesis that fixes them at `null`.

        It compares the model with the smaller one in which these parameters have the values `null` and all others
        their priors, by the density of the posterior and of the prior at `null`. It depends on how wide the prior is.

        Parameters
        ----------
        null
            One value for all parameters, or one for each.
        parameters
            Names of parameters, or of blocks of them, with Normal priors; all by default.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> data = dp.Data(np.r_[np.ones(7000), np.zeros(3000)])
        >>> post = dp.sample(dp.BernoulliLogit(), data, dp.Newton(), epsilon=1.0, delta=1e-6, progress=False)
        >>> bool(post.bayes_factor(null=0.0).log > 5.0)
        True
        """
        return bayes_factor(_posterior(self), null, parameters)

    @property
    def evidence(self) -> LookEvidence:
        """Log evidence of ``Newton``'s looks for the model and its prior, and for smaller models.

        Examples
        --------
        >>> import numpy as np, pydpmc as dp
        >>> data = dp.Data(np.r_[np.ones(7000), np.zeros(3000)])
        >>> post = dp.sample(dp.BernoulliLogit(), data, dp.Newton(), epsilon=1.0, delta=1e-6, progress=False)
        >>> bool(post.evidence.log > post.evidence.fixed("theta", 0.0).log + 5.0)
        True
        """
        return evidence_of_looks(_posterior(self))

    def plot_looks(self, parameters: Sequence[str] | None = None) -> Any:
        """Return a matplotlib figure: where ``Newton`` looked, and the posterior that the looks gave."""
        return plot_looks(_posterior(self), parameters)


def _posterior(of: OfLooks) -> Posterior:
    return cast("Posterior", of)
