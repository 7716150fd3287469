"""Full-batch Langevin dynamics that release only the last iterate (theory: Bok, Su, Altschuler 2024).

Claim: each draw is mu-GDP unconditionally, with mu from the contraction of the hidden steps. Neighbours: replace, or
add_remove with a declared bound on the number of records. Assumes: nothing. Proof: docs/privacy/langevin.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...checks import positive, share, whole
from ...errors import InvalidArgument
from ..base import Sampler
from ..request import check_weight

if TYPE_CHECKING:
    from ..request import Request
    from .settings import LangevinSettings

MOST_DRAWS = 1_000_000
DRAWS_FOR_INTERVAL = 20


@dataclass(frozen=True)
class Langevin(Sampler):
    """Independent posterior draws, each the last iterate of its own chain, whose other iterates stay hidden.

    The price hardly depends on the number of steps, so the chains run until they have converged, and the guarantee
    holds whether they have or not. Needs a convex model with declared bounds (``LogisticRegression``,
    ``SoftmaxRegression``, ``HuberRegression``, ``BernoulliLogit``, ``GaussianMean``) and a ``Normal`` prior. Under
    ``add_remove``, ``Data(public_n=...)`` must be a number that the records do not exceed; the guarantee says that it
    was assumed, and of more records only the first are used.

    Parameters
    ----------
    draws
        Number of independent draws; k draws cost sqrt(k) times the mu of one. With ``"predict"`` the planner chooses
        the number whose mean has the least expected error.
    steps
        Steps of each chain; each step reads all records.
    step_size
        h in theta' = theta - h grad U + sqrt(2h) xi. The last step is half a step with half the noise.
    w, n0
        Tempering weight of the likelihood, or the effective number of records, n0 = w n. By default the largest weight,
        at most 1, within the budget.
    bias
        Largest effect of discretisation on a mean, in posterior standard deviations, and largest remaining effect of
        the start in the same unit. It sets `step_size` and `steps` unless they are given.

    Examples
    --------
    >>> import pydpmc as dp
    >>> public = dp.Public(n=50_000, columns=("a", "b"), has_target=True, row_norm=1.0)
    >>> plan = dp.plan(dp.LogisticRegression(), public, dp.Langevin(), epsilon=1.0, delta=1e-6)
    >>> 0.1 < plan.settings.w < 0.2
    True
    """

    draws: int | Literal["predict"] = 1
    steps: int | None = None
    step_size: float | None = None
    w: float | None = None
    n0: float | None = None
    bias: float = 0.1

    def __post_init__(self) -> None:
        if self.draws != "predict":
            if isinstance(self.draws, str):
                raise InvalidArgument(f'draws must be a positive whole number or "predict", not {self.draws!r}')
            object.__setattr__(self, "draws", whole(self.draws, "draws", most=MOST_DRAWS))
        if self.steps is not None:
            object.__setattr__(self, "steps", whole(self.steps, "steps"))
        if self.step_size is not None:
            positive(self.step_size, "step_size")
        check_weight(self.w, self.n0)
        share(self.bias, "bias (a share of a standard deviation)")
        if self.draws == "predict" and (self.w is not None or self.n0 is not None):
            raise InvalidArgument('draws="predict" chooses draws and w together: leave w and n0 out, or give draws')

    @classmethod
    def candidate(cls, request: Request, purpose: str) -> Langevin:
        """Return so many draws as an interval needs, or as predict best."""
        return cls(draws=DRAWS_FOR_INTERVAL if purpose == "posterior" else "predict")

    def choose(self, request: Request) -> LangevinSettings:
        """Choose the open parameters within the budget."""
        from .choose import choose

        return choose(request)
