"""Confidence intervals and tests computed from private draws: post-processing, which costs no privacy.

Draws from a tempered posterior are too wide, are shifted by the prior, which is not tempered, and are skewed if they
represent few records. docs/howto/intervals.md derives the corrections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..checks import inside, names_of, reals, visible
from ..diagnostics import ess
from ..errors import InvalidArgument
from .confidence import Known, each, together
from .facts import model_of, public_of
from .frames import AsFrames
from .skewness import NEGLIGIBLE_BIAS, Skewness, largest_shift, no_skewness, skewness

if TYPE_CHECKING:
    from .posterior import Posterior

Floats = npt.NDArray[np.float64]
FEWEST_EFFECTIVE = 10.0
ONE_SIGMA = 0.3413447460685429  # of a normal law between its mean and one standard deviation above
UNBOUNDED = 0.05  # of a confidence distribution that may have no end
IN_A_TAIL = 40  # draws, for a quantile to be one of the draws
COLUMNS = ("estimate", "se", "low", "high")


@dataclass(frozen=True)
class Intervals(AsFrames):
    """Confidence intervals by parameter name; prints as a table.

    Attributes
    ----------
    rows
        By parameter name: estimate, se (its standard error, or half the width of the central 68 % interval if that is
        not symmetric), low and high.
    level
        The probability over data sets that the interval covers the truth, if the model is correct.
    df
        Degrees of freedom of the t distribution.
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
        The F statistic, with (df_of_parameters, df_of_draws) degrees of freedom under the hypothesis.
    p_value
        The probability of a statistic at least as large under the hypothesis.
    """

    statistic: float
    p_value: float
    df_of_parameters: int
    df_of_draws: float


@dataclass(frozen=True)
class Evidence:
    """What the draws imply about the parameters in repeated sampling."""

    names: tuple[str, ...]
    prior_mean: Floats
    known: Known
    skew: Skewness

    def chosen(self, parameters: str | Sequence[str] | None) -> list[int]:
        """Return the positions of the parameters with these names; the name of a block selects all its entries."""
        if parameters is None:
            return list(range(len(self.names)))
        wanted = names_of(parameters)
        places = []
        for name in wanted:
            found = [i for i, own in enumerate(self.names) if own == name or own.split("[")[0] == name]
            if not found:
                raise InvalidArgument(
                    f"parameters: there is no interval for {name!r}; choose from those with a Normal or Flat prior: "
                    f"{', '.join(self.names)}"
                )
            places += found
        return places

    def normal(self) -> tuple[Floats, Floats, bool]:
        """Return the estimate, the covariance of its error, and whether Student's t is not accurate enough."""
        centre, covariance, matters = self.known.normal()
        stretch = np.outer(self.skew.scale, self.skew.scale)
        data = self.known.weight * np.linalg.inv(np.eye(len(centre)) - self.known.spread * self.known.prior)
        covariance = covariance + (stretch - 1.0) * (data @ self.known.spread) + self.skew.covariance
        return self.prior_mean + centre + self.skew.shift, covariance, matters


def interval(post: Posterior, level: float, parameters: str | Sequence[str] | None) -> Intervals:
    """Return intervals that cover the truth with probability `level` over data sets."""
    from scipy.special import stdtrit

    inside(level, "level")
    found = evidence(post)
    places = found.chosen(parameters)
    if post.plan.get("sampler") == "Newton":
        return _of_draws(post, found, places, level)
    df = found.known.count - 1.0
    centre, covariance, matters = found.normal()
    se = np.sqrt(np.diag(covariance))
    half = float(stdtrit(df, 0.5 + level / 2.0)) * se
    low, high = centre - half, centre + half
    if matters:
        mixture = each(found.known, found.skew, unbounded=(1.0 - level) / 2.0)
        low, high, centre, left, right = (
            found.prior_mean + mixture.quantile(share)
            for share in (0.5 - level / 2.0, 0.5 + level / 2.0, 0.5, 0.5 - ONE_SIGMA, 0.5 + ONE_SIGMA)
        )
        se = (right - left) / 2.0
    columns = (centre, se, low, high)
    rows = {found.names[i]: {c: float(v[i]) for c, v in zip(COLUMNS, columns, strict=True)} for i in places}
    return Intervals(rows, level, df)


def _of_draws(post: Posterior, found: Evidence, places: list[int], level: float) -> Intervals:
    """Return intervals between quantiles of draws that are not tempered.

    Beyond the outermost draws that are many, the distance from the median grows as a normal law's.
    """
    from scipy.special import ndtri

    draws = np.concatenate(list(post.draws.values()), axis=2)
    pooled = draws.reshape(-1, draws.shape[2])
    tail = max(0.5 - level / 2.0, min(0.16, IN_A_TAIL / len(pooled)))
    beyond = float(ndtri(0.5 - level / 2.0) / ndtri(tail))
    low, left, middle, right, high = np.quantile(
        pooled, (tail, 0.5 - ONE_SIGMA, 0.5, 0.5 + ONE_SIGMA, 1.0 - tail), axis=0
    )
    columns = (middle, (right - left) / 2.0, middle - beyond * (middle - low), middle + beyond * (high - middle))
    rows = {found.names[i]: {c: float(v[i]) for c, v in zip(COLUMNS, columns, strict=True)} for i in places}
    return Intervals(rows, level, found.known.count - 1.0)


def wald_test(post: Posterior, null: npt.ArrayLike, parameters: str | Sequence[str] | None) -> WaldTest:
    """Return Hotelling's form of the Wald test that the parameters equal `null`."""
    from scipy.special import fdtrc, fdtri

    found = evidence(post)
    places = found.chosen(parameters)
    draws = found.known.count
    count, left = len(places), draws - len(places)
    if left <= 0:
        raise InvalidArgument(
            f"parameters: {draws:.3g} draws cannot test {count} parameters jointly; use more draws or test fewer"
        )
    values = reals(null, "null")
    if values.ndim > 1 or (values.ndim == 1 and len(values) != count):
        raise InvalidArgument(f"null must be one number or {count} numbers, but its shape is {values.shape}")
    centre, covariance, matters = found.normal()
    if matters:
        mixture = together(found.known, found.skew, places, unbounded=UNBOUNDED)
        away = values - found.prior_mean[places]
        p_value = mixture.tail(float(away[0])) if count == 1 else mixture.depth(away)
        return WaldTest(float(fdtri(count, left, 1.0 - p_value)), p_value, count, left)
    away = centre[places] - values
    square = float(away @ np.linalg.solve(covariance[np.ix_(places, places)], away))
    statistic = square * left / (count * (draws - 1.0))
    return WaldTest(statistic, float(fdtrc(count, left, statistic)), count, left)


def evidence(post: Posterior) -> Evidence:
    """Return what the draws imply; refuse draws that carry no information or too little to estimate it."""
    spec = post.plan.get("model_spec")
    if isinstance(spec, Mapping) and spec.get("type") == "Network":
        raise InvalidArgument(
            "the weights of a Network have no intervals: other weights give the same function; predict"
        )
    if post.plan.get("sampler") == "Newton":
        return _untempered(post)
    if (post.plan.get("public") or {}).get("max_weight") is not None:
        raise InvalidArgument(
            "draws of weighted records have no interval: their spread is that of the pseudo-posterior, not that of the "
            "estimate over samples; use Newton, which looks at the covariance of weighted gradients"
        )
    names, mean, known, pooled = tempered(post)
    return Evidence(names, mean, known, _skewness(post, pooled, known))


def tempered(post: Posterior) -> tuple[tuple[str, ...], Floats, Known, Floats]:
    """Return names, prior mean, what is known of the draws, and the draws from the prior mean on."""
    names, draws, mean, precision = _coordinates(post)
    count = _count(draws, bool(post.plan["independent_draws"]))
    pooled = draws.reshape(-1, draws.shape[2]) - mean
    w, temperature = _tempering(post)
    prior = (w * precision if post.plan.get("temper_prior") else precision) / temperature
    spread = np.atleast_2d(np.cov(pooled.T))
    if np.linalg.eigvalsh(np.sqrt(prior)[:, None] * spread * np.sqrt(prior)).max() >= 1.0:
        raise InvalidArgument(
            "the draws are no narrower than the prior in some direction: within this budget the records carry no "
            "information there, and no interval follows; use a wider prior, fewer parameters or a larger epsilon"
        )
    known = Known(count, pooled.mean(axis=0), spread, prior, w / temperature)
    return names, mean, known, pooled


def _skewness(post: Posterior, draws: Floats, known: Known) -> Skewness:
    """Return the correction by third moments, or none if it is provably negligible."""
    concordance = None if post.plan.get("model_spec") is None else model_of(post).self_concordance(public_of(post))
    bound = largest_shift(known.spread, known.prior, known.mean, concordance)
    se = np.sqrt(np.diag(known.normal()[1]))
    if np.all(bound <= NEGLIGIBLE_BIAS * se):
        return no_skewness(len(bound))
    return skewness(draws, known.count, known.prior, bound)


def _untempered(post: Posterior) -> Evidence:
    """Return the mean and covariance of the draws, which need no correction: Newton's posterior is not tempered."""
    from .summary import row_names

    names = [name for block, values in post.draws.items() for name in row_names(block, values.shape[2], post.labels)]
    draws = np.concatenate(list(post.draws.values()), axis=2)
    pooled = draws.reshape(-1, draws.shape[2])
    none = np.zeros(len(names))
    known = Known(_count(draws, True), pooled.mean(axis=0), np.atleast_2d(np.cov(pooled.T)), none, 1.0)
    return Evidence(tuple(names), none, known, no_skewness(len(names)))


def _tempering(post: Posterior) -> tuple[float, float]:
    """Return the weight of the likelihood and the temperature of the chain."""
    if post.plan.get("calibration") is not None:
        raise InvalidArgument(
            f"a chain with calibration={post.plan['calibration']!r} has no interval, because it does not target "
            "exp(-U); sample without calibration"
        )
    return float(post.plan["w"]), float(post.plan.get("heat", 1.0)) ** 2


def _coordinates(post: Posterior) -> tuple[tuple[str, ...], Floats, Floats, Floats]:
    """Return names, draws, prior mean and prior precision of all coordinates whose prior is Normal or Flat."""
    from .summary import row_names

    names = [name for block, values in post.draws.items() for name in row_names(block, values.shape[2], post.labels)]
    draws = np.concatenate(list(post.draws.values()), axis=2)
    precision = post.plan["prior_precision"]
    usable = [i for i, value in enumerate(precision) if value is not None]
    if not usable:
        raise InvalidArgument("intervals need a Normal or Flat prior: the effect of other priors cannot be removed")
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
            raise InvalidArgument("one draw does not show its spread: plan at least two draws (20 are a good number)")
        return float(total)
    effective = min(ess(draws[:, :, j]) for j in range(draws.shape[2]))
    if not effective >= FEWEST_EFFECTIVE:  # NaN too
        raise InvalidArgument(
            f"the chain has only {effective:.3g} effective draws, too few to estimate its spread; follow the advice "
            "that print(plan) gives"
        )
    return effective
