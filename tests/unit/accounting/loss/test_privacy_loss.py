"""Discretised losses: total mass, domination of the exact profile, second-order error."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr

from pydpmc import accounting as acc
from pydpmc.accounting.events.bounded_range import range_profile
from pydpmc.accounting.loss.privacy_loss import from_symmetric_profile

EVENTS = [
    acc.AcceptBit(0.1),
    acc.BoundedRange(1.5),
    acc.GDP(0.5),
    acc.Gaussian(3.0),
    acc.Gaussian(1.0).poisson(0.01),
    acc.Gaussian(0.3).poisson(0.2),
    acc.Gaussian(10.0).poisson(0.9),
    acc.PureDP(0.7),
    acc.Gaussian(2.0).without_replacement(50, 1000),
    acc.LangevinIterate(100, 1e-3, 0.5, 1.0, 50.0, "replace"),
    acc.MinibatchAcceptBit(b=100, n=1000, v_max=0.5),
]


def test_every_registered_event_is_tested_here():
    assert {type(event) for event in EVENTS} == set(acc.EVENT_TYPES)


def priced(event, adjacency, step):
    return event.privacy_loss(adjacency, step)


def profile_of(loss, eps):
    excess = loss.losses - eps
    return loss.infinity + float(loss.masses @ np.maximum(0.0, -np.expm1(-np.maximum(excess, 0.0))))


@pytest.mark.parametrize("event", EVENTS, ids=repr)
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-5])
def test_masses_sum_to_one_at_any_step(event, step):
    for adjacency in event.adjacencies:
        for loss in priced(event, adjacency, step * event.largest_loss(adjacency)):
            assert np.all(loss.masses >= 0)
            assert abs(loss.masses.sum() + loss.infinity - 1) < 1e-13


@pytest.mark.parametrize("event", EVENTS, ids=repr)
def test_q_masses_sum_to_at_most_one(event):
    """E_P[e^-loss] = Q(loss finite) <= 1, and close to 1: both laws are right, not only P."""
    for adjacency in event.adjacencies:
        for loss in priced(event, adjacency, 1e-3 * event.largest_loss(adjacency)):
            q = float(loss.masses @ np.exp(-loss.losses))
            assert q <= 1 + 1e-10
            assert q > 1 - 0.02


def exact_mixture_profile(p, q, sd, eps):
    """The likelihood ratio is monotone, so the best test is a threshold: the largest over a fine grid."""
    x = np.linspace(-12 * sd - 1, 12 * sd + 1, 400_001)
    tails = [sum(w * ndtr((m - x) / sd) for w, m in mixture) for mixture in (p, q)]
    heads = [1 - tail for tail in tails]
    return max(float(np.max(p_mass - math.exp(eps) * q_mass)) for p_mass, q_mass in (tails, heads))


@pytest.mark.parametrize(("rate", "noise"), [(0.1, 1.0), (0.5, 2.0)])
@pytest.mark.parametrize("eps", [0.0, 0.05, 0.3])
def test_poisson_pairs_against_quadrature(rate, noise, eps):
    plain, up, down = [(1.0, 0.0)], [(1 - rate, 0.0), (rate, 1.0)], [(1 - rate, 0.0), (rate, -1.0)]
    event = acc.Gaussian(noise).poisson(rate)
    removed, added = event.privacy_loss("add_remove", 1e-3)
    (replaced,) = event.privacy_loss("replace", 1e-3)
    for loss, p, q in [(removed, up, plain), (added, plain, up), (replaced, up, down)]:
        exact = exact_mixture_profile(p, q, noise, eps)
        assert exact - 1e-9 <= profile_of(loss, eps) <= exact + 1e-5


def test_profile_event_interpolates_and_dominates():
    s = 0.4
    loss = from_symmetric_profile(lambda e: range_profile(s, e), s, s / 64)
    for eps in np.linspace(-s, s, 41):
        h = float(range_profile(s, np.array([abs(eps)]))[0])
        exact = h if eps >= 0 else 1 - math.exp(eps) * (1 - h)
        assert exact - 1e-12 <= profile_of(loss, eps) <= exact + 1e-4


def test_bump_in_a_profile_is_cut_by_the_convex_minorant():
    s = 0.4

    def bumpy(eps):
        return range_profile(s, eps) + 0.01 * (np.abs(eps - 0.2) < 0.05) + 0.05 * (eps < 0.02)

    loss = from_symmetric_profile(bumpy, s, s / 400)
    assert np.all(loss.masses >= 0)
    assert abs(loss.masses.sum() - 1) < 1e-13
    for eps in (0.0, 0.05, 0.2, 0.35):
        assert range_profile(s, np.array([eps]))[0] <= profile_of(loss, eps) + 1e-14
    assert profile_of(loss, 0.2) < bumpy(np.array([0.2]))[0] - 0.005
    assert profile_of(loss, 0.0) < bumpy(np.array([0.0]))[0] - 0.01


def test_minorant_over_both_sides_is_the_hull_with_one_extra_point():
    """Against a brute-force lower hull of the symmetric extension on (0, infinity)."""
    rng = np.random.default_rng(7)
    step, last = 0.05, 20
    values = range_profile(1.0, step * np.arange(last + 1)) * (1 + 0.3 * rng.random(last + 1))
    values = np.minimum.accumulate(values)
    loss = from_symmetric_profile(lambda e: values[np.rint(e / step).astype(int)], 1.0, step * (1 + 1e-12))
    a = np.exp(step * np.arange(-last, last + 1))
    h = np.concatenate([(1 - a + a * np.concatenate([values[::-1], values[1:]]))[:last], values])
    nodes_a, nodes_h = np.concatenate([[0.0], a]), np.concatenate([[1.0], h])
    for k in range(last + 1):
        here = a[last + k]
        left, right = nodes_a <= here, nodes_a >= here
        chords = [
            hl + (hr - hl) * ((here - al) / (ar - al) if ar > al else 0.0)
            for al, hl in zip(nodes_a[left], nodes_h[left], strict=True)
            for ar, hr in zip(nodes_a[right], nodes_h[right], strict=True)
        ]
        assert profile_of(loss, step * (1 + 1e-12) * k) == pytest.approx(min(chords), abs=1e-9)


def above(x, mean, sd):
    return mp.ncdf((mean - x) / sd)


def exact_poisson_profile(kind, noise, rate, eps):
    s, q, a = mp.mpf(noise), mp.mpf(rate), mp.exp(eps)
    if kind == "replaced":
        x = s**2 * (mp.mpf(eps) / 2 + mp.asinh((1 - q) / q * mp.exp(1 / (2 * s**2)) * mp.sinh(mp.mpf(eps) / 2)))
        return q * (above(x, 1, s) - a * above(x, -1, s)) + (1 - q) * (1 - a) * above(x, 0, s)
    ratio = a if kind == "removed" else 1 / a
    if ratio <= 1 - q:  # no density ratio is that small
        return 1 - a if kind == "removed" else mp.mpf(0)
    x = mp.mpf(1) / 2 + s**2 * mp.log((ratio - 1 + q) / q)
    plain, mixed = above(x, 0, s), (1 - q) * above(x, 0, s) + q * above(x, 1, s)
    return mixed - a * plain if kind == "removed" else (1 - plain) - a * (1 - mixed)


ROUNDED = [(0.17219338, 6.32e-7, 0.00303315), (0.805254, 0.2591892, 0.13928634), (1.2230477, 0.02827828, 0.00923841)]


@pytest.mark.parametrize(("noise", "rate", "step"), ROUNDED)
@pytest.mark.parametrize("kind", ["removed", "added", "replaced"])
def test_no_rounding_lowers_the_profile_at_any_node(noise, rate, step, kind):
    """Least where cells straddle a mean, whose mass is a difference from one, and where the profile is nearly one."""
    event = acc.Gaussian(noise).poisson(rate)
    replaced, both = event.privacy_loss("replace", step), event.privacy_loss("add_remove", step)
    loss = {"removed": both[0], "added": both[1], "replaced": replaced[0]}[kind]
    zero, losses = -loss.lowest, loss.losses.tolist()
    with mp.workdps(40):
        p_above, q_above = mp.mpf(loss.infinity), mp.mpf(0)
        for k in reversed(range(len(loss.masses))):
            eps = mp.mpf(losses[k])
            if k % 97 == 0 or k < 20 or abs(k - zero) < 20:
                assert p_above - mp.exp(eps) * q_above >= exact_poisson_profile(kind, noise, rate, eps)
            p_above += float(loss.masses[k])
            q_above += float(loss.masses[k]) * mp.exp(-eps)
