"""Step size and number of steps for a given bias, in the quadratic approximation; the guarantee does not depend on it.

In a direction of curvature v the variance after the last half step is 1/v whatever h is, and after t steps a start with
gradient g leaves an offset of g/v (1 - hv)^(t-1) (1 - hv/2). By Cauchy-Schwarz, g^2 <= w n (G^2/B)(v - prior
precision), where G and B are the largest gradient, at the start, and curvature of one record. Where U is not quadratic,
the mean moves by a share of a standard deviation that grows with h; tests/stat/test_langevin_bias.py measures it.
"""

from __future__ import annotations

import math

import numpy as np

from ...data.public import Public
from ...errors import InvalidArgument
from ...models import Model
from .constants import Curvature, curvature, steepest_gradient

MOST_STEPS = 10**9
DIRECTIONS = 400
# tests/stat/test_langevin_bias.py: of all logistic and Huber targets in one dimension the least favourable one moves by
# less than this many standard deviations for hM = 1, and by proportionately less for smaller steps.
BIAS_PER_SHARE = 1.0 / 14.0
MOST_SHARE = 1.4  # of hM; larger steps explore far beyond the posterior, and their bias grows faster than they do
JUST_BELOW = 1.0 - 1e-9


def widest_step(bounds: Curvature, bias: float) -> float:
    """Return the largest step size by which discretisation moves no direction by more than `bias`."""
    share = min(bias / BIAS_PER_SHARE, MOST_SHARE)
    return min(share / bounds.largest, 2.0 * JUST_BELOW / (bounds.largest + bounds.least))


def steps_for_bias(model: Model, public: Public, w: float, step_size: float, bias: float) -> int:
    """Return the fewest steps after which the start biases no direction by more than `bias` standard deviations."""
    bounds = curvature(model, public, w)
    if bounds.least <= 0.0:
        raise InvalidArgument("steps must be given: with a flat prior the effect of the start has no known bound")
    directions = np.geomspace(bounds.least, bounds.largest, DIRECTIONS)
    smoothness, free = model.smoothness(public), float(model.prior_precision(public).min())
    assert smoothness is not None
    reach = float(np.linalg.norm(model.centre(public)))
    steepest = steepest_gradient(model, public, reach) * (model.steepness_at_zero if reach == 0.0 else 1.0)
    pull = math.sqrt(w * public.n * steepest**2 / smoothness)
    offset = pull * np.sqrt(np.maximum(1.0 - free / directions, 0.0))
    moved = step_size * directions
    rate, half = -np.log(np.maximum(np.abs(1.0 - moved), 1e-9)), np.abs(1.0 - 0.5 * moved)

    def bias_after(steps: float) -> float:
        left = np.exp(-(steps - 1.0) * rate) * half
        return float((offset * left + 0.5 * left**2).max())

    high = 1
    while bias_after(high) > bias:
        high *= 2
        if high > MOST_STEPS:
            raise InvalidArgument(
                f"steps: this target has condition number {bounds.condition:.3g} and needs more than "
                f"{MOST_STEPS:.0e} steps; use a narrower prior or a smaller w, or give steps"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bias_after(middle) > bias else (low, middle)
    return high
