"""Intervals and tests for the parameters from private draws: post-processing, at no cost in privacy.

Draws from a tempered posterior are wider than what is known of the parameters, and the prior, which is not tempered,
pulls them. docs/howto/intervals.md derives what undoes both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import inside, names_of, reals, visible
from ..diagnostics import ess
from ..errors import InvalidArgument

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
FEWEST_EFFECTIVE = 10.0
COLUMNS = ("estimate", "se", "low", "high")


@dataclass(frozen=True)
class Intervals:
    """Confidence intervals by parameter name; prints as a table.

    Attributes
    ----------
    rows
        By parameter name: estimate, se (its standard error), low and high.
    level
        The share of data sets for which such an interval covers the truth, if the model is right.
    df
        Degrees of freedom of the t distribution used.
    """

    rows: Mapping[str, Mapping[str, float]]
    level: float
    df: float

    def __getitem__(self, name: str) -> tuple[float, float]:
        """Return (low, high) of one parameter."""
        return self.rows[name]["low"], self.rows[name]["high"]

    def __str__(self) -> str:
        shown = {visible(name): row for name, row in self.rows.items()}
        width = max([9, *(len(name) for name in shown)])
        lines = [f"{100 * self.level:g} % confidence intervals", " " * width + "".join(f"{c:>12}" for c in COLUMNS)]
        lines += [f"{name:<{width}}" + "".join(f"{row[c]:>12.4g}" for c in COLUMNS) for name, row in shown.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class WaldTest:
    """A test that parameters have given values.

    Attributes
    ----------
    statistic
        Of the F distribution with (df_of_parameters, df_of_draws) degrees of freedom under the hypothesis.
    p_value
        The chance of a statistic as large under the hypothesis.
    """

    statistic: float
    p_value: float
    df_of_parameters: int
    df_of_draws: float


@dataclass(frozen=True)
class Estimate:
    """What draws say of the parameters in repeated sampling: an estimate and the covariance of its error."""

    names: tuple[str, ...]
    centre: Floats
    covariance: Floats
    draws: float  # independent ones, or as many as the chain is worth

    def chosen(self, parameters: str | Sequence[str] | None) -> list[int]:
        """Return the places of the parameters of these names; a block's name stands for all its entries."""
        if parameters is None:
            return list(range(len(self.names)))
        wanted = names_of(parameters)
        places = []
        for name in wanted:
            found = [i for i, own in enumerate(self.names) if own == name or own.split("[")[0] == name]
            if not found:
                raise InvalidArgument(
                    f"parameters: no interval for {name!r}; those with a Normal or Flat prior are "
                    f"{', '.join(self.names)}"
                )
            places += found
        return places


def interval(post: Posterior, level: float, parameters: str | Sequence[str] | None) -> Intervals:
    """Return intervals that cover the truth in a share `level` of all data sets."""
    from scipy.special import stdtrit

    inside(level, "level")
    found = estimate(post)
    df = found.draws - 1.0
    quantile = float(stdtrit(df, 0.5 + level / 2.0))
    rows = {}
    for i in found.chosen(parameters):
        centre, se = float(found.centre[i]), math.sqrt(found.covariance[i, i])
        numbers = (centre, se, centre - quantile * se, centre + quantile * se)
        rows[found.names[i]] = dict(zip(COLUMNS, numbers, strict=True))
    return Intervals(rows, level, df)


def wald_test(post: Posterior, null: npt.ArrayLike, parameters: str | Sequence[str] | None) -> WaldTest:
    """Return Hotelling's form of the Wald test that the parameters equal `null`."""
    from scipy.special import fdtrc

    found = estimate(post)
    places = found.chosen(parameters)
    count, left = len(places), found.draws - len(places)
    if left <= 0:
        raise InvalidArgument(
            f"parameters: {found.draws:.3g} draws cannot test {count} parameters at once; take more, or test fewer"
        )
    values = reals(null, "null")
    if values.ndim > 1 or (values.ndim == 1 and len(values) != count):
        raise InvalidArgument(f"null must be one number or {count} numbers, but its shape is {values.shape}")
    away = found.centre[places] - values
    square = float(away @ np.linalg.solve(found.covariance[np.ix_(places, places)], away))
    statistic = square * left / (count * (found.draws - 1.0))
    return WaldTest(statistic, float(fdtrc(count, left, statistic)), count, left)


def estimate(post: Posterior) -> Estimate:
    """Return the draws' mean with the prior's pull undone, and the covariance of its error."""
    if post.plan.get("sampler") == "Newton":
        return _untempered(post)
    names, draws, mean, precision = _coordinates(post)
    pooled = draws.reshape(-1, draws.shape[2])
    count = _count(draws, bool(post.plan["independent_draws"]))
    w, temperature = _tempering(post)
    precision = w * precision if post.plan.get("temper_prior") else precision
    spread = np.atleast_2d(np.cov(pooled.T))
    prior = precision / temperature
    if len(prior) and np.linalg.eigvalsh(np.sqrt(prior)[:, None] * spread * np.sqrt(prior)).max() >= 1.0:
        raise InvalidArgument(
            "the draws are no narrower than the prior in some direction: within this budget the records say nothing "
            "there, and no interval follows from them; take a wider prior, fewer parameters or a larger epsilon"
        )
    unpull = np.linalg.inv(np.eye(len(prior)) - spread * prior)
    centre = mean + unpull @ (pooled.mean(axis=0) - mean)
    pull = prior * (centre - mean)
    moved = spread @ pull
    error_of_spread = ((pull @ moved) * spread + np.outer(moved, moved)) / (count - 1.0)
    covariance = (w / temperature) * unpull @ spread + unpull @ (spread / count + error_of_spread) @ unpull.T
    return Estimate(names, centre, (covariance + covariance.T) / 2.0, count)


def _untempered(post: Posterior) -> Estimate:
    """Return mean and covariance of the draws themselves: the posterior given the looks is not tempered."""
    from .summary import row_names

    names = [name for block, values in post.draws.items() for name in row_names(block, values.shape[2], post.labels)]
    draws = np.concatenate(list(post.draws.values()), axis=2)
    pooled = draws.reshape(-1, draws.shape[2])
    count = _count(draws, independent=True)
    return Estimate(tuple(names), pooled.mean(axis=0), np.atleast_2d(np.cov(pooled.T)), count)


def _tempering(post: Posterior) -> tuple[float, float]:
    """Return the weight of the likelihood, and the temperature at which the chain ran."""
    if post.plan.get("calibration") is not None:
        raise InvalidArgument(f"a chain with calibration={post.plan['calibration']!r} targets another law than exp(-U)")
    return float(post.plan["w"]), float(post.plan.get("heat", 1.0)) ** 2


def _coordinates(post: Posterior) -> tuple[tuple[str, ...], Floats, Floats, Floats]:
    """Return names, draws, prior mean and prior precision of all coordinates whose prior is Normal or Flat."""
    from .summary import row_names

    names = [name for block, values in post.draws.items() for name in row_names(block, values.shape[2], post.labels)]
    draws = np.concatenate(list(post.draws.values()), axis=2)
    precision = post.plan["prior_precision"]
    usable = [i for i, value in enumerate(precision) if value is not None]
    if not usable:
        raise InvalidArgument("intervals need a Normal or Flat prior: the pull of others is not undone by a formula")
    mean = np.array([post.plan["prior_mean"][i] for i in usable])
    return (
        tuple(names[i] for i in usable),
        draws[:, :, usable],
        mean,
        np.array([precision[i] for i in usable], dtype=float),
    )


def _count(draws: Floats, independent: bool) -> float:
    total = draws.shape[0] * draws.shape[1]
    if independent:
        if total < 2:
            raise InvalidArgument(
                "one draw does not show its own spread: plan at least two draws (20 are a good number)"
            )
        return float(total)
    effective = min(ess(draws[:, :, j]) for j in range(draws.shape[2]))
    if not effective >= FEWEST_EFFECTIVE:  # NaN too
        raise InvalidArgument(
            f"the chain is worth {effective:.3g} independent draws, too few to know its spread; see plan's advice"
        )
    return effective
