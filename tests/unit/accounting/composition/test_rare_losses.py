"""Rare large losses: short windows, and a law that costs a little more and never less."""

import math

import numpy as np
import pytest

from pydpmc import accounting as acc
from pydpmc.accounting.composition import fourier
from pydpmc.accounting.composition.composed_losses import ComposedLosses
from pydpmc.accounting.composition.cumulants import OUTSIDE, Cumulants
from pydpmc.accounting.composition.rare_losses import without_rare, without_rare_losses
from pydpmc.accounting.loss.privacy_loss import PrivacyLoss

LAWS = {
    name: loss
    for adjacency, names in {"add_remove": ("removed", "added"), "replace": ("replaced",)}.items()
    for name, loss in zip(names, acc.Gaussian(1.0).poisson(1e-4).privacy_loss(adjacency, 1e-3), strict=True)
}


def composed(loss, n):
    masses = loss.masses
    for _ in range(n - 1):
        masses = np.convolve(masses, loss.masses)
    return loss.step * (n * loss.lowest + np.arange(len(masses))), masses


def exact_delta(loss, n, eps):
    losses, masses = composed(loss, n)
    infinity = -math.expm1(n * math.log1p(-loss.infinity))
    return infinity + float(masses @ -np.expm1(-np.maximum(losses - eps, 0.0)))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("mass", [1e-12, 1e-9, 1e-6])
def test_what_is_rare_adds_at_most_its_probability(name, mass):
    loss, n = LAWS[name], 3
    shorter = without_rare(loss, mass)
    assert len(shorter.masses) < 0.5 * len(loss.masses)
    for eps in (-0.5, -0.01, 0.0, 1e-3, 0.02, 0.3):
        before, after = exact_delta(loss, n, eps), exact_delta(shorter, n, eps)
        assert before * (1 - 1e-13) <= after <= before + 2 * n * mass


def test_a_law_of_rare_losses_only_is_left_alone():
    loss = PrivacyLoss(0.1, -1, np.full(3, 1e-9), 1 - 3e-9)
    assert without_rare(loss, 1e-6) is loss


def test_laws_without_rare_losses_are_left_alone():
    cumulants = Cumulants([(acc.AcceptBit(0.1).privacy_loss("replace", 1e-3)[0], 100)])
    assert without_rare_losses(cumulants, 1e-6) is cumulants


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("sign", [1, -1])
def test_the_window_of_rare_losses_is_short(name, sign):
    """The variance knows nothing of them, and a first guess from it has to come down a long way."""
    loss, n = LAWS[name], 1000
    cumulants = Cumulants([(loss, n)])
    farthest = n * max(abs(cumulants.losses[0][0]), cumulants.losses[0][-1])
    assert abs(cumulants.reach(0.0, sign)) < 0.01 * farthest
    losses, masses = composed(loss, 4)
    high, low = (Cumulants([(loss, 4)]).reach(0.0, sign) for sign in (1, -1))
    assert masses[losses > high].sum() <= OUTSIDE
    assert masses[losses < low].sum() <= OUTSIDE


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("eps", [0.0, 1e-4, 1e-3, 0.02, 0.3])
def test_few_uses_cost_what_their_convolution_does(name, eps):
    loss, n = LAWS[name], 4
    exact, ours = exact_delta(loss, n, eps), ComposedLosses((Cumulants([(loss, n)]),))
    assert exact * (1 - 1e-12) <= ours.delta(eps) <= exact * (1 + 1e-3) + 1e-13
    if exact > 1e-12:
        assert eps * (1 - 1e-9) <= ours.epsilon(exact) <= eps * 1.01 + 1e-6


def test_queries_about_rare_samples_are_short(monkeypatch):
    lengths = []
    convolution = fourier._tilted_convolution

    def recorded(cumulants, tilt, length, start):
        lengths.append(length)
        if length > 10**7:
            raise MemoryError(f"{length} entries")
        return convolution(cumulants, tilt, length, start)

    monkeypatch.setattr(fourier, "_tilted_convolution", recorded)
    guarantee = acc.compose([(acc.Gaussian(1.0).poisson(1e-4), 1000)], "add_remove")
    assert guarantee.epsilon(1e-4) == pytest.approx(0.0070245, rel=1e-3)  # dp_accounting: 0.0070314, coarser
    assert guarantee.delta(0.0070246) == pytest.approx(1e-4, rel=1e-3)
    assert max(lengths) < 200_000
