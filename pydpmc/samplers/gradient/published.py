"""The step-size and noise rules of two papers as printed, but priced by our accountant.

Both inject half of the variance that the target exp(-U) needs. Unless privacy requires more noise, the chain therefore
targets exp(-2U).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...accounting.events.gaussian import largest_mu
from ...errors import BudgetError, InvalidArgument
from ..request import clip_of_unit
from .base import Constant, Floats, Polynomial, Schedule, as_schedule

if TYPE_CHECKING:
    from ..request import Request
    from .settings import GradientSettings

CALIBRATIONS = ("wang2015", "li2019")
AS_PRINTED = math.sqrt(0.5)  # the papers' noise variance is eta, but Langevin dynamics need 2 eta
FARTHEST = 16.0  # the search for a step size ends at this multiple of the limit for large noise multipliers


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
            f'calibration="{sampler.calibration}" needs a public number of records (public_n in Data) and w = 1'
        )
    return _wang2015(request) if sampler.calibration == "wang2015" else _li2019(request)


def _wang2015(request: Request) -> GradientSettings:
    """Algorithm 2 of Wang et al. (2015): variance max(A eta^2, eta), A = 128 steps (L / epsilon)^2 log log."""
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
    """Algorithm 1 of Li et al. (2019): eta_t = eta_1 t^(-1/3) on the mean gradient, variance eta_t / n."""
    per_mean = 1.0 / (request.n or math.nan)
    sampling = request.sampler.sampling or "poisson"
    if request.sampler.step_size is not None:
        given = Scaled(as_schedule(request.sampler.step_size), per_mean)
        return _within_budget(request, _settings(request, given, sampling))
    if request.epsilon is None:
        raise InvalidArgument('calibration="li2019" needs step_size, or epsilon and delta to choose it')
    if sampling == "full":
        raise InvalidArgument('calibration="li2019" needs step_size if sampling="full"')
    return _largest(request, _settings(request, Polynomial(a=per_mean, gamma=1.0 / 3.0), sampling))


def _largest(request: Request, unit: GradientSettings) -> GradientSettings:
    """Return the run with the largest eta_1 within the budget; `unit` is the run with eta_1 = 1."""
    from .choose import costliest_share

    assert request.epsilon is not None
    assert request.delta is not None
    assert isinstance(unit.schedule, Polynomial)
    sensitivity = unit.rate * unit.sensitivity * (2.0 if request.adjacency == "replace" else 1.0)
    square = request.chains * float(((sensitivity / unit.noise) ** 2).sum())  # mu^2 in the limit of large noise
    top = FARTHEST * largest_mu(request.epsilon, request.delta) ** 2 / square
    first = unit.schedule.a
    return costliest_share(
        request,
        lambda share: dataclasses.replace(unit, schedule=Polynomial(a=share * top * first, gamma=1.0 / 3.0)),
        f'calibration="li2019": epsilon = {request.epsilon:g} cannot pay for {unit.steps} steps at any step_size',
    )


def _settings(request: Request, schedule: Schedule, sampling: str) -> GradientSettings:
    from .choose import settings_of

    sampler = dataclasses.replace(request.sampler, step_size=schedule, sampling=sampling)
    settings = settings_of(dataclasses.replace(request, sampler=sampler), request.sampler.steps)
    return dataclasses.replace(settings, heat=AS_PRINTED, calibration=sampler.calibration)


def _within_budget(request: Request, settings: GradientSettings) -> GradientSettings:
    if request.epsilon is not None and not request.fits(settings):
        raise BudgetError(
            f'calibration="{settings.calibration}" costs more than epsilon = {request.epsilon:g} at delta = '
            f"{request.delta:g} by our accounting: use a smaller step_size, fewer steps or a larger batch_size"
        )
    return settings
