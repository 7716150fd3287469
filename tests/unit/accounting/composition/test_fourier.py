"""The transform charges what it leaves out, and returns the smallest epsilon whose delta was checked."""

import math
from itertools import pairwise

import numpy as np
import pytest

from pydpmc import accounting as acc
from pydpmc.accounting.composition import fourier
from pydpmc.accounting.composition.composed_losses import ComposedLosses, composed_losses
from pydpmc.accounting.composition.cumulants import OUTSIDE, Cumulants
from pydpmc.accounting.composition.grid import choose_step
from pydpmc.accounting.loss.privacy_loss import UNIT

COMPOSITIONS = {
    "bits": ([(acc.AcceptBit(1e-3), 10**5)], "replace"),
    "poisson": ([(acc.Gaussian(2.0).poisson(0.01), 300)], "add_remove"),
    "levels": ([(acc.Gaussian(z).poisson(0.02), 40) for z in (1.5, 2.0, 3.0)], "replace"),
    "randomised response": ([(acc.PureDP(0.5), 1)], "replace"),
    "mixed": ([(acc.PureDP(0.1), 5), (acc.GDP(0.3), 1), (acc.AcceptBit(0.02), 400)], "replace"),
}


def cumulants_of(name):
    uses, adjacency = COMPOSITIONS[name]
    step = choose_step(uses, adjacency)
    return Cumulants([(event.privacy_loss(adjacency, step)[0], n) for event, n in uses])


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_frequencies_left_out_hold_less_than_is_added_for_them(name, tilt, monkeypatch):
    cumulants = cumulants_of(name)
    few = fourier._composed(cumulants, tilt)
    monkeypatch.setattr(fourier, "NEGLIGIBLE", -math.inf)
    all_of_them = fourier._composed(cumulants, tilt)
    np.testing.assert_array_equal(few.losses, all_of_them.losses)
    assert np.abs(few.tilted - all_of_them.tilted).max() <= few.entry_error
    assert few.entry_error <= 1.001 * all_of_them.entry_error + fourier.LEFT_OUT


def test_most_frequencies_of_a_long_composition_are_left_out():
    spectrum = fourier._Spectrum(10_000)
    angles = np.pi * np.arange(spectrum.size) / (spectrum.size - 1)
    spectrum.multiply(0.5 + 0.5 * np.exp(1j * angles), 10**5)
    assert len(spectrum.frequencies) < 0.05 * spectrum.size
    assert spectrum.left_out > 0.0
    assert spectrum.entries()[0] == 1.0


def test_a_spectrum_at_few_frequencies_is_no_farther_off_than_is_paid_for(monkeypatch):
    length, frequencies = 60_000, np.array([0, 1, 2, 57, 800, 29_999, 30_000])
    masses = np.random.default_rng(5).exponential(size=4000)
    masses /= masses.sum()
    exact = []
    for frequency in frequencies.tolist():  # in long doubles
        turns = (frequency * np.arange(len(masses)) % length).astype(np.longdouble)
        angles = 2 * np.arccos(np.longdouble(-1)) * turns / length
        exact.append(complex((masses * np.cos(angles)).sum(), -(masses * np.sin(angles)).sum()))
    paid = UNIT * 8 * (math.log2(length) + 8)
    transformed = fourier._transformed(masses, np.arange(length // 2 + 1), length)[frequencies]
    monkeypatch.setattr(np.fft, "rfft", None)  # not called for few
    summed = fourier._transformed(masses, frequencies, length)
    for found in (transformed, summed):
        assert np.abs(found - exact).max() < 0.1 * paid


def test_few_atoms_have_about_the_moments_of_all():
    noises = [(1.5, 40), (3.0, 100)]
    cumulants = Cumulants([(acc.Gaussian(z).poisson(0.02).privacy_loss("replace", 1e-4)[0], n) for z, n in noises])
    assert len(cumulants.coarse.masses) < 0.1 * len(cumulants.exact.masses)
    for tilt in (0.0, 0.7, 5.0):
        assert cumulants.coarse.derivatives(tilt) == pytest.approx(
            cumulants.exact.derivatives(tilt), rel=0.02, abs=1e-7
        )


@pytest.mark.parametrize("misled", [1.0, 0.05, 20.0])
@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_next_to_nothing_lies_beyond_the_reach_wherever_the_few_atoms_lie(misled, tilt):
    loss, n = acc.Gaussian(2.0).poisson(0.1).privacy_loss("add_remove", 5e-3)[0], 20
    cumulants = Cumulants([(loss, n)])
    cumulants.coarse.losses = misled * cumulants.coarse.losses
    (weights,) = cumulants.tilted(tilt)
    composed = np.ones(1)
    for _ in range(n):
        composed = np.convolve(composed, weights)
    losses = loss.step * (n * loss.lowest + np.arange(len(composed)))
    low, high = cumulants.reach(tilt, -1), cumulants.reach(tilt, 1)
    assert losses[0] <= low < high <= losses[-1]
    assert composed[losses > high].sum() <= OUTSIDE
    assert composed[losses < low].sum() <= OUTSIDE


def roundings_of_a_norm(tilt, losses):
    """Ulps by which a sum of masses times exp(tilt * loss) may be off, whatever the order of summation.

    One per addition, four for exp and the products, and those of an exponent of size `tilt * loss`, which is rounded
    when it is multiplied, when its largest is taken off and when that is added to the logarithm.
    """
    return len(losses) + 4 + 4 * tilt * float(np.abs(losses).max())


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("tilt", [0.0, 0.7, 5.0])
def test_cumulants_of_all_losses_at_once_are_those_of_one_after_the_other(name, tilt):
    cumulants = cumulants_of(name)
    value = mean = value_error = mean_error = 0.0
    for ((loss, n), losses), weights in zip(cumulants.pairs(), cumulants.tilted(tilt), strict=True):
        tilted = loss.masses * np.exp(tilt * (losses - losses[-1]))
        error = 2 * roundings_of_a_norm(tilt, losses) * UNIT  # the norm is computed here and there
        np.testing.assert_allclose(weights, tilted / tilted.sum(), rtol=2 * error, atol=1e-300)
        value += n * (math.log(tilted.sum()) + tilt * float(losses[-1]))
        mean += n * float(weights @ losses)
        value_error += n * error  # n uses carry the error of the norm n times
        mean_error += n * 2 * error * float(weights @ np.abs(losses))
    assert cumulants.value(tilt) == pytest.approx(value, rel=0.0, abs=value_error)
    assert cumulants.exact.derivatives(tilt)[0] == pytest.approx(value, rel=0.0, abs=value_error)
    assert cumulants.exact.derivatives(tilt)[1] == pytest.approx(mean, rel=0.0, abs=mean_error)


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("share", [0.3, 1.0, 2.0])
def test_one_moment_bounds_delta(name, share):
    cumulants = cumulants_of(name)
    epsilon = share * fourier.compose(cumulants, cumulants.tilt_for_delta(1e-5)).epsilon(1e-5)
    delta = fourier.compose(cumulants, cumulants.tilt_for_epsilon(epsilon)).delta(epsilon)
    assert delta * (1 - 1e-6) - 1e-15 <= cumulants.loose_delta(epsilon) <= 1.0


@pytest.mark.parametrize("event", [acc.Gaussian(0.6).poisson(0.01), acc.Gaussian(20.0).poisson(0.5)])
@pytest.mark.parametrize("order", [1, -1])
def test_an_epsilon_is_that_of_the_worse_direction(event, order):
    """Also if the worse comes first and the other is not composed."""
    directions = composed_losses(((event, 300),), "add_remove").directions[::order]
    each = [ComposedLosses((direction,)).epsilon(1e-6) for direction in directions]
    assert ComposedLosses(directions).epsilon(1e-6) == max(each)
    assert each[0] != each[1]


@pytest.mark.parametrize("name", COMPOSITIONS)
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("tilt", [0.0, 3.0, 200.0])
def test_an_epsilon_is_the_smallest_that_holds(name, delta, tilt):
    """Whatever the tilt, also where delta saturates at 1 or jumps."""
    composed = fourier.compose(cumulants_of(name), tilt)
    epsilon = composed.epsilon(delta)
    if math.isinf(epsilon):
        assert composed.delta(float(composed.losses[-1])) > delta
        return
    assert composed.delta(epsilon) <= delta
    assert epsilon == 0.0 or composed.delta(epsilon * (1 - 1e-7) - 1e-11) > delta


@pytest.mark.parametrize(("z", "rate", "n"), [(1.0, 0.006, 100), (0.7, 0.006, 1000), (1.0, 0.001, 1000)])
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_delta_falls_and_agrees_with_epsilon_where_few_atoms_hold_the_positive_losses(z, rate, n, adjacency):
    """A record that is added: all losses above 0 are at the very top of a long law."""
    guarantee = acc.compose([(acc.Gaussian(z).poisson(rate), n)], adjacency)
    points = [0.1, 0.3, 0.5, 0.9, 1.5, 3.0, 5.0]
    deltas = [guarantee.delta(epsilon) for epsilon in points]
    assert all(later < earlier < 1 for earlier, later in pairwise(deltas))
    for epsilon, delta in zip(points, deltas, strict=True):
        assert guarantee.epsilon(delta) == pytest.approx(epsilon, rel=1e-3, abs=1e-4)
