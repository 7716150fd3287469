"""Made-up records of a plan's public shape: what a rehearsal runs on."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checks import given, reals
from ..data.data import Data
from ..data.public import Public, typical_rows
from ..errors import InvalidArgument, WrongType
from ..models import Model
from ..models.simulation import Parameters, prior_draw, simulate
from ..planning.plan import Plan
from ..posterior.posterior import Posterior

Floats = npt.NDArray[np.float64]
SHORTER, TRIES = 0.7, 15  # of a truth drawn from the prior that the declared bounds do not leave room for
BEYOND = 0.1  # over the root of their number: share of values beyond the bounds, whose clamping no interval then sees
RELEASED_ROWS = 5000


def checked_features(features: Any, public: Public) -> Floats | None:
    """Return public rows to draw from, or None for rows drawn within the declared bounds."""
    if isinstance(features, Data):
        raise WrongType("features must be public: a rehearsal never sees a Data. Pass a public table, or leave it out")
    if isinstance(features, str):
        if features != "declared":
            raise InvalidArgument(f'features must be "declared" or a public array, not {given(features)}')
        return None
    rows = reals(features, "features")
    if rows.ndim != 2 or rows.shape[1] != public.width or len(rows) < 1:
        raise InvalidArgument(f"features must have shape (rows, {public.width}), but their shape is {rows.shape}")
    return rows


def released_rows(post: Posterior, public: Public, seed: int) -> Floats | None:
    """Return rows with the mean and covariance that ``Newton``'s looks showed; None if they showed none."""
    moments = None if post.agreement is None else post.agreement.moments
    if moments is None or len(moments[0]) < public.width or public.width == 0:
        return None
    mean, covariance = (np.array(part) for part in moments)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rows = mean + np.random.default_rng(seed).normal(size=(RELEASED_ROWS, len(mean))) @ root.T
    return np.asarray(rows[:, len(mean) - public.width :])


def checked_truth(truth: Any, plan: Plan) -> Floats | None:
    """Return the given theta, or None for one drawn from the prior."""
    if isinstance(truth, Posterior):
        if sum(values.shape[2] for values in truth.draws.values()) != plan.settings.dim:
            raise InvalidArgument("truth: the posterior has other parameters than the plan; pass a result of this plan")
        return np.concatenate([truth.draws[block.name].mean(axis=(0, 1)) for block in plan.model.blocks(plan.public)])
    if isinstance(truth, str):
        if truth != "prior":
            raise InvalidArgument(f'truth must be "prior" or the values of all parameters, not {given(truth)}')
        return None
    values = reals(truth, "truth")
    if values.shape != (plan.settings.dim,):
        raise InvalidArgument(f"truth must hold {plan.settings.dim} numbers, but its shape is {values.shape}")
    return values


class Stage:
    """Draws tables: each with a truth, features and targets of its own."""

    def __init__(self, plan: Plan, truth: Floats | None, features: Floats | None, units: int) -> None:
        self._plan, self._truth, self._features, self._units = plan, truth, features, units

    def table(self, random: np.random.Generator) -> tuple[Parameters, Data, Data]:
        """Return the true parameters, the records, and the records without their groups."""
        model, public = self._plan.model, self._plan.public
        size = 1 if not public.grouped else (public.max_group_size or 1)
        count = self._units * size
        if self._features is None:
            x = typical_rows(public, count, random)
        else:
            x = self._features[random.integers(0, len(self._features), count)]
        scale = 1.0
        drawn = prior_draw(model, public, random) if self._truth is None else {}
        for _ in range(TRIES):
            parameters = _named(model, public, self._truth) if self._truth is not None else _scaled(model, drawn, scale)
            made = simulate(model, parameters, x, random)
            if self._truth is not None or _beyond(public, made, model.needs_target) <= BEYOND / math.sqrt(count):
                break
            scale *= SHORTER
        data = self._data(public, x, made, size)
        if not public.grouped:
            return parameters, data, data
        return parameters, data, self._data(dataclasses.replace(public, grouped=False, max_group_size=None), x, made, 1)

    def _data(self, public: Public, x: Floats, made: Floats, size: int) -> Data:
        if public.has_target:
            rows, target = x, made
        else:
            rows, target = made.reshape(len(made), -1), None
        bounds = None if public.x_bounds is None else tuple(np.array(public.x_bounds).T)
        groups = np.repeat(np.arange(self._units), size) if public.grouped else None
        return Data(
            rows,
            target,
            row_norm=public.row_norm,
            x_bounds=bounds,
            y_bounds=public.y_bounds,
            columns=public.columns,
            public_n=public.public_n,
            groups=groups,
            max_group_size=public.max_group_size,
            base_rate=public.base_rate,
            typical_norm=public.typical_norm,
            second_moments=public.second_moments,
            sample_weight=None if public.max_weight is None else np.ones(len(x)),
            max_weight=public.max_weight,
        )


def _scaled(model: Model, drawn: Parameters, scale: float) -> Parameters:
    return {name: scale * values for name, values in drawn.items()}


def _named(model: Model, public: Public, theta: Floats) -> Parameters:
    named, start = {}, 0
    for block in model.blocks(public):
        named[block.name] = theta[start : start + block.size]
        start += block.size
    return named


def _beyond(public: Public, made: Floats, has_target: bool) -> float:
    """Return the share of values beyond the declared bounds, which would be clamped."""
    if has_target:
        if public.y_bounds is None:
            return 0.0
        low, high = public.y_bounds
        return float(((made < low) | (made > high)).mean())
    rows = made.reshape(len(made), -1)
    beyond = np.zeros(len(rows), dtype=bool)
    if public.x_bounds is not None:
        low_of, high_of = np.array(public.x_bounds).T
        beyond |= ((rows < low_of) | (rows > high_of)).any(axis=1)
    if public.row_norm is not None:
        beyond |= np.linalg.norm(rows, axis=1) > public.row_norm
    return float(beyond.mean())
