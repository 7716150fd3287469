"""Accept bits: the induction against brute force, the Renyi curve and the profile against a search."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pydpmc import accounting as acc
from pydpmc._core import bit_induction
from pydpmc.accounting.composition.backward_induction import (
    USUAL_DELTA,
    _profile,
    cells_within_budget,
    induction_profile,
)
from pydpmc.accounting.composition.bounds import RenyiBound
from pydpmc.accounting.events.bounded_range import range_log_moment, range_profile


def adaptive_optimum(s, steps, x, points=61):
    """Best adaptive attack by brute force over offsets t: a lower bound of the supremum."""
    if steps == 0:
        return np.maximum(x - 1.0, 0.0)
    best = np.zeros_like(x)
    for t in np.linspace(0.0, s, points):
        u = math.exp(-t)
        p = (u - math.exp(-s)) / -math.expm1(-s)
        after = p * adaptive_optimum(s, steps - 1, x / u, points) + (1 - p) * adaptive_optimum(
            s, steps - 1, x / u * math.exp(-s), points
        )
        best = np.maximum(best, after)
    return best


def fixed_offset_delta(s, t, steps, eps):
    """Exact delta of an attack that plays the ratios {e^t, e^{t-s}} at every step: a lower bound."""
    s, t, a = mp.mpf(s), mp.mpf(t), mp.exp(eps)
    p = (mp.exp(-t) - mp.exp(-s)) / (1 - mp.exp(-s))
    ratios = [mp.exp(steps * t - s * k) for k in range(steps + 1)]
    masses = [mp.binomial(steps, k) * p ** (steps - k) * (1 - p) ** k for k in range(steps + 1)]
    return sum(mass * (ratio - a) for mass, ratio in zip(masses, ratios, strict=True) if ratio > a)


@pytest.mark.parametrize("eps", [600, 655, 670, 689])
def test_induction_does_not_underflow_to_a_free_release(eps):
    with mp.workdps(40):
        attack = max(fixed_offset_delta(7.0, 7.0 * share, 100, eps) for share in (0.9, 0.99))
        assert 0 < attack <= mp.mpf(induction_profile(7.0, 100).delta(eps))


@pytest.mark.parametrize("s", [0.05, 0.7, 3.0])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_induction_lies_just_above_the_adaptive_optimum(s, steps):
    profile = induction_profile(s, steps)
    eps = np.linspace(0.0, 0.95 * s * steps, 12)
    brute = np.exp(eps) * adaptive_optimum(s, steps, np.exp(-eps), points=61 if steps < 3 else 21)
    ours = np.array([profile.delta(float(e)) for e in eps])
    assert np.all(ours >= brute * (1 - 1e-12))
    assert np.all(ours <= brute * 1.02 + 2e-3 * brute[0])


@pytest.mark.parametrize("s", [0.05, 1.0])
def test_coarser_grids_only_raise_the_bound(s):
    steps, eps = 40, 1.5 * s * math.sqrt(40)
    found = []
    for cells in (4, 8, 16, 64):
        values = bit_induction(s, steps, cells, 40 * cells)
        found.append(math.exp(eps) * np.interp(-eps, -s / cells * np.arange(len(values))[::-1], values[::-1]))
    assert found == sorted(found, reverse=True)
    assert found[-2] < 1.02 * found[-1]


def test_a_shallow_window_only_raises_the_bound():
    deep = bit_induction(0.1, 100, 20, 2000)
    shallow = bit_induction(0.1, 100, 20, 300)
    assert np.all(shallow >= deep[:301] * (1 - 1e-12))
    assert np.all(deep[:200] > 0)


@pytest.mark.parametrize(("s", "steps"), [(0.1, 100), (0.01, 3000), (1.0, 50), (0.0115, 30_000)])
def test_at_a_usual_delta_what_lies_deeper_hardly_matters(s, steps):
    cells = cells_within_budget(s, steps)
    usual, deep = (_profile(s, steps, cells, usual) for usual in (True, False))
    assert len(usual.deltas) < 0.85 * len(deep.deltas)
    for delta in (1e-3, 1e-6, USUAL_DELTA):
        assert deep.epsilon(delta) * (1 - 1e-12) <= usual.epsilon(delta) <= deep.epsilon(delta) * (1 + 1e-5)


@pytest.mark.parametrize(
    ("s", "steps", "delta"), [(0.0424677, 30_000, 1e-8), (0.0693, 30_000, 1e-6), (0.33, 3000, 1e-7)]
)
def test_a_coarse_grid_at_a_large_mu_goes_as_deep_as_it_must(s, steps, delta):
    deep = _profile(s, steps, cells_within_budget(s, steps), False)
    bits = induction_profile(s, steps)
    assert bits.epsilon(delta) <= deep.epsilon(delta) * (1 + 1e-5) < math.inf
    assert bits.epsilon(delta) <= bits.epsilon(0.99 * delta)


def test_a_tiny_delta_is_found_at_any_depth():
    bits = induction_profile(0.1, 100)
    for delta in (1e-6, 1e-14):
        epsilon = bits.epsilon(delta)
        assert bits.delta(epsilon) == pytest.approx(delta, rel=1e-6)
        assert bits.delta(1.01 * epsilon) < delta


def test_odd_numbers_of_cells_are_refused():
    with pytest.raises(ValueError, match="even"):
        bit_induction(0.1, 100, 5, 300)


def test_one_bit_has_the_exact_profile():
    s = 0.8
    g = acc.compose([(acc.AcceptBit(s), 1)])
    for eps in (0.0, 0.1, 0.4, 0.7):
        a = math.exp(eps)
        exact = max(1 / (1 + math.exp(-(x + s))) - a / (1 + math.exp(-x)) for x in np.linspace(-6, 6, 20_001))
        assert exact - 1e-12 <= g.delta(eps) <= exact * (1 + 1e-4)
        assert float(range_profile(s, np.array([eps]))[0]) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("s", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("order", [1.05, 2.0, 17.0, 400.0])
def test_renyi_curve_is_the_largest_over_the_offset(s, order):
    b = order - 1.0

    def log_moment(t):
        p = (math.exp(s) - math.exp(t)) / math.expm1(s)
        with np.errstate(divide="ignore"):
            low = np.log(max(0.0, 1.0 - p)) + b * (t - s)
            return float(np.logaddexp(np.log(max(0.0, p)) + b * t, low))

    search = minimize_scalar(lambda t: -log_moment(t), bounds=(0, s), method="bounded", options={"xatol": 1e-12})
    best = max(-search.fun, *(log_moment(t) for t in np.linspace(0, s, 500, endpoint=False)))
    found = float(range_log_moment(s, np.array([order]))[0])
    assert best - 1e-14 * (1 + b * s) <= found <= best * (1 + 1e-6) + 1e-13


def exact_log_moment(s, order):
    """Theorem 4 in 60 digits."""
    s, b = mp.mpf(s), mp.mpf(order) - 1
    slope = (1 - mp.exp(-b * s)) / mp.expm1(s)
    level = mp.exp(s) * slope + mp.exp(-b * s)
    x = b * level / ((b + 1) * slope)
    return b * mp.log(x) + mp.log(level - slope * x)


@pytest.mark.parametrize("s", [2e-10, 2e-9, 1e-6, 1e-3, 0.1, 2.0, 30.0])
def test_renyi_curve_is_rounded_up_at_every_order(s):
    orders = 1.0 + np.geomspace(1e-3, 1e6, 91)
    with mp.workdps(60):
        exact = [exact_log_moment(s, float(order)) for order in orders]
        ratios = [mp.mpf(float(ours)) / true for ours, true in zip(range_log_moment(s, orders), exact, strict=True)]
        assert min(ratios) >= 1
        assert max(ratios) < 1.05


def test_tiny_shifts_used_very_often_cost_more_than_the_gaussian_limit():
    bits = acc.compose([(acc.AcceptBit(shift=2e-10), 3 * 10**13)])
    limit = acc.compose([(acc.GDP(1e-10 * math.sqrt(3e13)), 1)])
    assert RenyiBound(bits.events, "replace").epsilon(1e-6) >= limit.epsilon(1e-6)


def test_bit_and_bounded_range_are_one_object():
    for n in (1, 40, 2000):
        bit = acc.compose([(acc.AcceptBit(0.03), n)], "add_remove").epsilon(1e-6)
        assert bit == acc.compose([(acc.BoundedRange(0.03), n)], "add_remove").epsilon(1e-6)


def test_never_below_the_gaussian_limit_and_close_to_it():
    """No bound can beat mu = s sqrt(T)/2 asymptotically; ours is within 2 % of it."""
    s, n = 0.01, 10_000
    limit = acc.compose([(acc.GDP(s * math.sqrt(n) / 2), 1)]).epsilon(1e-6)
    assert limit * (1 - 1e-3) <= acc.compose([(acc.AcceptBit(s), n)]).epsilon(1e-6) <= 1.02 * limit


def test_a_million_bits_are_still_priced():
    assert cells_within_budget(0.001, 10**6) == 0
    limit = acc.compose([(acc.GDP(0.5), 1)]).epsilon(1e-6)
    assert limit <= acc.compose([(acc.AcceptBit(0.001), 10**6)]).epsilon(1e-6) <= 1.09 * limit


def test_cells_never_increase_with_steps():
    cells = [cells_within_budget(0.02, n) for n in range(1, 60_000, 997)]
    assert cells == sorted(cells, reverse=True)


def test_different_shifts_cost_at_most_the_widest():
    mixed = acc.compose([(acc.AcceptBit(0.05), 200), (acc.AcceptBit(0.04), 200)]).epsilon(1e-6)
    assert acc.compose([(acc.AcceptBit(0.04), 400)]).epsilon(1e-6) < mixed
    assert mixed <= acc.compose([(acc.AcceptBit(0.05), 400)]).epsilon(1e-6)
