"""Audit of hidden-state Langevin through the compiled sampler: last iterates of two worlds, told apart by a threshold.

One-dimensional Gaussian mean with a few records, one of them at the upper or at the lower bound: U is quadratic, both
last iterates are Gaussian with the same variance, and the claim is exact. A test with false alarms alpha and misses
beta refutes every mu below z(1 - alpha) - z(beta); both rates are taken at their Clopper-Pearson bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import beta as beta_law
from scipy.stats import kstest, norm

import pydpmc as dp
from pydpmc import _core
from pydpmc import accounting as acc
from pydpmc.planning.arguments import start_points
from pydpmc.running.run import core_target
from pydpmc.samplers.base import target_arguments

Floats = npt.NDArray[np.float64]

DELTA = 1e-5
RUNS, SLOW_RUNS = 20_000, 400_000  # per world
HALF_WIDTH = 2.5


def quadratic(canary: float, steps: int) -> tuple[dp.Plan, dp.Data]:
    data = dp.Data(np.array([canary, 0.3, -0.4]), x_bounds=(-HALF_WIDTH, HALF_WIDTH))
    return dp.plan(dp.GaussianMean(), data.public, dp.Langevin(w=1.0, steps=steps, step_size=0.06)), data


def logistic(canary: float, steps: int) -> tuple[dp.Plan, dp.Data]:
    x = np.array([[HALF_WIDTH * canary, 0.0], [0.5, 0.5], [-0.5, 0.2]])
    data = dp.Data(x, np.array([1.0, 0.0, 1.0]), row_norm=HALF_WIDTH)
    return dp.plan(dp.LogisticRegression(), data.public, dp.Langevin(w=0.4, steps=steps, step_size=0.3)), data


def last_iterates(made: tuple[dp.Plan, dp.Data], runs: int, seed: int | None, **changed: Any) -> Floats:
    """Return the last iterates of so many independent chains; `changed` plants a fault behind the plan's back."""
    plan, data = made
    out = np.full((runs, 1, plan.settings.dim), np.nan)
    last = plan.settings.steps - 1
    chains = _core.Chains(init=start_points(plan, runs, seed), draws=out, warmup=last, thin=1, seed=seed)
    altered = _Altered(target_arguments(plan.model, data), changed)
    core = plan.settings.start(altered, core_target(plan, data), chains, data)
    core.advance(plan.settings.steps, 2, 4096)
    return out[:, 0, 0]


class _Altered:
    """The compiled core with some arguments changed."""

    def __init__(self, target: dict[str, Any], changed: dict[str, Any]) -> None:
        self.target = _core.Target(**{name: changed.get(name, value) for name, value in target.items()})
        self.changed = {name: value for name, value in changed.items() if name not in target}

    def Target(self, **arguments: Any) -> Any:
        return self.target

    def LangevinRun(self, target: Any, chains: Any, **arguments: Any) -> Any:
        return _core.LangevinRun(self.target, chains, **(arguments | self.changed))


def quieter(plan: dp.Plan, share: float) -> dict[str, Any]:
    """Return arguments for the same drift with `share` of the noise: a smaller step down a steeper target."""
    prior = plan.model.prior_table(plan.public)
    prior[:, 2] *= share  # scale
    settings: Any = plan.settings
    return {"step_size": settings.step_size * share**2, "weight": settings.w / share**2, "prior": prior}


def lower_bound(low: Floats, high: Floats, at: float, confidence: float) -> float:
    """Return mu that the two samples prove: `low` the world below the threshold."""
    error = 0.5 * (1.0 - confidence)
    rates = []
    for count, total in (((low > at).sum(), len(low)), ((high <= at).sum(), len(high))):
        rates.append(beta_law.isf(error, count + 1, total - count))
    return float(max(norm.isf(rates[0]) - norm.ppf(rates[1]), 0.0))


def epsilon_of(mu: float) -> float:
    return acc.compose([(acc.GDP(mu), 1)]).epsilon(DELTA) if mu > 0 else 0.0


def middle(steps: int) -> float:
    """Return the threshold between the two worlds from the recursion of the quadratic, before a draw is seen."""
    return law_of_quadratic(steps, 0.3 - 0.4)[0]


def law_of_quadratic(steps: int, pull: float) -> tuple[float, float]:
    """Return mean and sd after `steps` steps from 0, the last one a half step."""
    h, bend = 0.06, 3.0 + 1.0
    kept, half = 1.0 - h * bend, 1.0 - h * bend / 2.0
    mean = h * pull * (1.0 - kept ** (steps - 1)) / (1.0 - kept)
    variance = 2.0 * h * (1.0 - kept ** (2 * (steps - 1))) / (1.0 - kept**2)
    return half * mean + h / 2.0 * pull, float(np.sqrt(half**2 * variance + h / 2.0))


def audited(steps: int, runs: int, **changed: Any) -> tuple[float, float, float]:
    plan, _ = quadratic(HALF_WIDTH, steps)
    low = last_iterates(quadratic(-HALF_WIDTH, steps), runs, None, **changed)
    high = last_iterates(quadratic(HALF_WIDTH, steps), runs, None, **changed)
    claim = plan.guarantee.epsilon(DELTA)
    likely, certain = (epsilon_of(lower_bound(low, high, middle(steps), c)) for c in (0.95, 0.9999))
    print(f"{steps} steps, {runs} runs: 95 % bound {likely:.3f}, 99.99 % {certain:.3f}, claim {claim:.3f}")
    return likely, certain, claim


@pytest.mark.parametrize("steps", [1, 4, 60])
def test_the_quadratic_leaks_nine_tenths_of_the_claim_and_no_more(steps: int) -> None:
    likely, certain, claim = audited(steps, RUNS)
    assert likely >= 0.9 * claim
    assert certain <= claim


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 4, 60])
def test_a_long_audit_comes_closer_and_stays_below(steps: int) -> None:
    likely, certain, claim = audited(steps, SLOW_RUNS)
    assert likely >= 0.97 * claim
    assert certain <= claim


@pytest.mark.parametrize("steps", [4, 60])
def test_a_tenth_less_noise_is_caught(steps: int) -> None:
    plan, _ = quadratic(HALF_WIDTH, steps)
    _, certain, claim = audited(steps, RUNS, **quieter(plan, 0.9))
    assert certain > claim


def test_the_mutant_of_no_change_is_the_sampler_itself() -> None:
    made = quadratic(HALF_WIDTH, 5)
    assert np.array_equal(last_iterates(made, 50, 3), last_iterates(made, 50, 3, **quieter(made[0], 1.0)))


@pytest.mark.parametrize("steps", [5, 60])
def test_logistic_regression_leaks_no_more_than_claimed(steps: int) -> None:
    plan, _ = logistic(1.0, steps)
    low, high = (last_iterates(logistic(sign, steps), RUNS, None) for sign in (-1.0, 1.0))
    at = 0.5 * (np.median(low[: RUNS // 2]) + np.median(high[: RUNS // 2]))
    proven = epsilon_of(lower_bound(low[RUNS // 2 :], high[RUNS // 2 :], at, 0.95))
    claim = plan.guarantee.epsilon(DELTA)
    print(f"{steps} steps: proven {proven:.3f}, claim {claim:.3f}")
    assert 0.1 * claim < proven <= claim


def test_last_iterates_have_the_law_of_the_recursion() -> None:
    steps = 60
    mean, sd = law_of_quadratic(steps, HALF_WIDTH - 0.1)
    assert sd == pytest.approx(0.5, rel=1e-9)  # that of the posterior, whose curvature is 4
    drawn = last_iterates(quadratic(HALF_WIDTH, steps), RUNS, 11)
    assert kstest((drawn - mean) / sd, norm.cdf).pvalue > 1e-4


def test_the_low_bits_of_a_draw_do_not_tell_the_worlds_apart() -> None:
    """Draws lie on the public grid, and their low bits on it are noise."""
    steps = 4
    unit = quadratic(0.0, steps)[0].settings.arithmetic.box.unit  # type: ignore[attr-defined]
    low = []
    for k, canary in enumerate((-HALF_WIDTH, HALF_WIDTH)):
        on_grid = last_iterates(quadratic(canary, steps), RUNS, 21 + k) / (unit / 2) - 0.5
        assert np.abs(on_grid - np.rint(on_grid)).max() < 1e-3
        low.append(np.rint(on_grid).astype(np.int64) & 0xFF)
    half = RUNS // 2
    learnt = np.bincount(low[1][:half], minlength=256) > np.bincount(low[0][:half], minlength=256)
    right = 0.5 * (learnt[low[1][half:]].mean() + 1.0 - learnt[low[0][half:]].mean())
    print(f"a classifier on the low 8 bits is right {right:.4f} of the time")
    assert abs(right - 0.5) < 4.5 * 0.5 / np.sqrt(2 * half)
