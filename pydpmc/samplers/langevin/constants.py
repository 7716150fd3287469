"""The public constants of a Langevin run: curvatures, sensitivity, and all errors of its arithmetic.

Every bound is proved in docs/privacy/langevin.md; lemmas are cited by their number there.
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

NOISE_BITS = 32  # of csrc/random/noise/rounded_normal.hpp
PRIOR_SDS = 1000.0  # half the width of the box that theta is kept in
LIKELIHOOD_SDS = 12.0  # the same beyond where a maximum of the likelihood can be
WIDEST_BOX = 2.0**57  # in grid steps, if nothing else limits it
UPWARDS, DOWNWARDS = 1.0 + 1e-12, 1.0 - 1e-12  # roundings of these bounds themselves
LARGEST_FACTOR = 2.0**240  # where no square or product of a gradient comes near the 2^500 beyond which it is left out
INACTIVE = 1.0 + 1e-6  # what a clip must be above a gradient not to act on its computed value


@dataclass(frozen=True)
class Curvature:
    """m and M of U for every data set of at most the public number of records."""

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
    """Return the step of the grid that theta lives on: the noise's standard deviation over 2^32."""
    return math.ldexp(math.sqrt(2.0 * step_size), -NOISE_BITS)


@dataclass(frozen=True)
class Box:
    """Where theta is kept: centre +- radius, coordinate by coordinate."""

    centre: Floats
    radius: Floats
    unit: float

    @property
    def reach(self) -> float:
        """The largest norm of theta."""
        return float(np.linalg.norm(np.abs(self.centre) + self.radius + self.unit)) * UPWARDS


def box(model: Model, public: Public, w: float, step_size: float) -> Box:
    """Return a box that no sensible draw leaves; a projection onto it is harmless (lemma 1)."""
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
    """Of the compiled run: the clip that never acts, the grid of the gradients, and the errors of a gradient of U."""

    box: Box
    clip: float
    gradient_unit: float
    of_record: float  # distance of a record's computed gradient from the exact one
    of_update: float  # distance of a computed step from the exact one, over h, given the sum of gradients
    of_point: float  # the exact gradient's change between theta and the double that stands for it


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
            "row_norm (or x_bounds) and the prior are so wide that gradients cannot be computed accurately; scale the "
            "features, or give a narrower prior"
        )
    gradient_unit = 2.0 ** math.ceil(math.log2(max(clip * 2.0**-49, n * clip * 2.0**-60)))
    pull = float(np.linalg.norm(model.prior_precision(public) * (where.radius + where.unit))) + w * n * clip
    return Arithmetic(
        box=where,
        clip=clip,
        gradient_unit=gradient_unit,
        of_record=(math.sqrt(dim) * gradient_unit / 2.0 + evaluation + 2.0 * ROUNDING * clip) * UPWARDS,
        of_update=(math.sqrt(dim) * where.unit / step_size + 16.0 * ROUNDING * pull) * UPWARDS,
        of_point=3.0 * ROUNDING * curvature(model, public, w).largest * where.reach * UPWARDS,
    )


def refuse_left_out_gradients(model: Model, public: Public, reach: float) -> None:
    """Refuse bounds within which the core could leave a record out at one theta and not at another (lemma 5)."""
    largest = model.largest_factor(public, reach)
    if largest is None or not largest <= LARGEST_FACTOR or not (public.feature_norm or 1.0) >= 1.0 / LARGEST_FACTOR:
        raise InvalidArgument(
            "row_norm (or x_bounds), the prior and the scale of the model let numbers beyond 2^240 (or below 2^-240) "
            "into a gradient, where the core would leave records out at some theta only; change the units of the data"
        )


def steepest_gradient(model: Model, public: Public, reach: float) -> float:
    """Return the largest norm of one record's gradient while |theta| <= reach."""
    lipschitz = model.lipschitz(public)
    if lipschitz is not None:
        return lipschitz * UPWARDS
    smoothness, likely = model.smoothness(public), model.theta_reach(public)
    assert smoothness is not None
    assert likely is not None  # where the gradient of some record vanishes
    return smoothness * (likely + reach) * UPWARDS
