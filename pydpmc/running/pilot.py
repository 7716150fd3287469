"""A pilot: one small, charged look at the records, so that the rest of a budget is planned for the table as it is.

It is a run of ``Newton`` with one look, under its claim (docs/privacy/newton.md); what is computed from the look is
post-processing. The plan of the next release may depend on it: docs/privacy/pilot.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..accounting import Guarantee
from ..data.data import Data, require_data
from ..errors import InvalidArgument
from ..models import LogisticRegression, Model, PoissonRegression
from ..models.linear_predictor import LinearPredictor
from ..planning.plan import plan
from ..posterior.looks import Look
from ..samplers import Newton
from ..samplers.newton.settings import NewtonSettings
from .run import run

Floats = npt.NDArray[np.float64]
ABOVE_NOISE = 1.0  # an eigenvalue must exceed the edge of the noise by this factor to be taken as seen
LEAST_HIDDEN = 0.05  # of the edge: a hidden direction may be anywhere below it
LEAST_RATE = 1e-3


@dataclass(frozen=True)
class Pilot:
    """What one charged look says of a table, for forecasts alone.

    Attributes
    ----------
    second_moments
        E x x' of the features, smoothed where noise hides it: hidden directions share what is left of the trace,
        falling off as 1/k.
    typical_norm
        The root of its trace.
    base_rate
        Share of records with y = 1, or mean count; None where the look does not show it.
    seen
        How many directions exceed the noise.
    guarantee
        What was promised for the look. It composes with that of the next release: a ledger keeps the sum.
    """

    second_moments: Floats
    typical_norm: float
    base_rate: float | None
    seen: int
    guarantee: Guarantee

    def informed(self, data: Data) -> Data:
        """Return the same records with these facts for forecasts."""
        require_data(data)
        return data.knowing(
            base_rate=self.base_rate, typical_norm=self.typical_norm, second_moments=self.second_moments
        )


def pilot(
    model: Model,
    data: Data,
    *,
    epsilon: float,
    delta: float,
    adjacency: Any = "replace",
    ledger: Any = None,
    seed: int | None = None,
) -> Pilot:
    """Spend a small part of a budget on one look at the records, to plan the rest for the table as it is.

    Parameters
    ----------
    model
        A regression that ``Newton`` is proven for.
    data, epsilon, delta, adjacency
        As for ``sample``; the budget of the pilot alone.
    ledger, seed
        As for ``run``.

    Examples
    --------
    >>> import numpy as np, pydpmc as dp
    >>> rng = np.random.default_rng(3)
    >>> x = rng.normal(size=(50_000, 2)) * [0.5, 0.05]
    >>> data = dp.Data(x, rng.random(50_000) < 0.1, row_norm=1.0)
    >>> look = dp.pilot(dp.LogisticRegression(intercept=True), data, epsilon=0.2, delta=1e-7)
    >>> bool(0.08 < look.base_rate < 0.12), look.seen >= 1
    (True, True)
    >>> informed = look.informed(data)
    >>> plan = dp.plan(dp.LogisticRegression(intercept=True), informed.public, epsilon=0.8, delta=1e-6)
    """
    require_data(data)
    if not isinstance(model, LinearPredictor):
        raise InvalidArgument(f"model: a pilot shows the rows of a regression; {type(model).__name__} has no features")
    if data.public.max_weight is not None:
        raise InvalidArgument(
            "sample_weight: a pilot is one look, which of weighted records does not show how gradients vary; declare "
            "base_rate, typical_norm or second_moments in Data if they are publicly known, or leave the pilot out"
        )
    size = data.public.size(adjacency)
    if size is None:
        raise InvalidArgument("public_n must be declared for a pilot under add_remove: it shows sums, not means")
    planned = plan(model, data.public, Newton(looks=1), epsilon=epsilon, delta=delta, adjacency=adjacency)
    post = run(planned, data, ledger=ledger, seed=seed, progress=False, anyway=True)
    assert post.looks is not None
    assert isinstance(planned.settings, NewtonSettings)
    family = planned.settings.family
    per_record = 1.0 if family.predictors > 1 else float(family.link.curvature(np.zeros(1))[0])
    skip = int(model.has_intercept)
    moments, seen = smoothed(post.looks[0], skip, size * per_record)
    rate = base_rate(model, post.looks[0], size) if skip else None
    return Pilot(moments, math.sqrt(float(np.trace(moments))), rate, seen, post.guarantee)


def smoothed(look: Look, skip: int, weight: float) -> tuple[Floats, int]:
    """Return second moments of the features, and how many of their directions exceed the noise.

    Symmetric noise of standard deviation tau/sqrt(2) off the diagonal has eigenvalues up to tau sqrt(2 d).
    """
    values, vectors = np.linalg.eigh(look.curvature[skip:, skip:] / weight)
    values, vectors = values[::-1], vectors[:, ::-1]
    count = len(values)
    edge = ABOVE_NOISE * look.tau * math.sqrt(2.0 * count) / weight
    seen = max(1, int((values > edge).sum()))
    shown = np.maximum(values[:seen], edge * 1e-3)
    rest = np.arange(1.0, count - seen + 1.0) ** -1.0
    left = min(max(float(values.sum()) - float(shown.sum()), 0.0), float(rest.sum()) * min(edge, float(shown[-1])))
    hidden = rest * max(left / max(float(rest.sum()), 1e-300), LEAST_HIDDEN * edge)
    spectrum = np.concatenate([shown, np.minimum(hidden, shown[-1])])
    return np.asarray((vectors * spectrum) @ vectors.T), seen


def base_rate(model: Model, look: Look, size: int) -> float | None:
    """Return the share of y = 1, or the mean count, from the gradient of the intercept at zero."""
    mean = float(look.gradient[0]) / size
    if isinstance(model, LogisticRegression):
        return min(max(0.5 + mean, LEAST_RATE), 1.0 - LEAST_RATE)
    if isinstance(model, PoissonRegression):
        return max(1.0 + mean, LEAST_RATE)
    return None
