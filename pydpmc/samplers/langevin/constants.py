"""The public constants of a Langevin run: curvatures, sensitivity, and all errors of its arithmetic.

docs/privacy/langevin.md proves every bound; comments cite its lemmas by number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...data.public import Public
from ...errors import InvalidArgument
from ...models import Model
from ...models.base import ROUNDING

Floats = npt.NDArray[np.float64]

NOISE_BITS = 32  # as in csrc/random/noise/rounded_normal.hpp
PRIOR_SDS = 1000.0  # half width of the box of theta in prior standard deviations
LIKELIHOOD_SDS = 12.0  # margin of the box around all possible maxima of the likelihood, in standard deviations
WIDEST_BOX = 2.0**57  # largest half width in grid steps
UPWARDS, DOWNWARDS = 1.0 + 1e-12, 1.0 - 1e-12  # cover the rounding of these bounds
LARGEST_FACTOR = 2.0**240  # keeps squares and products far below 2^500, beyond which the core drops a gradient
INACTIVE = 1.0 + 1e-6  # a clip of this many times the largest gradient never acts on a computed gradient


@dataclass(frozen=True)
class Curvature:
    """The curvature bounds m and M of U for every data set of at most the public number of records."""

    least: float
    largest: float

    @property
    def condition(self) -> float:
        """M / m."""
        return self.largest / self.least if self.least > 0 else math.inf


def curvature(model: Model, public: Public, w: float) -> Curvature:
    """Return the curvatures of U = -log prior - w sum log p over public.n records."""
    precision = model.prior_precision(public)
    smoothness = model.smoothness(public)
    assert smoothness is not None
    return Curvature(
        (w * public.n * model.strong_convexity(public) + float(precision.min())) * DOWNWARDS,
        (w * public.n * smoothness + float(precision.max())) * UPWARDS,
    )


def grid_unit(step_size: float) -> float:
    """Return the grid step of theta: the standard deviation of the noise over 2^32."""
    return math.ldexp(math.sqrt(2.0 * step_size), -NOISE_BITS)


@dataclass(frozen=True)
class Box:
    """The box onto which theta is projected: centre +- radius in each coordinate."""

    centre: Floats
    radius: Floats
    unit: float

    @property
    def reach(self) -> float:
        """The largest norm of theta."""
        return float(np.linalg.norm(np.abs(self.centre) + self.radius + self.unit)) * UPWARDS


def box(model: Model, public: Public, w: float, step_size: float) -> Box:
    """Return a box that contains every plausible draw; projection onto it does not weaken the guarantee (lemma 1)."""
    unit, centre = grid_unit(step_size), model.centre(public)
    precision = model.prior_precision(public)
    widest = WIDEST_BOX * unit
    likely = model.theta_reach(public)
    if likely is None:
        radius = np.array([PRIOR_SDS / math.sqrt(p) if p > 0 else widest for p in precision])
    else:
        smoothness = model.smoothness(public)
        assert smoothness is not None
        radius = likely + np.abs(centre) + LIKELIHOOD_SDS / np.sqrt(w * public.n * smoothness + precision)
    return Box(centre, np.minimum(radius, widest), unit)


@dataclass(frozen=True)
class Arithmetic:
    """Numbers of the compiled run: a clip that never acts, the grid of gradients, and errors of the gradient of U."""

    box: Box
    clip: float
    gradient_unit: float
    of_record: float  # error of one record's computed gradient
    of_update: float  # error of a computed step, divided by h, given the sum of gradients
    of_point: float  # change of the exact gradient between theta and its rounding to double


def arithmetic(model: Model, public: Public, w: float, step_size: float) -> Arithmetic:
    """Return the errors of the compiled run (lemmas 3 and 4)."""
    where = box(model, public, w, step_size)
    refuse_left_out_gradients(model, public, where.reach)
    dim, n = model.dim(public), public.n
    steepest = steepest_gradient(model, public, where.reach)
    evaluation = model.gradient_error(public, where.reach)
    assert evaluation is not None
    clip = steepest * INACTIVE
    if not evaluation < 1e-7 * steepest:
        raise InvalidArgument(
            "row_norm (or x_bounds) and the prior are too wide to compute gradients accurately; rescale the features, "
            "or use a narrower prior"
        )
    gradient_unit = 2.0 ** math.ceil(math.log2(max(clip * 2.0**-49, n * clip * 2.0**-60)))
    pull = float(np.linalg.norm(model.prior_precision(public) * (where.radius + where.unit))) + w * n * clip
    return Arithmetic(
        box=where,
        clip=clip,
        gradient_unit=gradient_unit,
        of_record=(math.sqrt(dim) * gradient_unit / 2.0 + evaluation + 2.0 * ROUNDING * clip) * UPWARDS,
        of_update=(1.5 * math.sqrt(dim) * where.unit / step_size + 16.0 * ROUNDING * pull) * UPWARDS,
        of_point=3.0 * ROUNDING * curvature(model, public, w).largest * where.reach * UPWARDS,
    )


def refuse_left_out_gradients(model: Model, public: Public, reach: float) -> None:
    """Refuse bounds under which the core could drop a record at one theta and not at another (lemma 5)."""
    largest = model.largest_factor(public, reach)
    if largest is None or not largest <= LARGEST_FACTOR or not (public.feature_norm or 1.0) >= 1.0 / LARGEST_FACTOR:
        raise InvalidArgument(
            "row_norm (or x_bounds), the prior and the scale of the model allow numbers beyond 2^240 (or below 2^-240) "
            "in a gradient, for which the core could drop records at some theta only; change the units of the data"
        )


def steepest_gradient(model: Model, public: Public, reach: float) -> float:
    """Return the largest norm of one record's gradient while |theta| <= reach."""
    lipschitz = model.lipschitz(public)
    if lipschitz is not None:
        return lipschitz * UPWARDS
    smoothness, likely = model.smoothness(public), model.theta_reach(public)
    assert smoothness is not None
    assert likely is not None
    return smoothness * (likely + reach) * UPWARDS
