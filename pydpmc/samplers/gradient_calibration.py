"""The step-size and noise rules of two papers, by name, as they are printed; priced by our accountant, not theirs.

Both inject half of the variance that the target exp(-U) needs, so where privacy asks for no more the chain targets
exp(-2U).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import BudgetError, InvalidArgument
from .schedules import Constant, Floats, Polynomial, Schedule, as_schedule
from .units import clip_of_unit

if TYPE_CHECKING:
    from .gradient_settings import GradientSettings
    from .request import Request

CALIBRATIONS = ("wang2015", "li2019")
AS_PRINTED = math.sqrt(0.5)  # noise variance eta where Langevin dynamics need 2 eta
SHARES = (1.0, 0.99, 0.98, 0.96, 0.9)  # of the step size that max_step_size finds, for what it leaves out


@dataclass(frozen=True)
class Scaled(Schedule):
    """Another schedule times a factor."""

    schedule: Schedule
    factor: float

    def values(self, steps: int) -> Floats:
        """Return the other schedule's values times the factor."""
        return self.factor * self.schedule.values(steps)


def calibrated(request: Request) -> GradientSettings:
    """Return the run that the paper prescribes."""
    sampler = request.sampler
    if not request.private or sampler.steps is None or (sampler.batch_size is None and sampler.sampling != "full"):
        raise InvalidArgument(f'calibration="{sampler.calibration}" needs steps and batch_size, and private=True')
    if request.n is None or request.w != 1.0:
        raise InvalidArgument(
            f'calibration="{sampler.calibration}" knows no tempering, and needs a public number of records'
        )
    return _wang2015(request) if sampler.calibration == "wang2015" else _li2019(request)


def _wang2015(request: Request) -> GradientSettings:
    """Algorithm 2 of papers/001: variance max(A eta^2, eta), A = 128 steps (L / epsilon)^2 log log."""
    if request.epsilon is None or request.delta is None:
        raise InvalidArgument('calibration="wang2015" computes its noise from epsilon and delta: give both')
    sampling = request.sampler.sampling or ("without_replacement" if request.adjacency == "replace" else "poisson")
    steps = request.sampler.steps
    logs = math.log(2.5 * steps / request.delta) * math.log(2.0 / request.delta)
    clip = request.sampler.clip or clip_of_unit(request.model, request.public) or math.nan
    variance = 128.0 * steps * (clip / request.epsilon) ** 2 * logs
    step_size = request.sampler.step_size or Constant(1.0 / variance)
    settings = _settings(request, as_schedule(step_size), sampling)
    return _within_budget(request, dataclasses.replace(settings, least_variance=variance))


def _li2019(request: Request) -> GradientSettings:
    """Algorithm 1 of papers/003: eta_t = eta_1 t^(-1/3) on the mean gradient, variance eta_t / n."""
    per_mean = 1.0 / (request.n or math.nan)
    sampling = request.sampler.sampling or "poisson"
    if request.sampler.step_size is not None:
        given = Scaled(as_schedule(request.sampler.step_size), per_mean)
        return _within_budget(request, _settings(request, given, sampling))
    if request.epsilon is None:
        raise InvalidArgument('calibration="li2019" needs step_size, or epsilon and delta to find the largest')
    largest = _largest(request, _settings(request, Constant(per_mean), sampling))
    for share in SHARES:
        settings = _settings(request, Polynomial(a=share * largest * per_mean, gamma=1.0 / 3.0), sampling)
        if _affordable(request, settings):
            return settings
    return _within_budget(request, settings)


def _largest(request: Request, settings: GradientSettings) -> float:
    from ..max_step_size import max_step_size

    assert request.n is not None
    if settings.sampling == "full":
        raise InvalidArgument('calibration="li2019" with sampling="full": give step_size')
    return max_step_size(
        request.epsilon or math.nan,
        request.delta or math.nan,
        request.n,
        settings.steps,
        settings.clip,
        batch_size=settings.batch_size,
        adjacency="replace" if request.adjacency == "replace" else "add_remove",
        decay=1.0 / 3.0,
        sampling="poisson" if settings.sampling == "poisson" else "without_replacement",
        noise="paper",
        chains=request.chains,
    )


def _settings(request: Request, schedule: Schedule, sampling: str) -> GradientSettings:
    from .gradient_choose import settings_of

    sampler = dataclasses.replace(request.sampler, step_size=schedule, sampling=sampling)
    settings = settings_of(dataclasses.replace(request, sampler=sampler), request.sampler.steps)
    return dataclasses.replace(settings, heat=AS_PRINTED, calibration=sampler.calibration)


def _affordable(request: Request, settings: GradientSettings) -> bool:
    from .gradient_choose import cost

    return request.epsilon is None or cost(request, settings) <= request.epsilon


def _within_budget(request: Request, settings: GradientSettings) -> GradientSettings:
    if not _affordable(request, settings):
        raise BudgetError(
            f'calibration="{settings.calibration}" costs more than epsilon = {request.epsilon:g} at delta = '
            f"{request.delta:g}, whatever the paper says: take a smaller step_size, fewer steps or a larger batch_size"
        )
    return settings
